import { describe, expect, it } from 'vitest'
import { l1AttributesIn } from '#chainspec/l2Ref'
import { concatBytes } from '#lib/bytes'
import { blobOf, channelOf } from '#test/harness/derive/channels'
import { depositLog, l1Transaction, receiptOf } from '#test/harness/derive/l1'
import { DeriveWorld, forksTo, inbox, portal, userTransaction } from '#test/harness/derive/world'
import { decodeDeposit } from '#types/deposit'
import { emptyRoot, parseAddress } from '#types/ids'
import { framesOf } from './batchEncoder.ts'
import { encodeFrames } from './codec/frame.ts'
import { sequencedAttributes } from './sequencing.ts'

const span = { batches: 'span', compression: 'brotli' } as const
const singular = { batches: 'singular', compression: 'zlib' } as const

describe.each(['fjord', 'holocene', 'jovian'] as const)('derive/pipeline under %s', (fork) => {
  it('derives one block of one frame', () => {
    const world = new DeriveWorld(forksTo(fork))
    world.mine({ transactions: world.post(world.sequence(1)) })
    expect([world.derive(), world.agrees]).toEqual([1, true])
  })

  it('derives nothing from L1 blocks without batches, and reads all of them', () => {
    const world = new DeriveWorld(forksTo(fork))
    world.mineEmpty(20)
    expect([world.derive(), world.pipeline.origin.number]).toEqual([0, 20])
  })

  it.each([singular, span])('derives several blocks from several L1 blocks: $batches batches', (form) => {
    const world = new DeriveWorld(forksTo(fork))
    for (let i = 1; i <= 5; i++) {
      const blocks = world.sequence(6, (number) => [userTransaction(number), userTransaction(number + 1000)])
      world.mine({ transactions: world.post(blocks, form) })
      expect([world.derive(), world.agrees]).toEqual([6 * i, true])
    }
    expect(world.safe.l1Origin.number).toBe(4)
  })

  it('derives several channels of one L1 block, and two spans of one channel', () => {
    const world = new DeriveWorld(forksTo(fork))
    const [a = [], b = []] = [world.sequence(3), world.sequence(3)]
    world.mine({ transactions: [...world.post(a, span), ...world.post(b)] })
    expect([world.derive(), world.agrees]).toEqual([6, true])
  })

  it('assembles a channel from frames in several transactions and L1 blocks', () => {
    const world = new DeriveWorld(forksTo(fork))
    const transactions = world.post(
      world.sequence(6, (number) => [userTransaction(number)]),
      singular,
      200,
    )
    expect(transactions.length).toBeGreaterThan(3)
    for (const transaction of transactions) {
      expect(world.derive()).toBe(0)
      world.mine({ transactions: [transaction] })
    }
    expect([world.derive(), world.agrees]).toEqual([6, true])
  })

  it('reads several blobs of one transaction in order, and skips a malformed one', () => {
    const world = new DeriveWorld(forksTo(fork))
    const first = world.postBlobs(
      world.sequence(6, (number) => [userTransaction(number)]),
      span,
      300,
    )
    world.mine({ transactions: [first] })
    expect([world.derive(), world.agrees, world.blobs.size > 1]).toEqual([6, true, true])
    const frames = framesOf(world.channelId(), channelOf(world.config, world.sequence(2), span), { kind: 'blob' })
    const noise = new Uint8Array(131_072).fill(0xff)
    const blobs = [noise, blobOf(frames)].map((blob) => world.keepBlob(blob))
    world.mine({ transactions: [l1Transaction({ to: inbox, blobs })] })
    expect([world.derive(), world.agrees]).toEqual([8, true])
  })

  it('ignores the calldata of a blob transaction', () => {
    const world = new DeriveWorld(forksTo(fork))
    const [data = new Uint8Array(0)] = world.data(world.sequence(1))
    world.mine({ transactions: [l1Transaction({ to: inbox, blobs: [], data })] })
    expect(world.derive()).toBe(0)
  })

  it('resets when blobs are missing', () => {
    const world = new DeriveWorld(forksTo(fork))
    world.mine({ transactions: [world.postBlobs(world.sequence(1), span, 300)] })
    world.blobs.clear()
    expect(world.deriveUntilHalt()).toMatchObject({ kind: 'reset', reason: expect.stringMatching('missing') })
  })

  it('reads only data from the batcher to the inbox, of types 0, 1 and 2', () => {
    const world = new DeriveWorld(forksTo(fork))
    const data = (): Uint8Array => world.data(world.sequence(1))[0] ?? new Uint8Array(0)
    const good = ([0, 1, 2] as const).map((type) => l1Transaction({ to: inbox, data: data(), type }))
    const [stranger] = world.data(world.sequence(1))
    const bad = [
      l1Transaction({ to: inbox, data: stranger ?? new Uint8Array(0), from: 'stranger' }),
      l1Transaction({ to: parseAddress(`0x${'01'.repeat(20)}`), data: stranger ?? new Uint8Array(0) }),
    ]
    world.mine({ transactions: [...good, ...bad] })
    expect(world.derive()).toBe(3)
  })

  it('ignores malformed data in the inbox', () => {
    const world = new DeriveWorld(forksTo(fork))
    const noise = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 137 + length) & 0xff)
    const frame = (data: Uint8Array): Uint8Array => encodeFrames([{ channelId: world.channelId(), number: 0, data, isLast: true }])
    const [whole = noise(1)] = world.data(world.sequence(1))
    const spoilt = [
      noise(0),
      noise(1),
      noise(400),
      concatBytes(Uint8Array.of(0), noise(400)),
      whole.subarray(0, -1),
      concatBytes(whole, noise(1)),
      frame(noise(0)),
      frame(noise(300)),
      frame(concatBytes(Uint8Array.of(1), noise(300))),
      frame(concatBytes(Uint8Array.of(0x78, 0x9c), noise(300))),
    ]
    world.mine({ transactions: spoilt.map((data) => l1Transaction({ to: inbox, data })) })
    expect(world.derive()).toBe(0)
    world.mine({ transactions: [l1Transaction({ to: inbox, data: whole })] })
    expect([world.derive(), world.agrees]).toEqual([1, true])
  })

  it('puts deposits into the first block of their epoch, except those of a failed transaction', () => {
    const world = new DeriveWorld(forksTo(fork))
    const failed = receiptOf([depositLog(portal, 'mallory', 9n)], false)
    world.mine({ receipts: [failed, receiptOf([depositLog(portal, 'alice', 1n), depositLog(portal, 'bob', 2n)])] })
    const blocks = world.sequence(12)
    world.mine({ transactions: world.post(blocks) })
    expect([world.derive(), world.agrees]).toEqual([12, true])
    const mints = world.driver.derived.map(({ attributes }) => attributes.transactions.slice(1).map((raw) => decodeDeposit(raw).mint))
    expect(mints.filter((all) => all.length > 0)).toEqual([[1n, 2n]])
  })
})

describe('derive/pipeline: the L1 attributes', () => {
  const infoOf = (world: DeriveWorld, number: number): ReturnType<typeof l1AttributesIn> =>
    l1AttributesIn({ transactions: world.driver.derived[number - 1]?.attributes.transactions ?? [] })

  it('are a system transaction with 150,000,000 gas before Regolith', () => {
    const world = new DeriveWorld(forksTo('bedrock'))
    world.mine({ transactions: world.post(world.sequence(2)) })
    expect([world.derive(), world.agrees]).toEqual([2, true])
    const [first = new Uint8Array(0)] = world.driver.derived[0]?.attributes.transactions ?? []
    expect(decodeDeposit(first)).toMatchObject({ isSystemTransaction: true, gasLimit: 150_000_000n })
    expect(infoOf(world, 1)).toMatchObject({ format: 'bedrock', overhead: 188n, scalar: 684_000n, sequenceNumber: 1 })
  })

  it('carry the blob base fee of the origin', () => {
    const blobs = { target: 0, max: 76, updateFraction: 3_338_477n }
    const world = new DeriveWorld(forksTo('fjord'), { l1BlobSchedule: { changes: [{ fromSec: 0, ...blobs }] } })
    // e^(76 * 131,072 / 3,338,477) = 19.76…
    const excessBlobGas = 76n * 131_072n
    world.mine({ header: { withdrawalsRoot: emptyRoot, blobGasUsed: excessBlobGas, excessBlobGas: 0n } })
    world.mine({ header: { withdrawalsRoot: emptyRoot, blobGasUsed: 0n, excessBlobGas } })
    world.mine({ transactions: world.post(world.sequence(13)) })
    expect([world.derive(), world.agrees]).toEqual([13, true])
    expect([infoOf(world, 11).blobBaseFee, infoOf(world, 12).blobBaseFee, infoOf(world, 13).blobBaseFee]).toEqual([1n, 19n, 19n])
  })

  it('are not made of an L1 block whose blob gas the schedule does not explain (L1_BLOB_SCHEDULE)', () => {
    const world = new DeriveWorld(forksTo('fjord'))
    world.mine({ header: { withdrawalsRoot: emptyRoot, blobGasUsed: 0n, excessBlobGas: 131_072n } })
    world.mine({ transactions: world.post(world.sequence(7)) })
    expect(() => world.derive()).toThrow(expect.objectContaining({ code: 'L1_BLOB_SCHEDULE', severity: 'fatal' }))
    const [genesis, bad, { head = undefined } = {}] = [world.l1[0], world.l1[1], world.blocks[0]]
    if (!genesis || !bad || !head) throw new RangeError('no blocks')
    expect(() => sequencedAttributes(world.config, head, bad, genesis)).toThrow(expect.objectContaining({ code: 'L1_BLOB_SCHEDULE' }))
    const before = new DeriveWorld(forksTo('delta'))
    before.mine({ header: { withdrawalsRoot: emptyRoot, blobGasUsed: 0n, excessBlobGas: 131_072n } })
    before.mine({ transactions: before.post(before.sequence(7)) })
    expect([before.derive(), before.agrees]).toEqual([7, true])
  })

  it('count the blocks of an epoch', () => {
    const world = new DeriveWorld(forksTo('fjord'))
    world.mine()
    world.mine({ transactions: world.post(world.sequence(8)) })
    world.derive()
    const places = world.driver.derived
      .map((_, index) => infoOf(world, index + 1))
      .map(({ number, sequenceNumber }) => [number, sequenceNumber])
    expect(places).toEqual([
      [0, 1],
      [0, 2],
      [0, 3],
      [0, 4],
      [0, 5],
      [1, 0],
      [1, 1],
      [1, 2],
    ])
  })
})
