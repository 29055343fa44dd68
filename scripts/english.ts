// Fails when too much of the project's prose is hard to understand: `npm run check:english -- [--list N] [PATH…]`. Limits and patterns: prose.ts.
// Prints the worst N passages of each group; by default 10 of a group above its limit.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './process.ts'
import { judgeProse, type MarkedPassage, passagesOf } from './prose.ts'

const { values, positionals } = parseArgs({ options: { list: { type: 'string' } }, allowPositionals: true })

/** Not read: generated pages, whose texts are messages of the sources; recorded data; the changelog, which is history. */
const unread = /^(docs\/reference|test\/fixtures|bench\/results)\/|^CHANGELOG\.md$/

const tracked = execFileSync('git', ['ls-files', '--', ...positionals], { cwd: root, encoding: 'utf8' }).split('\n')
const files = tracked.filter((file) => /\.(ts|js|mjs|sol|md)$/.test(file) && !unread.test(file))
const results = judgeProse(files.flatMap((file) => passagesOf(file, readFileSync(join(root, file), 'utf8'))))

const shown = ({ file, line, marks, text }: MarkedPassage): string =>
  `  ${file}:${line}: [${marks.join(', ')}] ${text.replace(/\s+/g, ' ').slice(0, 160)}`
for (const { group, count, marked, share, limit, tooMany } of results) {
  console.log(`${group}: ${marked.length} of ${count} marked (${share.toFixed(1)} %, limit ${limit} %)${tooMany ? ' TOO MANY' : ''}`)
  for (const passage of marked.slice(0, Number(values.list ?? (tooMany ? 10 : 0)))) console.log(shown(passage))
}
process.exitCode = results.some(({ tooMany }) => tooMany) ? 1 : 0
