import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { threadCpuMs } from '#test/harness/threadTime'
import { exceedsDepth } from './jsonDepth.ts'

const exceeds = (json: string, maxDepth: number): boolean => exceedsDepth(Buffer.from(json), maxDepth)

it.each([
  ['a number', '7', 0],
  ['an empty list', '[]', 1],
  ['an object in a list', '[{}]', 2],
  ['neighbours', '[[],{},[[]],{"a":{}}]', 3],
  ['brackets in a string', '["[[[[{{{{"]', 1],
  ['brackets in a key', '{"[{[":1}', 1],
  ['an escaped quote before brackets', String.raw`["\"[[[["]`, 1],
  ['an escaped backslash before the end of a string', String.raw`["\\",[[]]]`, 3],
  ['letters outside ASCII', '["é[漢[😀["]', 1],
  ['a truncated text', '[[[', 3],
  ['brackets in a long string', `["${'['.repeat(300)}",[]]`, 2],
  ['an escaped quote late in a long string', `["${'x'.repeat(100)}${String.raw`\"[[\\`}",[]]`, 2],
  ['a long string of escaped quotes', `["${String.raw`\"`.repeat(200)}",[[]]]`, 3],
  ['a truncated long string', `["${'['.repeat(300)}`, 1],
  ['a string truncated after a backslash', '["\\', 1],
  ['more closing than opening brackets', ']]]]', 0],
])('lib/jsonDepth: counts the levels of %s', (_what, json, depth) => {
  expect([exceeds(json, depth), depth > 0 && exceeds(json, depth - 1)]).toEqual([false, depth > 0])
})

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

it('lib/jsonDepth: agrees with the depth of the parsed value', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.nat(8), (json, maxDepth) => {
      expect(exceeds(json, maxDepth)).toBe(depthOf(JSON.parse(json)) > maxDepth)
    }),
  )
})

const valuesIn = (value: unknown): number =>
  typeof value === 'object' && value !== null ? Object.values(value).reduce<number>((sum, item) => sum + 1 + valuesIn(item), 0) : 0

it('lib/jsonDepth: a text within maxValues has at most that many values', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.nat(30), (json, maxValues) => {
      if (valuesIn(JSON.parse(json)) > maxValues) expect(exceedsDepth(Buffer.from(json), 99, maxValues)).toBe(true)
    }),
  )
  const list = Buffer.from('{"a":[1,2,",,,",{}]}')
  expect([exceedsDepth(list, 9, 6), exceedsDepth(list, 9, 5)]).toEqual([false, true])
})

it('lib/jsonDepth: scans 16 MB of any bytes within a second', () => {
  for (const text of ['[', '"', '[]', '\\', '["\\""],', `"${'x'.repeat(64)}${'\\'.repeat(63)}`, `${'\\'.repeat(65)}"`]) {
    const json = Buffer.alloc(16 * 2 ** 20, text)
    const startMs = threadCpuMs()
    exceedsDepth(json, 32, 1e9)
    expect(threadCpuMs() - startMs, text).toBeLessThan(1_000)
  }
})
