import { describe, expect, it } from 'vitest'
import { readBaseTime } from '#chainspec/baseTime'
import { firstDenimBlock, timestampOf } from '#chainspec/blockTime'
import type { ForkSchedule } from '#chainspec/forks'
import { l1AttributesIn } from '#chainspec/l2Ref'
import { networkOf } from '#chainspec/networks'
import { headerOf } from '#test/harness/chain/headers'
import { encodeChannel, spanBatchOf } from '#test/harness/derive/channels'
import { configUpdate, l1Transaction, receiptOf } from '#test/harness/derive/l1'
import { badTransaction, configContract, DeriveWorld, forksTo, genesisTimeSec, inbox, userTransaction } from '#test/harness/derive/world'
import { parseHash, zeroHash } from '#types/ids'
import type { PayloadAttributes } from '#types/payload'
import { createBatchWriter, framesOf } from './batchEncoder.ts'
import { encodeFrames } from './codec/frame.ts'
import { TransactionList } from './codec/transactionList.ts'
import type { SafeBlock } from './ports.ts'
import type { Epoch } from './rules/epoch.ts'
import { payloadAttributes } from './rules/payloadAttributes.ts'

/** Block 4 is the first Denim block, at 8 s. */
const schedule: ForkSchedule = { ...forksTo('jovian'), azul: 0, beryl: 0, cobalt: 0, denim: genesisTimeSec + 7 }
const firstDenim = 4
const attributesOf = (world: DeriveWorld, number: number): PayloadAttributes =>
  world.driver.derived[number - 1]?.attributes ?? expect.fail(`block ${number} was not derived`)
const userTransactions = (number: number): readonly Uint8Array[] => (number === 1 ? [] : [userTransaction(number)])
const millisPartOf = (world: DeriveWorld, number: number): unknown => readBaseTime(attributesOf(world, number).transactions, number)

describe('derive under Denim: time', () => {
  it('blocks are 200 ms apart from its first block on, each with its BaseTime deposit', () => {
    const world = new DeriveWorld(schedule)
    world.mine({ transactions: world.post(world.sequence(12, userTransactions)) })
    expect([world.derive(), world.agrees]).toEqual([12, true])
    const seconds = [3, 4, 5, 8, 9, 12].map((number) => attributesOf(world, number).timestamp - genesisTimeSec)
    expect(seconds).toEqual([6, 8, 8, 8, 9, 9])
    expect(millisPartOf(world, 3)).toMatchObject({ kind: 'malformed' })
    expect([4, 5, 8, 9].map((number) => millisPartOf(world, number))).toEqual(
      [0, 200, 800, 0].map((millisPart) => ({ kind: 'read', millisPart })),
    )
    expect(attributesOf(world, 5).transactions).toHaveLength(3)
  })

  it('empty blocks are forced at 200 ms when the sequencing window ends', () => {
    const world = new DeriveWorld(schedule, { sequencingWindowBlocks: 3 })
    world.mineEmpty(5)
    world.derive()
    const derived = world.driver.derived.map(({ attributes }) => attributes.timestamp - genesisTimeSec)
    expect(derived.slice(0, 10)).toEqual([2, 4, 6, 8, 8, 8, 8, 8, 9, 9])
    expect(attributesOf(world, 30).transactions).toHaveLength(2)
    expect(l1AttributesIn(attributesOf(world, firstDenim)).sequenceNumber).toBe(4)
  })
})

describe('derive under Denim: gas', () => {
  const gasLimitUpdate = (gas: bigint) => receiptOf([configUpdate(configContract, 2, [gas])])
  const eip1559Update = (denominator: bigint, elasticity: bigint) =>
    receiptOf([configUpdate(configContract, 4, [(denominator << 32n) | elasticity])])

  it('the first block has a tenth of the gas limit and ten times the denominator, and later blocks keep them', () => {
    const world = new DeriveWorld({ ...schedule, denim: genesisTimeSec + 24 })
    world.mine({ receipts: [eip1559Update(100n, 5n)] })
    world.mine({ transactions: world.post(world.sequence(14)) })
    expect(world.derive()).toBe(14)
    expect([11, 12, 13, 14].map((number) => attributesOf(world, number).gasLimit)).toEqual([
      30_000_000n,
      3_000_000n,
      3_000_000n,
      3_000_000n,
    ])
    const params = [11, 12, 14].map((number) => attributesOf(world, number).eip1559Params)
    expect(params).toEqual([
      Uint8Array.of(0, 0, 0, 100, 0, 0, 0, 5),
      Uint8Array.of(0, 0, 3, 232, 0, 0, 0, 5),
      Uint8Array.of(0, 0, 3, 232, 0, 0, 0, 5),
    ])
  })

  it("scales after the updates of the first block's own L1 origin; a later update is absolute", () => {
    const world = new DeriveWorld({ ...schedule, denim: genesisTimeSec + 12 })
    world.mine({ receipts: [gasLimitUpdate(50_000_000n)] })
    world.mine({ receipts: [gasLimitUpdate(40_000_000n)] })
    world.mine({ transactions: world.post(world.sequence(70)) })
    expect(world.derive()).toBe(70)
    expect(l1AttributesIn(attributesOf(world, 6)).number).toBe(1)
    expect([5, 6, 7, 65].map((number) => attributesOf(world, number).gasLimit)).toEqual([30_000_000n, 5_000_000n, 5_000_000n, 5_000_000n])
    expect(l1AttributesIn(attributesOf(world, 66)).number).toBe(2)
    expect([66, 70].map((number) => attributesOf(world, number).gasLimit)).toEqual([40_000_000n, 40_000_000n])
  })
})

/** L1 origin without deposits and updates. */
function quietEpoch(timestamp: number): Epoch {
  const header = headerOf({ number: 1_000, timestamp })
  const hash = parseHash(`0x${'e1'.repeat(32)}`)
  return { hash, number: 1_000, parentHash: zeroHash, timestamp, header, deposits: [], configReceipts: [] }
}

it.each([
  ['base', 400_000_000n, 5, 40_000_000n],
  ['base-sepolia', 1_200_000_000n, 15, 120_000_000n],
] as const)('derive under Denim: %s begins with the published gas limit and denominator', (name, gasLimit, elasticity, expected) => {
  const { config } = networkOf(name)
  const number = firstDenimBlock(config)
  const epoch = quietEpoch(timestampOf(config, number) - 12)
  const parent = {
    ...{ hash: parseHash(`0x${'a1'.repeat(32)}`), number: number - 1, parentHash: zeroHash, timestamp: timestampOf(config, number - 1) },
    ...{ l1Origin: { hash: epoch.hash, number: epoch.number }, sequenceNumber: 1 },
  }
  const systemConfig = { ...config.genesis.systemConfig, gasLimit, eip1559Denominator: 100, eip1559Elasticity: elasticity }
  const attributes = payloadAttributes(config, { ref: parent, systemConfig }, epoch, TransactionList.empty)
  expect(attributes).toMatchObject({ gasLimit: expected, eip1559Params: Uint8Array.of(0, 0, 3, 232, 0, 0, 0, elasticity) })
})

describe('derive under Denim: span batches', () => {
  /** The blocks with the times that a span gives them: 2 s apart. */
  const spread = (blocks: readonly SafeBlock[]): readonly SafeBlock[] =>
    blocks.map((block) => ({ ...block, ref: { ...block.ref, timestamp: genesisTimeSec + 2 * block.ref.number } }))

  /** Batcher transaction with a span of any blocks; the batcher's own writer refuses Denim blocks. */
  const spanOf = (world: DeriveWorld, blocks: readonly SafeBlock[]) => {
    const channel = encodeChannel([spanBatchOf(world.config, blocks)], world.config.l2ChainId, 'brotli')
    return l1Transaction({ to: inbox, data: encodeFrames(framesOf(world.channelId(), channel, { kind: 'calldata', maxBytes: 120_000 })) })
  }

  it('the blocks of a span before Denim are derived; the rest and its channel are dropped', () => {
    const world = new DeriveWorld(schedule)
    const blocks = world.sequence(8)
    world.mine({ transactions: [spanOf(world, spread(blocks.slice(0, 6)))] })
    expect([world.derive(), world.agrees]).toEqual([firstDenim - 1, true])
    world.mine({ transactions: world.post(blocks.slice(firstDenim - 1)) })
    expect([world.derive(), world.agrees]).toEqual([8, true])
  })

  it('a span that begins with a Denim block is dropped', () => {
    const world = new DeriveWorld(schedule)
    const blocks = world.sequence(6)
    world.mine({
      transactions: [...world.post(blocks.slice(0, 4)), spanOf(world, blocks.slice(4, 5)), ...world.post(blocks.slice(5))],
    })
    expect(world.derive()).toBe(4)
  })

  it('the writer of spans refuses a Denim block', () => {
    const world = new DeriveWorld(schedule)
    const [, , third = expect.fail(), fourth = expect.fail()] = world.sequence(4)
    const writer = createBatchWriter(world.config, 'span')
    writer.add(third)
    expect(() => writer.add(fourth)).toThrow('block 4 is a Denim block')
  })

  it('a span of safe blocks only is skipped', () => {
    const world = new DeriveWorld(schedule)
    const blocks = world.sequence(6)
    world.mine({ transactions: world.post(blocks) })
    expect(world.derive()).toBe(6)
    const more = world.sequence(2)
    world.mine({ transactions: [spanOf(world, blocks.slice(0, 2)), ...world.post(more)] })
    expect([world.derive(), world.agrees]).toEqual([8, true])
  })
})

describe('derive under Denim: batches of the same second', () => {
  it('a batch for a safe block of the same second is skipped, and the rest of its channel is read', () => {
    const world = new DeriveWorld(schedule)
    const blocks = world.sequence(10)
    world.mine({ transactions: world.post(blocks.slice(0, 7)) })
    expect(world.derive()).toBe(7)
    world.mine({ transactions: world.post(blocks.slice(4)) })
    expect([world.derive(), world.agrees]).toEqual([10, true])
  })

  it('a batch whose parent is no block of the second is dropped with its channel', () => {
    const world = new DeriveWorld(schedule)
    const blocks = world.sequence(10)
    world.mine({ transactions: world.post(blocks.slice(0, 7)) })
    expect(world.derive()).toBe(7)
    const [next = expect.fail()] = blocks.slice(7)
    const astray = { ...next, ref: { ...next.ref, parentHash: next.ref.hash } }
    world.mine({ transactions: world.post([astray, ...blocks.slice(7)]) })
    expect(world.derive()).toBe(7)
  })

  it('a slot must not be missed: a batch for a later block of the same second is dropped', () => {
    const world = new DeriveWorld(schedule)
    const blocks = world.sequence(10)
    world.mine({ transactions: world.post([...blocks.slice(0, 4), ...blocks.slice(5)]) })
    expect(world.derive()).toBe(4)
  })

  it('a block that replaces an invalid one keeps the BaseTime deposit', () => {
    const world = new DeriveWorld(schedule)
    world.mine({ transactions: world.post(world.sequence(6, (number) => (number === 6 ? [badTransaction] : []))) })
    expect(world.derive()).toBe(6)
    expect(world.safeBlocks.get(6)?.transactions).toHaveLength(2)
  })
})

it('derive under Cobalt: a batch with an account abstraction transaction is dropped with its channel', () => {
  const cobalt = { ...forksTo('jovian'), azul: 0, beryl: 0 }
  const withType = (world: DeriveWorld) =>
    world.sequence(3).map((block, at) => (at === 1 ? { ...block, transactions: [...block.transactions, Uint8Array.of(0x79, 1)] } : block))
  const before = new DeriveWorld(cobalt)
  before.mine({ transactions: before.post(withType(before)) })
  expect(before.derive()).toBe(2)
  const after = new DeriveWorld({ ...cobalt, cobalt: 0 })
  after.mine({ transactions: after.post(withType(after)) })
  expect(after.derive()).toBe(1)
})
