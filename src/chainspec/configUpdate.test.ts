import { describe, expect, it } from 'vitest'
import { fromHex } from '#lib/hex'
import { parseAddress, parseHash } from '#types/ids'
import { createReceipt, type Receipt } from '#types/receipt'
import { applyConfigUpdates, ecotoneScalars, packScalars } from './configUpdate.ts'
import type { SystemConfig } from './systemConfig.ts'

const topic = parseHash('0x1d2b0bda21d56b8bd12d4f94ebacffdfb35f5e226f84b461103bb8beab6353be')
const l1SystemConfig = parseAddress(`0x${'5c'.repeat(20)}`)
const rollup = { schedule: { ecotone: 100 }, l1SystemConfig }
const word = (value: bigint | number): string => value.toString(16).padStart(64, '0')
const hash = (value: bigint | number) => parseHash(`0x${word(value)}`)

const before: SystemConfig = {
  batcher: parseAddress(`0x${'11'.repeat(20)}`),
  overhead: 188n,
  scalar: 684_000n,
  gasLimit: 30_000_000n,
  eip1559Denominator: 0,
  eip1559Elasticity: 0,
  operatorFeeScalar: 0,
  operatorFeeConstant: 0n,
  minBaseFee: 0n,
  daFootprintGasScalar: 0,
}

type Event = { kind: number | bigint; words: (bigint | number)[]; version?: number; data?: string; topics?: number; address?: string }

function receiptOf(event: Event, succeeded = true): Receipt {
  const data = event.data ?? `0x${word(32)}${word(event.words.length * 32)}${event.words.map(word).join('')}`
  const topics = [topic, hash(event.version ?? 0), hash(event.kind), hash(0)].slice(0, event.topics ?? 3)
  const log = { address: parseAddress(event.address ?? l1SystemConfig), topics, data: fromHex(data) }
  return createReceipt({ type: 2, succeeded, cumulativeGasUsed: 1n, logs: [log] })
}

const apply = (timestamp: number, ...receipts: Receipt[]) => applyConfigUpdates(before, rollup, { timestamp, receipts })
const packed = (1n << 248n) | (7n << 32n) | 9n

describe('chainspec/configUpdate', () => {
  it.each<[string, Event, Partial<SystemConfig>]>([
    ['0 sets the batcher', { kind: 0, words: [0xbeefn] }, { batcher: parseAddress(`0x${'00'.repeat(18)}beef`) }],
    ['1 sets overhead and scalar', { kind: 1, words: [2_100, 1_000_000] }, { overhead: 2_100n, scalar: 1_000_000n }],
    ['2 sets the gas limit', { kind: 2, words: [(1n << 64n) - 1n] }, { gasLimit: (1n << 64n) - 1n }],
    ['3 changes nothing: it concerns gossip only', { kind: 3, words: [0xbeefn] }, {}],
    ['4 sets denominator and elasticity', { kind: 4, words: [(250n << 32n) | 6n] }, { eip1559Denominator: 250, eip1559Elasticity: 6 }],
    ["4 with zeros restores the chain's own parameters", { kind: 4, words: [0] }, { eip1559Denominator: 0, eip1559Elasticity: 0 }],
    [
      '5 sets scalar and constant of the operator fee',
      { kind: 5, words: [(0xffffffffn << 64n) | 0xffff_ffff_ffff_ffffn] },
      { operatorFeeScalar: 0xffff_ffff, operatorFeeConstant: 0xffff_ffff_ffff_ffffn },
    ],
    [
      '5 reads the low 12 bytes only',
      { kind: 5, words: [(0xffn << 96n) | (3n << 64n) | 4n] },
      { operatorFeeScalar: 3, operatorFeeConstant: 4n },
    ],
    ['6 sets the minimum base fee', { kind: 6, words: [1_000_000] }, { minBaseFee: 1_000_000n }],
    ['7 sets the DA footprint scalar', { kind: 7, words: [65_535] }, { daFootprintGasScalar: 65_535 }],
  ])('applies kind %s', (_what, event, fields) => {
    expect(apply(50, receiptOf(event))).toEqual({ systemConfig: { ...before, ...fields }, skipped: [] })
  })

  it.each<[string, Event]>([
    ['an unknown kind', { kind: 8, words: [1] }],
    ['a kind above any number', { kind: 1n << 255n, words: [1] }],
    ['another version', { kind: 2, words: [1], version: 1 }],
    ['a type with bytes above its low eight', { kind: (1n << 64n) | 2n, words: [1] }],
    ['one topic only', { kind: 2, words: [1], topics: 1 }],
    ['a fourth topic', { kind: 2, words: [1], topics: 4 }],
    ['64 bytes of data', { kind: 2, words: [], data: `0x${word(32)}${word(32)}` }],
    ['128 bytes of data with the length of one word', { kind: 2, words: [], data: `0x${word(32)}${word(32)}${word(1)}${word(0)}` }],
    ['a missing topic', { kind: 2, words: [1], topics: 2 }],
    ['an extra word', { kind: 2, words: [1, 2] }],
    ['a missing word', { kind: 1, words: [1] }],
    ['missing data', { kind: 2, words: [], data: '0x' }],
    ['another offset', { kind: 2, words: [], data: `0x${word(64)}${word(32)}${word(1)}` }],
    ['another length', { kind: 2, words: [], data: `0x${word(32)}${word(31)}${word(1)}` }],
    ['an address of 21 bytes', { kind: 0, words: [1n << 160n] }],
    ['a gas limit of 9 bytes', { kind: 2, words: [1n << 64n] }],
    ['EIP-1559 parameters of 9 bytes', { kind: 4, words: [1n << 64n] }],
    ['an EIP-1559 denominator of zero', { kind: 4, words: [6n] }],
    ['an EIP-1559 elasticity of zero', { kind: 4, words: [250n << 32n] }],
    ['an operator fee of two words', { kind: 5, words: [1, 2] }],
    ['a footprint scalar of 3 bytes', { kind: 7, words: [65_536] }],
  ])('skips %s with a reason and applies the other updates', (_what, event) => {
    const { systemConfig, skipped } = apply(50, receiptOf(event), receiptOf({ kind: 2, words: [7] }))
    expect(systemConfig).toEqual({ ...before, gasLimit: 7n })
    expect(skipped).toHaveLength(1)
  })

  it('skips a batcher address with dirty padding and applies the update before it in the block', () => {
    const { systemConfig, skipped } = apply(50, receiptOf({ kind: 2, words: [7] }), receiptOf({ kind: 0, words: [(1n << 160n) | 5n] }))
    expect(systemConfig).toEqual({ ...before, gasLimit: 7n })
    expect(skipped).toHaveLength(1)
  })

  it('ignores other contracts and failed transactions', () => {
    const update = { kind: 2, words: [7] }
    const { systemConfig } = apply(50, receiptOf({ ...update, address: `0x${'77'.repeat(20)}` }), receiptOf(update, false))
    expect(systemConfig).toBe(before)
  })

  it.each([
    ['version 1', packed, packed],
    ['version 0 in four bytes', 0xffff_ffffn, 0xffff_ffffn],
    ['version 0 in five bytes: keeps the old scalar', 1n << 32n, undefined],
    ['version 1 with a ninth byte', packed | (1n << 64n), undefined],
    ['version 2', 2n << 248n, undefined],
  ])('a gas config after Ecotone sets the packed scalar and no overhead: %s', (_what, scalar, expected) => {
    const { systemConfig } = apply(100, receiptOf({ kind: 1, words: [5, scalar] }))
    expect(systemConfig).toEqual(expected === undefined ? before : { ...before, overhead: 0n, scalar: expected })
  })

  it.each([
    [684_000n, { baseFeeScalar: 684_000, blobBaseFeeScalar: 0 }],
    [packed, { baseFeeScalar: 9, blobBaseFeeScalar: 7 }],
    [(1n << 32n) | 5n, { baseFeeScalar: 0xffff_ffff, blobBaseFeeScalar: 0 }],
  ])('unpacks the scalars of %i', (scalar, scalars) => {
    expect(ecotoneScalars(scalar)).toEqual(scalars)
  })

  it('packed scalars round-trip', () => {
    const scalars = { baseFeeScalar: 0xffff_fffe, blobBaseFeeScalar: 0xffff_ffff }
    expect(ecotoneScalars(packScalars(scalars))).toEqual(scalars)
  })
})
