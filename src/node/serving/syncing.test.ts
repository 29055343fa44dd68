import { expect, it } from 'vitest'
import type { Progress } from '#consensus/status'
import { type Hash, zeroHash } from '#types/ids'
import { followSyncOf, syncProgressOf } from './syncing.ts'

const behind: Progress = { l1Block: 50, l1Target: 100, l2Block: 300, l2Target: 600 }

it.each<[string, Progress, ReturnType<typeof syncProgressOf>]>([
  ['during derivation', behind, { starting: 7, current: 300, highest: 600 }],
  ['before derivation has read a block of L1', { ...behind, l1Block: undefined }, { starting: 7, current: 300, highest: 600 }],
  ['ahead of the L1 time', { ...behind, l2Block: 601 }, { starting: 7, current: 601, highest: 601 }],
  ['at the head of L1', { ...behind, l1Block: 100 }, undefined],
  ['while it reads the next block of L1', { ...behind, l1Block: 99 }, undefined],
  ['two blocks behind', { ...behind, l1Block: 98 }, { starting: 7, current: 300, highest: 600 }],
  [
    'before it has read the first block of a new L1',
    { ...behind, l1Block: undefined, l1Target: 0 },
    { starting: 7, current: 300, highest: 600 },
  ],
  ['past the head of a shorter L1', { ...behind, l1Block: 101 }, undefined],
  ['before the heads are known', { ...behind, l2Block: undefined }, { starting: 7, current: 7, highest: 600 }],
  ['before L1 has answered', { ...behind, l1Target: undefined, l2Target: undefined }, { starting: 7, current: 300, highest: 300 }],
  ['when L1 is older than the rollup', { ...behind, l2Target: undefined }, { starting: 7, current: 300, highest: 300 }],
])('node/serving/syncing: %s', (_what, progress, expected) => {
  expect(syncProgressOf(progress, 7)).toEqual(expected)
})

const at = (number: number) => ({ source: { latest: { number, hash: zeroHash as Hash } } })

it.each([
  ['at the head of the source', at(100), 100, undefined],
  ['a few blocks behind', at(100), 95, undefined],
  ['far behind', at(100), 94, { starting: 7, current: 94, highest: 100 }],
  ['ahead of a source whose head moved back', at(90), 100, undefined],
  ['before the source has answered', { source: {} }, 9, { starting: 7, current: 9, highest: 9 }],
])('node/serving/syncing: following, %s', (_what, status, current, expected) => {
  expect(followSyncOf(status, current, 7, 5)).toEqual(expected)
})
