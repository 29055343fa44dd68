/** A fenced block of a page. */
export type Block = {
  readonly page: string
  /** line of its first fence, from 1 */
  readonly line: number
  readonly language: string
  readonly code: string
  /** commands that come before it, from the comment `run after` */
  readonly before: string
  /** why it is not run, from the comment `not run` */
  readonly skipped: string | undefined
}

const opening = /^(\s*)```(\S*)\s*$/
const remark = /^\s*<!-- (run after|not run): (.+) -->\s*$/

/** Languages that are run; `text` is output, or a drawing. */
export const runnable: readonly string[] = ['sh', 'js', 'ts']

/** Returns the blocks of a page in their order. Blocks of list items may be indented. */
export function blocksOf(page: string, markdown: string): readonly Block[] {
  const lines = markdown.split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; at++) {
    const [, indent, language = ''] = opening.exec(lines[at] ?? '') ?? []
    if (indent === undefined) continue
    const end = lines.indexOf(`${indent}\`\`\``, at + 1)
    if (end < 0) throw new Error(`${page}:${at + 1}: the block has no end`)
    const [, kind, text = ''] = remark.exec(lines[at - 1] ?? '') ?? []
    const code = lines.slice(at + 1, end).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    blocks.push({
      ...{ page, line: at + 1, language, code: code.join('\n') },
      before: kind === 'run after' ? text : '',
      skipped: kind === 'not run' ? text : undefined,
    })
    at = end
  }
  return blocks
}
