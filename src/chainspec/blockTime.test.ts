import { expect, it } from 'vitest'
import { blocksBetween, timestampAfter, timestampOf } from './blockTime.ts'
import { networkOf } from './networks.ts'

const { config } = networkOf('base')

it('chainspec/blockTime: timestampAfter adds whole block times, also to a time at which no block is due', () => {
  const due = timestampOf(config, 100)
  expect(timestampAfter(config, due, 7)).toBe(timestampOf(config, 107))
  expect(timestampAfter(config, due + 1, 7)).toBe(timestampOf(config, 107) + 1)
})

it('chainspec/blockTime: blocksBetween returns a whole number of blocks, or undefined', () => {
  const due = timestampOf(config, 100)
  expect(blocksBetween(config, due, due)).toBe(0)
  expect(blocksBetween(config, due, timestampOf(config, 107))).toBe(7)
  expect(blocksBetween(config, due + 1, timestampOf(config, 107))).toBeUndefined()
})
