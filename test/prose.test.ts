import { expect, it } from 'vitest'
import { judgeProse, limits, marksOf, passagesOf } from '../scripts/prose.ts'

it.each([
  ['Nobody can be believed at the moment', 'unnamed actor'],
  ['a filter for whoever asks', 'unnamed actor'],
  ['those that are canonical', 'unnamed thing'],
  ['pending is what is sealed', 'clause for a noun'],
  ['Told of a flashblock that is wrong', 'verb of speech'],
  ['the head stands in the header', 'verb of posture'],
  ['the build was given up', 'phrasal verb'],
  ['has been waited for in vain', 'archaic'],
  ['the timestamp, as the header has it', 'as X has it'],
  ['Of the oldest blocks the bodies', 'inversion'],
  ['No block but the genesis', 'double negation'],
])('scripts/prose: marks "%s" as %s', (text, mark) => {
  expect(marksOf(text)).toContain(mark)
})

it.each([
  'Returns the header of a block, or undefined for an unknown hash',
  'Drops pending until the next valid flashblock',
  'Interval between polls of the L1 head, in milliseconds',
  'Reads the method `who goes by` of a contract',
  '`l1Fee` of all transactions',
])('scripts/prose: marks nothing in "%s"', (text) => {
  expect(marksOf(text)).toEqual([])
})

const source = `// First line of a comment
// and its second line.
const url = 'http://localhost/ // no comment'
const quote = /['"] \\/\\/ no comment/
throw new Error(\`block \${list.map((x) => \`\${x} // no comment\`)} has no parent\`) // trailing comment
it('module/file: does X when Y', () => read('a/path'))
it.each([
  ['row', 1],
])('module/file: does X of %s', () => {})
`

it('scripts/prose: finds comments, messages and test titles of a source file with their lines', () => {
  expect(passagesOf('src/a.test.ts', source).map(({ group, line, text }) => [group, line, text.split('\n').length])).toEqual([
    ['comments', 1, 2],
    ['messages', 3, 1],
    ['messages', 5, 1],
    ['comments', 5, 1],
    ['test titles', 6, 1],
    ['test titles', 9, 1],
  ])
})

const page = `# A heading
A paragraph
of two lines.

\`\`\`
code that nobody reads
\`\`\`
- an item
- another item

| a | table |
|---|---|
| with | rows |
`

it('scripts/prose: finds the paragraphs of a page without its blocks of code', () => {
  const found = passagesOf('docs/a.md', page)
  expect(found.map(({ line, text }) => [line, text.split('\n')[0]])).toEqual([
    [1, '# A heading'],
    [8, '- an item'],
    [9, '- another item'],
    [11, '| a | table |'],
    [13, '| with | rows |'],
  ])
})

it('scripts/prose: fails a group whose share of marked passages is above its limit, worst passages first', () => {
  const comments = ['// Returns the head', '// what is pending', '// who tells nobody what is new', '// Reads a row'].join('\nx()\n')
  const judge = (limit: number) => judgeProse(passagesOf('a.ts', comments), { ...limits, comments: limit })[0]
  expect(judge(49)).toMatchObject({ group: 'comments', count: 4, share: 50, tooMany: true })
  expect(judge(50)).toMatchObject({ tooMany: false })
  expect(judge(49)?.marked.map(({ file, line }) => `${file}:${line}`)).toEqual(['a.ts:5', 'a.ts:3'])
})
