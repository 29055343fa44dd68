import { panels } from './panels.ts'

/** Meaning of a key: quit, show a panel, or move to another panel. */
export type Key =
  | { readonly kind: 'quit' }
  | { readonly kind: 'panel'; readonly at: number }
  | { readonly kind: 'move'; readonly by: 1 | -1 }

const quits: ReadonlySet<string> = new Set(['q', 'Q', '\u0003', '\u0004'])
/** Tab, right and down; Shift-Tab, left and up. */
const forwards: ReadonlySet<string> = new Set(['\t', '\u001b[C', '\u001b[B', '\u001bOC', '\u001bOB'])
const backwards: ReadonlySet<string> = new Set(['\u001b[Z', '\u001b[D', '\u001b[A', '\u001bOD', '\u001bOA'])

/** Returns the meaning of the bytes that a terminal sends for a key; undefined: they have none. */
export function keyOf(text: string): Key | undefined {
  if (quits.has(text)) return { kind: 'quit' }
  if (forwards.has(text)) return { kind: 'move', by: 1 }
  if (backwards.has(text)) return { kind: 'move', by: -1 }
  const at = /^[1-9]$/.test(text) ? Number(text) - 1 : panels.length
  return at < panels.length ? { kind: 'panel', at } : undefined
}
