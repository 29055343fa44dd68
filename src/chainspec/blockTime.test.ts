import { expect, it } from 'vitest'
import { blocksBetween, timestampAfter, timestampOf } from './blockTime.ts'
import { networkOf } from './networks.ts'

const { config } = networkOf('base')

it('chainspec/blockTime: blocks after a time are at the pace of the chain, also from a time at which none is due', () => {
  const due = timestampOf(config, 100)
  expect(timestampAfter(config, due, 7)).toBe(timestampOf(config, 107))
  expect(timestampAfter(config, due + 1, 7)).toBe(timestampOf(config, 107) + 1)
})

it('chainspec/blockTime: whole blocks between two times, or none', () => {
  const due = timestampOf(config, 100)
  expect(blocksBetween(config, due, due)).toBe(0)
  expect(blocksBetween(config, due, timestampOf(config, 107))).toBe(7)
  expect(blocksBetween(config, due + 1, timestampOf(config, 107))).toBeUndefined()
})
