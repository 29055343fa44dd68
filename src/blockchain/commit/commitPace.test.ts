import { expect, it } from 'vitest'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import { CommitPace } from './commitPace.ts'

const megabyte = 2 ** 20
const blocks = (count: number): ExecutedBlock[] => Array.from({ length: count }, () => ({}) as ExecutedBlock)
const take = (pace: CommitPace, sizeBytes: number): number => pace.blocksIn(blocks(1_000), () => sizeBytes)

it('blockchain/commit/commitPace: allows as many blocks as previous transactions suggest, and always one', () => {
  const pace = new CommitPace(25)
  expect([take(pace, 10 * megabyte), take(pace, megabyte / 4), pace.blocksIn([], () => 1)]).toEqual([1, 5, 0])
  for (let round = 0; round < 10; round++) pace.took(50, [megabyte / 4, megabyte / 4])
  expect([take(pace, megabyte), take(pace, megabyte / 10)]).toEqual([1, 2])
  for (let round = 0; round < 20; round++) pace.took(4, [megabyte])
  expect([take(pace, megabyte), take(pace, megabyte / 10)]).toEqual([6, 62])
})

it('blockchain/commit/commitPace: gives small transactions little weight, and never leaves the next one unbounded', () => {
  const pace = new CommitPace(25)
  pace.took(50, [100])
  pace.took(1, [megabyte])
  expect(take(pace, megabyte / 10)).toBeGreaterThan(4)
  for (let round = 0; round < 50; round++) pace.took(0, [megabyte])
  expect(take(pace, megabyte)).toBe(12)
  for (let round = 0; round < 50; round++) pace.took(-1_000, [megabyte])
  expect(take(pace, megabyte)).toBe(12)
})

it('blockchain/commit/commitPace: allows one block when there is no time', () => {
  const pace = new CommitPace(0)
  pace.took(0, [1])
  expect(take(pace, 1)).toBe(1)
})

it('blockchain/commit/commitPace: removes one block first, then as many as fit by the last transaction, at most twice as many, and one again in the next reorg', () => {
  const pace = new CommitPace(25)
  expect([0, 9].map((left) => pace.blocksToUnwind(left))).toEqual([0, 1])
  const took: readonly (readonly [ms: number, blocks: number, isLast: boolean, next: number])[] = [
    [1, 1, false, 2],
    [10, 2, false, 4],
    [20, 4, false, 5],
    [500, 5, false, 1],
    [0, 1, false, 2],
    [0, 2, true, 1],
  ]
  for (const [ms, blocks, isLast, next] of took) {
    pace.unwound(ms, blocks, isLast)
    expect([blocks, pace.blocksToUnwind(9)]).toEqual([blocks, next])
    expect(pace.blocksToUnwind(next - 1)).toBe(next - 1)
  }
})

it('blockchain/commit/commitPace: bounds the removal of blocks also where the time of a transaction has no bound', () => {
  const pace = new CommitPace(Number.POSITIVE_INFINITY)
  pace.took(1_000, [megabyte])
  expect(take(pace, megabyte)).toBe(1_000)
  pace.unwound(10, 1, false)
  pace.unwound(20, 2, false)
  expect(pace.blocksToUnwind(1_000)).toBe(2)
})
