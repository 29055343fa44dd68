import { expect, it } from 'vitest'
import { shownParams } from './shownParams.ts'

const hash = `0x${'ab'.repeat(32)}`

it.each<[string, readonly unknown[], string]>([
  ['hex and tags', [hash, 'latest', '0x', 12, true, null], `[${hash},latest,0x,12,… 6 in all]`],
  [
    'a call',
    [{ to: `0x${'11'.repeat(20)}`, data: `0x${'22'.repeat(500)}` }, 'safe'],
    `[{to:0x${'11'.repeat(20)},data:0x${'22'.repeat(8)}…(1002)},safe]`,
  ],
  ['free text by its length', ['https://user:s3cret@host/', 'ab'.repeat(32), 'two words', 'x"\n'], '[text(25),text(64),text(9),text(3)]'],
  ['names of members', [{ 'a key with s3cret': 1 }], '[{text(17):1}]'],
  ['nested values to a depth', [[[[1]]]], '[[[…]]]'],
  ['nothing', [], '[]'],
])('rpc/server/shownParams: shows %s', (_what, params, text) => {
  expect(shownParams(params)).toBe(text)
})

it('rpc/server/shownParams: bounds a text, whatever the size of the parameters', () => {
  const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`0x${at.toString(16)}`, hash]))
  expect(shownParams([[wide, wide, wide], wide]).length).toBeLessThanOrEqual(301)
})
