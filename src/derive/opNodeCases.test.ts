// Cases in which op-node 1.19.6 read one L1 together with two other clients. The expected values are those of op-node.
// @see ../shared/reference/consensus.md, section 14
import { brotliCompressSync, brotliDecompressSync, constants, deflateSync, inflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import { encodeRlp } from '#lib/rlp'
import { encodeBatch } from '#test/harness/derive/channels'
import { keyOf, l1Transaction, sign } from '#test/harness/derive/l1'
import { DeriveWorld, forksTo, genesisTimeSec, inbox, type Sequenced, userTransaction } from '#test/harness/derive/world'
import { framesOf, singularBatchOf } from './batchEncoder.ts'
import { decompressChannel, readBatches } from './codec/channel.ts'
import { encodeFrames } from './codec/frame.ts'
import type { SingularBatch } from './codec/singularBatch.ts'
import { TransactionList } from './codec/transactionList.ts'

type Compression = 'zlib' | 'brotli'
const maxRlpBytes = 100_000_000

/** Compressors of another implementation: the C libraries in Node. */
const compressors: Readonly<Record<Compression, (plain: Uint8Array, quality?: number) => Uint8Array>> = {
  zlib: (plain, level = 9) => deflateSync(plain, { level }),
  brotli: (plain, quality = 10) =>
    concatBytes(Uint8Array.of(1), brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } })),
}

/** What the C libraries decompress of a truncated channel; undefined when the stream is corrupt. */
function outputOf(compression: Compression, channel: Uint8Array): Uint8Array | undefined {
  try {
    return compression === 'zlib'
      ? inflateSync(channel, { finishFlush: constants.Z_SYNC_FLUSH })
      : brotliDecompressSync(channel.subarray(1), { finishFlush: constants.BROTLI_OPERATION_FLUSH })
  } catch {
    return undefined
  }
}

/** A transaction of some 480 bytes; a compressor shortens its data by an eighth. */
function largeTransaction(nonce: number): Uint8Array {
  const words: Uint8Array[] = [keccak256(Uint8Array.of(nonce))]
  while (words.length < 12) words.push(keccak256(words.at(-1) ?? new Uint8Array(0)))
  const data = concatBytes(...words).map((byte) => byte & 0x7f)
  const tx = { type: 2, chainId: 90_001n, nonce: BigInt(nonce), gasLimit: 100_000n, to: inbox, value: 1n, data }
  return sign({ ...tx, maxFeePerGas: 9n, maxPriorityFeePerGas: 1n, accessList: [] } as never, keyOf('user'))
}

const rlpOf = (world: DeriveWorld, batch: SingularBatch): Uint8Array => encodeRlp(encodeBatch(batch, world.config.l2ChainId))
const rlpOfBlocks = (world: DeriveWorld, blocks: readonly Sequenced[]): Uint8Array =>
  concatBytes(...blocks.map((block) => rlpOf(world, singularBatchOf(block))))

/** A world with blocks of one large transaction each, and the RLP of their batches, all of one size. */
function largeBlocks(count: number): { readonly world: DeriveWorld; readonly plain: Uint8Array; readonly batchBytes: number } {
  const world = new DeriveWorld(forksTo('jovian'))
  const plain = rlpOfBlocks(
    world,
    world.sequence(count, (number) => [largeTransaction(200 + number)]),
  )
  return { world, plain, batchBytes: plain.length / count }
}

/** Posts a channel in one transaction and derives as far as L1 goes. */
function post(world: DeriveWorld, channel: Uint8Array): { readonly safe: number; readonly agrees: boolean } {
  const frames = framesOf(world.channelId(), channel, { kind: 'blob' })
  world.mine({ transactions: [l1Transaction({ to: inbox, data: encodeFrames(frames) })] })
  return { safe: world.derive(), agrees: world.agrees }
}

describe('derive/opNodeCases: a singular batch with a wrong parent hash', () => {
  it.each<[string, (batch: SingularBatch) => SingularBatch]>([
    ['the transactions of the right block', (batch) => batch],
    ['other transactions', (batch) => ({ ...batch, transactions: TransactionList.of([userTransaction(77)]) })],
  ])('is dropped with the right batches behind it, with %s; posted again, they are derived', (_what, change) => {
    const world = new DeriveWorld(forksTo('jovian'))
    const blocks = world.sequence(3, (number) => [userTransaction(number)])
    const [first, second, third] = blocks.map(singularBatchOf) as [SingularBatch, SingularBatch, SingularBatch]
    const wrong = { ...change(second), parentHash: third.parentHash }
    const plain = concatBytes(...[first, wrong, second, third].map((batch) => rlpOf(world, batch)))
    expect(post(world, compressors.zlib(plain))).toEqual({ safe: 1, agrees: true })
    expect(post(world, compressors.zlib(rlpOfBlocks(world, blocks.slice(1))))).toEqual({ safe: 3, agrees: true })
  })
})

describe('derive/opNodeCases: a damaged channel', () => {
  it.each<[string, (channel: Uint8Array) => Uint8Array]>([
    ['a wrong checksum', (channel) => channel.map((byte, at) => (at === channel.length - 1 ? byte ^ 1 : byte))],
    ['no checksum', (channel) => channel.subarray(0, -4)],
  ])('zlib with %s gives all of its batches', (_what, damage) => {
    const { world, plain } = largeBlocks(3)
    expect(post(world, damage(compressors.zlib(plain)))).toEqual({ safe: 3, agrees: true })
  })

  it.each([
    ['zlib', 3, 3, 2],
    ['brotli', 3, 3, 2],
    ['brotli', 20, 19, 18],
  ] as const)('%s of %d batches, cut inside the transaction of batch %d, gives %d batches', (compression, count, inside, safe) => {
    const { world, plain, batchBytes } = largeBlocks(count)
    const channel = compressors[compression](plain)
    let cut = channel.length
    while ((outputOf(compression, channel.subarray(0, cut))?.length ?? 0) > inside * batchBytes - 100) cut--
    expect(outputOf(compression, channel.subarray(0, cut))?.length).toBeGreaterThan((inside - 1) * batchBytes + 150)
    expect(post(world, channel.subarray(0, cut))).toEqual({ safe, agrees: true })
  })

  it('brotli with 40 bytes overwritten in the third of three batches gives two', () => {
    const { world, plain, batchBytes } = largeBlocks(3)
    const channel = compressors.brotli(plain)
    const from = Math.ceil((channel.length * 5) / 6)
    const before = outputOf('brotli', channel.subarray(0, from))?.length ?? 0
    expect([before > 2 * batchBytes, before < 3 * batchBytes - 100]).toEqual([true, true])
    const corrupt = channel.slice()
    corrupt.fill(0xff, from, from + 40)
    expect(outputOf('brotli', corrupt)).toBeUndefined()
    expect(post(world, corrupt)).toEqual({ safe: 2, agrees: true })
  })

  it.each(['zlib', 'brotli'] as const)('%s cut at any byte gives the whole batches in the prefix that came out', (compression) => {
    const { world, plain, batchBytes } = largeBlocks(4)
    const channel = compressors[compression](plain)
    let isWhole = false
    for (let cut = 0; cut <= channel.length; cut++) {
      const rlp = decompressChannel(channel.subarray(0, cut), { maxRlpBytes, allowsBrotli: true })
      // C gives no output for an empty input
      const expected = cut === 0 ? new Uint8Array(0) : outputOf(compression, channel.subarray(0, cut))
      expect(rlp.length, `cut at ${cut}`).toBe(expected?.length)
      expect(Buffer.compare(rlp, plain.subarray(0, rlp.length)), `cut at ${cut}`).toBe(0)
      const reader = readBatches(rlp, world.config.l2ChainId)
      let batches = 0
      while (reader.next()) batches++
      expect(batches, `cut at ${cut}`).toBe(Math.floor(rlp.length / batchBytes))
      isWhole = batches === 4
    }
    expect(isWhole).toBe(true)
  })
})

describe('derive/opNodeCases: a channel of more than 100,000,000 bytes', () => {
  const zeros = new Uint8Array(maxRlpBytes)

  const largeAndSmall = (world: DeriveWorld, third: SingularBatch): readonly Uint8Array[] => [
    rlpOf(world, { ...third, transactions: TransactionList.of([zeros]) }),
    rlpOf(world, third),
  ]

  it.each<[Compression, string, (world: DeriveWorld, third: SingularBatch) => readonly Uint8Array[]]>([
    ['zlib', 'a third batch of that size and a small one', largeAndSmall],
    ['brotli', 'a third batch of that size and a small one', largeAndSmall],
    ['zlib', 'zeros', () => [zeros]],
  ])('%s of two batches, then %s, gives two batches', (compression, _what, rest) => {
    const world = new DeriveWorld(forksTo('jovian'))
    const blocks = world.sequence(3, (number) => [userTransaction(number)])
    const [first, second, third] = blocks.map(singularBatchOf) as [SingularBatch, SingularBatch, SingularBatch]
    const plain = concatBytes(rlpOf(world, first), rlpOf(world, second), ...rest(world, third))
    expect(post(world, compressors[compression](plain, 1))).toEqual({ safe: 2, agrees: true })
  })
})

it('derive/opNodeCases: the stages are those of Holocene when it activates in one L1 step with Granite', () => {
  // L1 blocks at 0, 12, 24, 36: none has Granite alone
  const world = new DeriveWorld({ ...forksTo('fjord'), granite: genesisTimeSec + 26, holocene: genesisTimeSec + 30 })
  const blocks = world.sequence(6)
  world.mine({ transactions: world.post(blocks.slice(0, 2)) })
  world.mine()
  // a past batch does not end its channel; frames in the wrong order give nothing
  const rest = world.post(blocks.slice(4), undefined, 100)
  expect(rest.length).toBeGreaterThan(1)
  world.mine({ transactions: [...world.post(blocks.slice(0, 4)), ...rest.toReversed()] })
  expect([world.derive(), world.agrees]).toEqual([4, true])
  world.mine({ transactions: rest })
  expect([world.derive(), world.agrees]).toEqual([6, true])
})
