import { expect, it } from 'vitest'
import {
  blockIntervalMs,
  blocksBetween,
  firstDenimBlock,
  mayFollow,
  millisPartOf,
  numberAt,
  timeOf,
  timestampAfter,
  timestampOf,
} from './blockTime.ts'
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

it.each([
  ['base', 53_556_127, 1_793_901_601_000],
  ['base-sepolia', 48_418_656, 1_792_605_600_000],
] as const)('chainspec/blockTime: the first Denim block of %s is %i', (name, first, timeMs) => {
  const network = networkOf(name).config
  expect(firstDenimBlock(network)).toBe(first)
  expect([-1, 0, 1, 5].map((after) => timeOf(network, first + after) - timeMs)).toEqual([-2_000, 0, 200, 1_000])
  expect([blockIntervalMs(network, first - 1), blockIntervalMs(network, first)]).toEqual([2_000, 200])
})

it('chainspec/blockTime: five Denim blocks share a header timestamp, and their milliseconds differ', () => {
  const first = firstDenimBlock(config)
  const numbers = [0, 1, 2, 3, 4, 5].map((after) => first + after)
  expect(numbers.map((number) => timestampOf(config, number) - 1_793_901_601)).toEqual([0, 0, 0, 0, 0, 1])
  expect(numbers.map((number) => millisPartOf(config, number))).toEqual([0, 200, 400, 600, 800, 0])
})

it('chainspec/blockTime: numberAt returns the last block due, before Denim, at its first block and after it', () => {
  const first = firstDenimBlock(config)
  for (const number of [0, 1, first - 1, first, first + 1, first + 7]) {
    expect(numberAt(config, timeOf(config, number))).toBe(number)
    expect(numberAt(config, timeOf(config, number + 1) - 1)).toBe(number)
  }
  expect(numberAt(config, timeOf(config, 0) - 1)).toBeUndefined()
})

it('chainspec/blockTime: a chain that begins with Denim has blocks of 200 ms after genesis', () => {
  const { l2TimeSec } = config.genesis
  const early = { ...config, schedule: { ...config.schedule, denim: 0 } }
  expect(firstDenimBlock(early)).toBe(0)
  expect(timeOf(early, 3)).toBe(l2TimeSec * 1000 + 600)
})

it('chainspec/blockTime: a block may have the timestamp of its parent from Denim on only', () => {
  const { schedule } = config
  expect([mayFollow(schedule, 10, 11), mayFollow(schedule, 10, 10), mayFollow(schedule, 10, 9)]).toEqual([true, false, false])
  const denim = schedule.denim ?? 0
  expect([mayFollow(schedule, denim, denim), mayFollow(schedule, denim, denim - 1)]).toEqual([true, false])
})
