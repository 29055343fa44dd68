import { expect, it } from 'vitest'
import { diskFaults, followDiskWaits } from './diskWaits.ts'

it('executionThread/diskWaits: requests keys after a block with 32 page faults or more', () => {
  const keys = { isFollowed: false }
  let faults = 1_000
  const blockEnded = followDiskWaits(keys, () => faults)
  const isFollowedAfter = (more: number): boolean => {
    faults += more
    blockEnded()
    return keys.isFollowed
  }
  expect([0, 31, 32, 2_000, 0].map(isFollowedAfter)).toEqual([false, false, true, true, false])
})

it('executionThread/diskWaits: counts the page faults of a thread', () => {
  const before = diskFaults()
  expect(before).toBeGreaterThanOrEqual(0)
  expect(diskFaults()).toBeGreaterThanOrEqual(before)
})
