import { describe, expect, it } from 'vitest'
import { createBatchWriter } from '#derive/batchEncoder'
import { DeriveWorld, forksTo, userTransaction } from '#test/harness/derive/world'
import { allowedForms, chooseForm } from './allowedForms.ts'
import { chooseCarrier } from './channelParcels.ts'
import { closeReason, isPastWindow } from './closing.ts'
import { calldataGas, carrierCosts } from './cost.ts'
import { type Fees, freshFees, isBelowPrice, replacementFees } from './fees.ts'
import { nextStep, type Waiting } from './nextStep.ts'
import { OpenChannel, SizeEstimate } from './openChannel.ts'
import { throttleFor, throttleRatio } from './throttle.ts'

const gwei = 10n ** 9n
const bounds = { priorityFeeWei: 2n * gwei, maxFeePerGasWei: 100n * gwei, maxFeePerBlobGasWei: 50n * gwei }
const fees = (cap: number, tip: number, blob: number): Fees => ({
  maxFeePerGas: BigInt(cap) * gwei,
  maxPriorityFeePerGas: BigInt(tip) * gwei,
  maxFeePerBlobGas: BigInt(blob) * gwei,
})
const prices = (base: number, blob: number) => ({ baseFeeWei: BigInt(base) * gwei, blobBaseFeeWei: BigInt(blob) * gwei })

describe('batcher/fees', () => {
  it.each([
    ['twice the base fee plus the tip', 'calldata', prices(10, 3), fees(22, 2, 0)],
    ['twice the blob base fee as well', 'blobs', prices(10, 3), fees(22, 2, 6)],
    ['at most the limits', 'blobs', prices(70, 40), fees(100, 2, 50)],
    ['at least one wei of blob gas', 'blobs', { baseFeeWei: 0n, blobBaseFeeWei: 0n }, { ...fees(2, 2, 0), maxFeePerBlobGas: 1n }],
  ] as const)('offers %s', (_what, kind, at, expected) => {
    expect(freshFees(kind, at, bounds)).toEqual(expected)
  })

  it.each([
    ['a tenth more', 'calldata', fees(30, 10, 0), prices(1, 1), fees(33, 11, 0)],
    ['twice as much with blobs', 'blobs', fees(30, 10, 5), prices(1, 1), fees(60, 20, 10)],
    ['the current price when it is higher', 'blobs', fees(10, 1, 1), prices(40, 20), fees(82, 2, 40)],
    ['nothing beyond the limit of gas', 'calldata', fees(95, 10, 0), prices(1, 1), undefined],
    ['nothing beyond the limit of blob gas', 'blobs', fees(10, 1, 26), prices(1, 1), undefined],
  ] as const)('replaces by %s', (_what, kind, before, at, expected) => {
    expect(replacementFees(kind, before, at, bounds)).toEqual(expected)
  })

  it('rounds a tenth up, as pools do', () => {
    const next = replacementFees('calldata', { maxFeePerGas: 11n, maxPriorityFeePerGas: 1n, maxFeePerBlobGas: 0n }, prices(0, 0), {
      ...bounds,
      priorityFeeWei: 0n,
    })
    expect(next).toEqual({ maxFeePerGas: 13n, maxPriorityFeePerGas: 2n, maxFeePerBlobGas: 0n })
  })

  it.each([
    ['gas', 'calldata', prices(31, 0), true],
    ['the same price', 'calldata', prices(30, 99), false],
    ['blob gas', 'blobs', prices(1, 6), true],
    ['neither', 'blobs', prices(30, 5), false],
  ] as const)('the next block requires more: %s', (_what, kind, at, expected) => {
    expect(isBelowPrice(kind, fees(30, 1, 5), at)).toBe(expected)
  })
})

const waiting: Waiting = {
  refusal: undefined,
  sentAtL1: 10,
  attemptAtL1: 10,
  attemptAgeMs: 1_000,
  l1Number: 12,
  isLowest: true,
  isBelowPrice: false,
  isInPool: true,
  resubmitMs: 30_000,
}
it.each([
  ['recent and in the pool', {}, 'wait'],
  ['overdue', { attemptAgeMs: 30_000 }, 'replace'],
  ['overdue without new L1 blocks', { attemptAgeMs: 90_000, l1Number: 10 }, 'wait'],
  ['overdue behind another', { attemptAgeMs: 90_000, isLowest: false }, 'wait'],
  ['below the price', { isBelowPrice: true, isLowest: false }, 'replace'],
  ['below the price of the block at which it was sent', { isBelowPrice: true, l1Number: 10 }, 'wait'],
  ['missing in the pool', { isInPool: false }, 'send-again'],
  ['missing in the pool, sent again in this block', { isInPool: false, sentAtL1: 12 }, 'wait'],
  ['never sent', { sentAtL1: undefined, l1Number: 10 }, 'send-again'],
  ['underpriced', { refusal: 'underpriced', l1Number: 10 }, 'replace'],
  ['without funds', { refusal: 'no-funds' }, 'send-again'],
  ['without funds, sent in this block', { refusal: 'no-funds', sentAtL1: 12 }, 'wait'],
] as const)('batcher/nextStep: %s', (_what, change, step) => {
  expect(nextStep({ ...waiting, ...change })).toBe(step)
})

describe('batcher/cost', () => {
  it.each([
    ['no bytes', new Uint8Array(0), 21_000n],
    ['a zero byte', new Uint8Array(1), 21_010n],
    ['a non-zero byte', Uint8Array.of(1), 21_040n],
    ['100,000 bytes', new Uint8Array(100_000).fill(7), 4_021_000n],
  ])('gas of %s by the floor of EIP-7623', (_what, data, gas) => {
    expect(calldataGas(data)).toBe(gas)
  })

  const limits = { maxCalldataBytes: 120_000, maxBlobsPerTransaction: 6 }
  it('computes the cost of one blob and of 10,000 bytes of calldata', () => {
    expect(carrierCosts(10_000, prices(10, 1), 0n, limits)).toEqual({
      calldata: (21_000n + 400_000n) * 10n * gwei,
      blobs: 21_000n * 10n * gwei + 131_072n * gwei,
    })
  })

  it('computes the cost of seven blobs in two transactions', () => {
    const { blobs, calldata } = carrierCosts(6 * 130_020 + 1, prices(1, 1), gwei, limits)
    expect(blobs).toBe(42_000n * 2n * gwei + 7n * 131_072n * gwei)
    expect(calldata).toBe((7n * 21_000n + 40n * 780_121n) * 2n * gwei)
  })

  it.each([
    ['auto', true, { calldata: 2n, blobs: 1n }, 'blobs'],
    ['auto', true, { calldata: 1n, blobs: 2n }, 'calldata'],
    ['auto', false, { calldata: 2n, blobs: 1n }, 'calldata'],
    ['blobs', true, { calldata: 1n, blobs: 2n }, 'blobs'],
    ['blobs', false, { calldata: 1n, blobs: 2n }, 'calldata'],
    ['calldata', true, { calldata: 2n, blobs: 1n }, 'calldata'],
  ] as const)('%s, blobs allowed %s, %o: %s', (choice, areAllowed, costs, expected) => {
    expect(chooseCarrier(choice, areAllowed, costs)).toBe(expected)
  })
})

describe('batcher/allowedForms', () => {
  const schedule = { delta: 100, ecotone: 200, fjord: 300, denim: 10_000 }
  it.each([
    [99, { span: false, blobs: false, brotli: false, maxRlpBytes: 8_000_000 }],
    [100, { span: true, blobs: false, brotli: false, maxRlpBytes: 8_000_000 }],
    [199, { span: true, blobs: false, brotli: false, maxRlpBytes: 8_000_000 }],
    [200, { span: true, blobs: true, brotli: false, maxRlpBytes: 8_000_000 }],
    [300, { span: true, blobs: true, brotli: true, maxRlpBytes: 80_000_000 }],
    [9_999, { span: true, blobs: true, brotli: true, maxRlpBytes: 80_000_000 }],
    [10_000, { span: false, blobs: true, brotli: true, maxRlpBytes: 80_000_000 }],
  ])('allows the forms of the active forks at %s', (time, expected) => {
    expect(allowedForms({ schedule }, time, { originSec: time, blockSec: time })).toEqual(expected)
  })

  it('the origin of the first block decides on spans', () => {
    expect(allowedForms({ schedule }, 150, { originSec: 99, blockSec: 101 }).span).toBe(false)
  })

  it('a block before Denim may be in a span that is posted after its activation, and a Denim block may not', () => {
    expect(allowedForms({ schedule }, 10_100, { originSec: 9_990, blockSec: 9_999 }).span).toBe(true)
    expect(allowedForms({ schedule }, 10_100, { originSec: 9_990, blockSec: 10_000 }).span).toBe(false)
  })

  const all = { span: true, brotli: true, blobs: true, maxRlpBytes: 1 }
  it.each([
    [{ form: 'auto', compression: 'auto' }, all, { batches: 'span', compression: 'brotli' }],
    [{ form: 'singular', compression: 'zlib' }, all, { batches: 'singular', compression: 'zlib' }],
    [
      { form: 'span', compression: 'brotli' },
      { ...all, span: false, brotli: false },
      { batches: 'singular', compression: 'zlib' },
    ],
  ] as const)('%o chosen', (choice, allowed, expected) => {
    expect(chooseForm(choice, allowed)).toEqual(expected)
  })
})

describe('batcher/closing', () => {
  const { config } = new DeriveWorld(forksTo('jovian'), { sequencingWindowBlocks: 100 })
  const rules = { targetBytes: 1_000, maxRlpBytes: 5_000, maxL1Blocks: 10, marginL1Blocks: 5 }
  const channel = { openedAtL1: 50, firstOrigin: 49, estimatedBytes: 10, rlpBytes: 10 }
  it.each([
    ['recent and small', {}, 55, rules, undefined],
    ['large', { estimatedBytes: 1_000 }, 50, rules, 'full'],
    ['larger than derivation reads', { rlpBytes: 5_000 }, 50, rules, 'full'],
    ['old', {}, 60, rules, 'duration'],
    ['nearly timed out', {}, 95, { ...rules, maxL1Blocks: 1_000 }, 'timeout'],
    ['near the end of its window', { firstOrigin: 0 }, 95, { ...rules, maxL1Blocks: 1_000, marginL1Blocks: 5 }, 'timeout'],
    ['opened late in its window', { firstOrigin: 0, openedAtL1: 94 }, 95, { ...rules, maxL1Blocks: 1_000 }, 'window'],
  ] as const)('%s', (_what, change, number, given, expected) => {
    expect(closeReason({ ...channel, ...change }, { number, timestamp: 2_000_000_000 }, config, given)).toBe(expected)
  })

  it.each([
    [98, false],
    [99, false],
    [100, true],
  ])('the window of origin 0 at L1 block %s is over: %s', (number, expected) => {
    expect(isPastWindow(0, number, config)).toBe(expected)
  })
})

it.each([
  [0, undefined, 0],
  [1_000_000, undefined, 0],
  [1_500_000, { maxTransactionBytes: 10_075, maxBlockBytes: 66_000 }, 0.5],
  [2_000_000, { maxTransactionBytes: 150, maxBlockBytes: 2_000 }, 1],
  [9_000_000, { maxTransactionBytes: 150, maxBlockBytes: 2_000 }, 1],
])('batcher/throttle: returns the limits for a backlog of %s bytes', (bytes, limits, ratio) => {
  expect(throttleFor(bytes, 1_000_000)).toEqual(limits)
  expect(throttleRatio(limits)).toBe(ratio)
  expect(throttleFor(bytes, 0)).toBeUndefined()
})

it('batcher/openChannel: the estimate is close to the compressed size after some channels', () => {
  const world = new DeriveWorld(forksTo('jovian'))
  world.mineEmpty(2)
  const blocks = world.sequence(12, (number) => Array.from({ length: 20 }, (_, i) => userTransaction(number * 100 + i)))
  const open = new OpenChannel(world.config, { batches: 'span', compression: 'brotli' }, { l1Number: 1, maxRlpBytes: 1e6 })
  for (const block of blocks) open.add(block)
  const rlp = createBatchWriter(world.config, 'span')
  for (const block of blocks) rlp.add(block)
  expect(open.finish()).toEqual(rlp.finish())
  const estimate = new SizeEstimate()
  expect(open.age(estimate)).toMatchObject({ openedAtL1: 1, firstOrigin: 0 })
  for (let i = 0; i < 8; i++) estimate.learn(open.bytes, open.transactions, 17_000)
  expect(Math.abs(estimate.of(open.bytes, open.transactions) - 17_000)).toBeLessThan(200)
})
