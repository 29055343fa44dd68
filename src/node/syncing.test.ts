import { expect, it } from 'vitest'
import type { Progress } from '#consensus/status'
import { syncProgressOf } from './syncing.ts'

const behind: Progress = { l1Block: 50, l1Target: 100, l2Block: 300, l2Target: 600 }

it.each<[string, Progress, ReturnType<typeof syncProgressOf>]>([
  ['on the way', behind, { starting: 7, current: 300, highest: 600 }],
  ['before derivation has read a block of L1', { ...behind, l1Block: undefined }, { starting: 7, current: 300, highest: 600 }],
  ['ahead of the time that L1 shows', { ...behind, l2Block: 601 }, { starting: 7, current: 601, highest: 601 }],
  ['at the head of L1', { ...behind, l1Block: 100 }, undefined],
  ['past it, as L1 got shorter', { ...behind, l1Block: 101 }, undefined],
  ['before the heads are known', { ...behind, l2Block: undefined }, { starting: 7, current: 7, highest: 600 }],
  ['before L1 has answered', { ...behind, l1Target: undefined, l2Target: undefined }, { starting: 7, current: 300, highest: 300 }],
  ['when L1 is older than the rollup', { ...behind, l2Target: undefined }, { starting: 7, current: 300, highest: 300 }],
])('node/syncing: %s', (_what, progress, expected) => {
  expect(syncProgressOf(progress, 7)).toEqual(expected)
})
