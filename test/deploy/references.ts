import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './rules.ts'

const read = (file: string): string => readFileSync(join(root, 'docs/reference', file), 'utf8')

/** Labels of each metric of the reference with their values. */
const metrics = new Map<string, ReadonlyMap<string, readonly string[]>>([['up', new Map([['job', ['basalt']]])]])
for (const row of read('metrics.md').split('\n')) {
  const [, name, , kind, labels = ''] = row.split('|').map((cell) => cell.trim())
  if (!name?.startsWith('`')) continue
  const closed = labels
    .split('; ')
    .filter((text) => text !== '')
    .map((text) => text.split(': '))
    .map(([label = '', values = '']) => [label, values.split(', ')] as const)
  for (const suffix of kind === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) {
    metrics.set(`${name.replaceAll('`', '')}${suffix}`, new Map(closed))
  }
}

/** Returns the selectors of a query that select no metric of the reference, or one with another label or value. */
export function unknownMetrics(query: string): readonly string[] {
  return [...query.matchAll(/\b(basalt_[a-z0-9_]+|up)\b(?:\{([^}]*)\})?/g)]
    .filter(([, name = '', selector = '']) => {
      const labels = metrics.get(name)
      const pairs = [...selector.matchAll(/(\w+)(?:=|!=|=~)"([^"]*)"/g)].filter(([, label]) => label !== 'instance')
      return labels === undefined || pairs.some(([, label = '', value = '']) => !labels.get(label)?.includes(value))
    })
    .map(([selector]) => selector)
}

const flags = read('flags.md')
const isFlag = (word: string): boolean => flags.includes(`| \`--${word} `) || flags.includes(`| \`--${word}\` `)

/** Returns the flags and the variables of Basalt in a text that the reference lacks. */
export const unknownSettings = (text: string): readonly string[] => [
  ...[...text.matchAll(/(?<![\w-])--([a-z][\w.-]*\w)/g)].map(([, word = '']) => word).filter((word) => !isFlag(word)),
  ...[...text.matchAll(/\bBASALT_\w+/g)].map(([name]) => name).filter((name) => !flags.includes(`\`${name}\``)),
]

/** Codes of the reference of faults. */
export const faultCodes: ReadonlySet<string> = new Set([...read('faults.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, code = '']) => code))
