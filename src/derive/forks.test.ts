import { describe, expect, it } from 'vitest'
import { l1AttributesIn } from '#chainspec/l2Ref'
import { channelOf } from '#test/harness/derive/channels'
import { batcherUpdate, configUpdate, l1Transaction, receiptOf } from '#test/harness/derive/l1'
import { configContract, DeriveWorld, forksTo, genesisTimeSec, inbox, userTransaction } from '#test/harness/derive/world'
import type { PayloadAttributes } from '#types/payload'
import { framesOf } from './batchEncoder.ts'
import { encodeFrames } from './codec/frame.ts'

const span = { batches: 'span', compression: 'zlib' } as const
const singularBrotli = { batches: 'singular', compression: 'brotli' } as const
const at = (seconds: number): number => genesisTimeSec + seconds
const attributesOf = (world: DeriveWorld, number: number): PayloadAttributes => {
  const derived = world.driver.derived[number - 1]
  if (!derived) throw new Error(`block ${number} was not derived`)
  return derived.attributes
}
const infoOf = (world: DeriveWorld, number: number): ReturnType<typeof l1AttributesIn> => l1AttributesIn(attributesOf(world, number))

it('derive under Canyon: adds withdrawals from its first block on', () => {
  const world = new DeriveWorld({ ...forksTo('regolith'), canyon: at(6) })
  world.mine({ transactions: world.post(world.sequence(4)) })
  world.derive()
  expect([2, 3].map((number) => attributesOf(world, number).withdrawals)).toEqual([undefined, []])
})

describe('derive under Delta', () => {
  it.each([
    ['one second before Delta', 13, 5],
    ['at Delta', 12, 11],
  ])("the time of a span's first origin decides: %s", (_what, delta, safe) => {
    const world = new DeriveWorld({ ...forksTo('canyon'), delta: at(delta) })
    world.mine()
    const [a = [], b = []] = [world.sequence(5), world.sequence(6)]
    world.mine({ transactions: [...world.post(a), ...world.post(b, span)] })
    expect(world.derive()).toBe(safe)
  })
})

describe('derive under Ecotone', () => {
  it('reads blobs from its first L1 block on, and the calldata of blob transactions before', () => {
    const world = new DeriveWorld({ ...forksTo('delta'), ecotone: at(24) })
    const [first = new Uint8Array(0)] = world.data(world.sequence(1))
    world.mine({ transactions: [l1Transaction({ to: inbox, blobs: [], data: first })] })
    expect(world.derive()).toBe(1)
    world.mine({ transactions: [world.postBlobs(world.sequence(1), span, 500)] })
    expect([world.derive(), world.agrees]).toEqual([2, true])
  })

  it('its first block has the old L1 attributes, the parent beacon root and six upgrade transactions', () => {
    const world = new DeriveWorld({ ...forksTo('delta'), ecotone: at(4) })
    world.mine({ transactions: world.post(world.sequence(3)) })
    world.derive()
    expect([1, 2, 3].map((number) => infoOf(world, number).format)).toEqual(['bedrock', 'bedrock', 'ecotone'])
    expect([1, 2, 3].map((number) => attributesOf(world, number).transactions.length)).toEqual([1, 7, 1])
    expect([1, 2].map((number) => attributesOf(world, number).parentBeaconBlockRoot)).toEqual([undefined, `0x${'00'.repeat(32)}`])
  })
})

it.each([
  ['one second before Fjord', 25, 0],
  ['at Fjord', 24, 6],
])('derive under Fjord: the time of the L1 block, not of the batches, decides on brotli: %s', (_what, fjord, safe) => {
  const world = new DeriveWorld({ ...forksTo('ecotone'), fjord: at(fjord) })
  const blocks = world.sequence(6)
  world.mine()
  world.mine({ transactions: world.post(blocks, singularBrotli) })
  expect(world.derive()).toBe(safe)
})

describe('derive under Holocene', () => {
  const schedule = { ...forksTo('granite'), holocene: at(36) }

  it('drops the frames and batches kept from before its first L1 block', () => {
    const world = new DeriveWorld(schedule)
    const blocks = world.sequence(4)
    const frames = framesOf(world.channelId(), channelOf(world.config, blocks.slice(0, 2), span), { kind: 'calldata', maxBytes: 80 })
    expect(frames.length).toBeGreaterThan(1)
    const data = frames.map((frame) => l1Transaction({ to: inbox, data: encodeFrames([frame]) }))
    // batches after a gap, and a part of a channel
    world.mine({ transactions: [...world.post(blocks.slice(2)), ...data.slice(0, 1)] })
    world.mine()
    world.mine({ transactions: data.slice(1) })
    expect([world.derive(), world.pipeline.origin.number]).toEqual([0, 3])
    world.mine({ transactions: world.post(blocks) })
    expect([world.derive(), world.agrees]).toEqual([4, true])
  })

  it('keeps the epochs from before', () => {
    const world = new DeriveWorld(schedule)
    world.mineEmpty(2)
    const blocks = world.sequence(15, (number) => [userTransaction(number)])
    world.mine({ transactions: world.post(blocks, span) })
    expect([world.derive(), world.agrees, world.safe.l1Origin.number]).toEqual([15, true, 2])
  })

  it('requires strict order from its first L1 block on, not before', () => {
    for (const [empty, safe] of [
      [1, 4],
      [2, 2],
    ] as const) {
      const world = new DeriveWorld(schedule)
      const blocks = world.sequence(4)
      world.mineEmpty(empty)
      world.mine({ transactions: [...world.post(blocks.slice(2)), ...world.post(blocks.slice(0, 2))] })
      expect([empty, world.derive()]).toEqual([empty, safe])
    }
  })

  it("its first block has the chain's EIP-1559 parameters, later blocks those of the system config", () => {
    const world = new DeriveWorld({ ...forksTo('granite'), holocene: at(4) })
    world.mine({ receipts: [receiptOf([configUpdate(configContract, 4, [(100n << 32n) | 4n])])] })
    world.mine({ transactions: world.post(world.sequence(6)) })
    world.derive()
    const params = [1, 2, 3, 6].map((number) => [...(attributesOf(world, number).eip1559Params ?? [])])
    expect(params).toEqual([[], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 250, 0, 0, 0, 6], [0, 0, 0, 100, 0, 0, 0, 4]])
  })
})

it("derive under Holocene: its first block has the chain's EIP-1559 parameters, even if its epoch begins with others", () => {
  const world = new DeriveWorld({ ...forksTo('granite'), holocene: at(12) })
  world.mine({ receipts: [receiptOf([configUpdate(configContract, 4, [(100n << 32n) | 4n])])] })
  world.mine({ transactions: world.post(world.sequence(6)) })
  world.derive()
  expect(attributesOf(world, 6).eip1559Params).toEqual(new Uint8Array(8))
})

it.each([
  ['at', 4, 2],
  ['before', 6, 1],
])('derive under Isthmus: a set-code transaction in a block %s its time', (_what, isthmus, safe) => {
  const world = new DeriveWorld({ ...forksTo('holocene'), isthmus: at(isthmus) })
  world.mine({ transactions: world.post(world.sequence(2, (number) => (number === 2 ? [Uint8Array.of(4, 1)] : []))) })
  expect(world.derive()).toBe(safe)
})

describe('derive under Jovian', () => {
  const schedule = { ...forksTo('isthmus'), jovian: at(4) }

  it.each([
    [1, 3],
    [2, 1],
    [3, 3],
  ])('refuses transactions in its first block: one in block %d derives %d blocks', (number, safe) => {
    const world = new DeriveWorld(schedule)
    world.mine({ transactions: world.post(world.sequence(3, (block) => (block === number ? [userTransaction(block)] : []))) })
    expect(world.derive()).toBe(safe)
  })

  it('adds the minimum base fee and the new L1 attributes', () => {
    const world = new DeriveWorld(schedule)
    world.mine({
      receipts: [
        receiptOf([
          configUpdate(configContract, 6, [77n]),
          configUpdate(configContract, 7, [900n]),
          configUpdate(configContract, 5, [(3n << 64n) | 8n]),
        ]),
      ],
    })
    world.mine({ transactions: world.post(world.sequence(6)) })
    expect([world.derive(), world.agrees]).toEqual([6, true])
    expect([1, 2, 6].map((number) => attributesOf(world, number).minBaseFee)).toEqual([undefined, 0n, 77n])
    expect([1, 2, 3].map((number) => infoOf(world, number).format)).toEqual(['isthmus', 'isthmus', 'jovian'])
    expect(infoOf(world, 3).daFootprintGasScalar).toBe(400)
    expect(infoOf(world, 6)).toMatchObject({ daFootprintGasScalar: 900, operatorFeeScalar: 3, operatorFeeConstant: 8n })
  })
})

describe('derive under Azul', () => {
  const schedule = { ...forksTo('jovian'), azul: at(4) }

  it.each([
    ['singular batches', undefined],
    ['a span batch', span],
  ])('changes nothing in the blocks before, at and after its activation: %s', (_what, form) => {
    const [world, without] = [new DeriveWorld(schedule), new DeriveWorld(forksTo('jovian'))]
    for (const each of [world, without]) {
      each.mine()
      each.mine({
        transactions: each.post(
          each.sequence(3, (number) => [userTransaction(number)]),
          form,
        ),
      })
      expect([each.derive(), each.agrees]).toEqual([3, true])
    }
    for (const number of [1, 2, 3]) {
      expect(infoOf(world, number).format).toBe('jovian')
      expect(attributesOf(world, number).transactions).toHaveLength(2)
      expect(attributesOf(world, number)).toEqual(attributesOf(without, number))
    }
  })
})

describe('derive/l1Traversal: the system config', () => {
  it('accepts a new batcher from the L1 block of its update on, and the old one before', () => {
    const world = new DeriveWorld(forksTo('granite'))
    const by = (from: string, data: readonly Uint8Array[]): Uint8Array[] => data.map((one) => l1Transaction({ to: inbox, data: one, from }))
    const [a, b, c] = [world.data(world.sequence(1)), world.data(world.sequence(1)), world.data(world.sequence(1))]
    world.mine({ transactions: by('batcher', a) })
    world.mine({ transactions: [...by('batcher', b), ...by('new', c)], receipts: [receiptOf([batcherUpdate(configContract, 'new')])] })
    expect(world.derive()).toBe(1)
    world.mine({ transactions: [...by('batcher', c), ...by('new', b)] })
    world.mine({ transactions: by('new', c) })
    expect([world.derive(), world.agrees]).toEqual([3, true])
  })

  it('ignores an update that is malformed, of a failed transaction or of another contract', () => {
    const world = new DeriveWorld(forksTo('granite'))
    const good = batcherUpdate(configContract, 'new')
    const bad = [
      receiptOf([{ ...good, data: good.data.subarray(0, 95) }]),
      receiptOf([{ ...good, data: good.data.map((byte, i) => (i === 31 ? 31 : byte)) }]),
      receiptOf([{ ...good, data: good.data.map((byte, i) => (i === 70 ? 1 : byte)) }]),
      receiptOf([{ ...good, topics: good.topics.slice(0, 2) }]),
      receiptOf([configUpdate(configContract, 9, [1n])]),
      receiptOf([good], false),
      receiptOf([{ ...good, address: inbox }]),
    ]
    world.mine({ receipts: bad })
    world.mine({ transactions: world.post(world.sequence(7)) })
    expect([world.derive(), world.agrees, world.driver.safe.systemConfig.batcher]).toEqual([
      7,
      true,
      world.config.genesis.systemConfig.batcher,
    ])
  })

  it('applies a new gas limit from the first block of its epoch on', () => {
    const world = new DeriveWorld(forksTo('granite'))
    world.mine({ receipts: [receiptOf([configUpdate(configContract, 2, [12_345_678n])])] })
    world.mine({ transactions: world.post(world.sequence(7)) })
    world.derive()
    expect([5, 6, 7].map((number) => attributesOf(world, number).gasLimit)).toEqual([30_000_000n, 12_345_678n, 12_345_678n])
  })
})
