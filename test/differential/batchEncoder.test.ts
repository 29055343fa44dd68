import { deflateSync, inflateSync } from 'node:zlib'
import fc from 'fast-check'
import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { parseRollupConfig, type RollupConfig } from '#chainspec/rollupConfig'
import { type BatchForm, type Carrier, framesOf } from '#derive/batchEncoder'
import { encodeFrames } from '#derive/codec/frame'
import type { SafeBlock } from '#derive/ports'
import { fromHex } from '#lib/hex'
import { blobOf, channelOf } from '#test/harness/derive/channels'
import { depositType } from '#types/transaction'
import { blocksOf, type ChainFacts } from '../independent/blocks.ts'
import { readChannel, type SeenBatch, type SeenSingular } from '../independent/channel.ts'
import { SpecError } from '../independent/cursor.ts'
import { type Carried, type InboxChannel, readInbox } from '../independent/inbox.ts'
import { type MadeBlock, type MadeChain, randomChain, rawOf } from '../independent/randomBlocks.ts'
import type { SeenSpan } from '../independent/span.ts'

const zeroHash = `0x${'00'.repeat(32)}`
const someAddress = `0x${'11'.repeat(20)}`

function configOf({ chainId, genesisTime, blockTime }: MadeChain): RollupConfig {
  const systemConfig = { batcherAddr: someAddress, overhead: zeroHash, scalar: zeroHash, gasLimit: 30_000_000 }
  const genesis = {
    l1: { hash: zeroHash, number: 0 },
    l2: { hash: zeroHash, number: 0 },
    l2_time: genesisTime,
    system_config: systemConfig,
  }
  return parseRollupConfig({
    genesis,
    block_time: blockTime,
    max_sequencer_drift: 600,
    seq_window_size: 3600,
    channel_timeout: 300,
    l1_chain_id: 900,
    l2_chain_id: chainId,
    regolith_time: 0,
    canyon_time: 0,
    delta_time: 0,
    batch_inbox_address: someAddress,
    deposit_contract_address: someAddress,
    l1_system_config_address: someAddress,
  }).config
}

/** Deposit at the beginning of a block. Upgrade transactions are deposits too; the batcher posts none of them. */
const someDeposit = Uint8Array.of(depositType, 0xc0)

function safeBlockOf({ transactions, ...ref }: MadeBlock): SafeBlock {
  return { ref: ref as SafeBlock['ref'], transactions: [someDeposit, ...transactions.map(({ raw }) => fromHex(raw))] }
}

const chainFacts = ({ chainId, genesisTime, blockTime }: MadeChain): ChainFacts => ({
  chainId,
  genesisTime: BigInt(genesisTime),
  blockTime: BigInt(blockTime),
})

/** Way in which a run of the encoder posts: several frames per payload and several blobs per transaction are possible. */
type Posting = { readonly form: BatchForm; readonly carrier: Carrier; readonly framesAPayload: number; readonly blobsATransaction: number }

const form = fc.record({
  batches: fc.constantFrom('span' as const, 'singular' as const),
  compression: fc.constantFrom('zlib' as const, 'brotli' as const),
})
const calldata = fc
  .oneof(fc.integer({ min: 40, max: 300 }), fc.integer({ min: 300, max: 5_000 }), fc.constant(120_000))
  .map((maxBytes): Carrier => ({ kind: 'calldata', maxBytes }))
const posting: fc.Arbitrary<Posting> = fc.record({
  form,
  carrier: fc.oneof({ weight: 3, arbitrary: calldata }, { weight: 1, arbitrary: fc.constant<Carrier>({ kind: 'blob' }) }),
  framesAPayload: fc.integer({ min: 1, max: 3 }),
  blobsATransaction: fc.integer({ min: 1, max: 6 }),
})

const channelId = '0x00112233445566778899aabbccddeeff'

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size))
}

function posted(chain: MadeChain, { form: how, carrier, framesAPayload, blobsATransaction }: Posting): Carried[] {
  const channel = channelOf(configOf(chain), chain.blocks.map(safeBlockOf), how)
  const frames = framesOf(channelId, channel, carrier)
  if (carrier.kind === 'calldata') return chunks(frames, framesAPayload).map((some) => ({ kind: 'calldata', data: encodeFrames(some) }))
  return chunks(frames, blobsATransaction).map((some) => ({ kind: 'blobs', blobs: some.map((one) => blobOf([one])) }))
}

function expectSpan(span: SeenSpan, { blocks, genesisTime }: MadeChain): void {
  const [first, last] = [blocks[0], blocks.at(-1)]
  if (first === undefined || last === undefined) throw new Error('no blocks')
  expect(span.relTimestamp).toBe(BigInt(first.timestamp - genesisTime))
  expect(span.l1OriginNum).toBe(BigInt(last.l1Origin.number))
  expect(span.parentCheck).toBe(first.parentHash.slice(0, 42))
  expect(span.l1OriginCheck).toBe(last.l1Origin.hash.slice(0, 42))
  expect(span.blockCount).toBe(blocks.length)
  expect(span.originBits).toEqual(blocks.map(({ sequenceNumber }) => sequenceNumber === 0))
  expect(span.blockTxCounts).toEqual(blocks.map(({ transactions }) => transactions.length))
  expect(span.transactions).toEqual(blocks.flatMap(({ transactions }) => transactions.map(({ fields }) => fields)))
}

function expectSingular(batch: SeenSingular, block: MadeBlock): void {
  expect(batch.parentHash).toBe(block.parentHash)
  expect(batch.epochNumber).toBe(BigInt(block.l1Origin.number))
  expect(batch.epochHash).toBe(block.l1Origin.hash)
  expect(batch.timestamp).toBe(BigInt(block.timestamp))
  expect(batch.transactionList).toEqual(block.transactions.map(({ raw }) => raw))
}

function expectBatches(batches: readonly SeenBatch[], chain: MadeChain, { form: { batches: kind } }: Posting): void {
  expect(batches).toHaveLength(kind === 'span' ? 1 : chain.blocks.length)
  batches.forEach((batch, at) => {
    const block = chain.blocks[at]
    if (batch.batchVersion === 1) expectSpan(batch, chain)
    else if (block !== undefined) expectSingular(batch, block)
  })
}

/** Expects numbers, times, origins and every transaction byte by byte, in any form. */
function expectBlocks(batches: readonly SeenBatch[], chain: MadeChain): void {
  const seen = batches.flatMap((batch) => blocksOf(batch, chainFacts(chain)))
  const said = seen.map(({ timestamp, l1OriginNumber, transactions }) => ({ timestamp, l1OriginNumber, transactions }))
  expect(said).toEqual(
    chain.blocks.map(({ timestamp, l1Origin, transactions }) => ({
      timestamp: BigInt(timestamp),
      l1OriginNumber: BigInt(l1Origin.number),
      transactions: transactions.map(({ raw }) => raw),
    })),
  )
}

function expectFrames({ id, frames, compression }: InboxChannel, { carrier, form: { compression: wanted } }: Posting): void {
  expect(id).toBe(channelId.slice(2))
  expect(compression).toBe(wanted)
  expect(frames.map(({ number }) => number)).toEqual(frames.map((_, at) => at))
  expect(frames.map(({ isLast }) => isLast)).toEqual(frames.map((_, at) => at === frames.length - 1))
  const room = (carrier.kind === 'blob' ? 130_044 : carrier.maxBytes) - 24
  expect(frames.slice(0, -1).filter(({ data }) => data.length !== room)).toEqual([])
}

function readOrRefused(channel: Uint8Array): readonly SeenBatch[] | 'refused' {
  try {
    return readChannel(channel).batches
  } catch (error) {
    if (error instanceof SpecError) return 'refused'
    throw error
  }
}

/** Adds transactions with incompressible data, for a channel of at least this many bytes. */
function noise(chain: MadeChain, bytes: number): MadeChain {
  const size = 50_000
  const [block] = chain.blocks
  if (block === undefined) return chain
  let state = 12_345
  const next = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state >>> 24
  }
  const transactions = Array.from({ length: Math.ceil(bytes / size) }, () => {
    const data: Hex = `0x${Buffer.from(Array.from({ length: size }, next)).toString('hex')}`
    const common = { nonce: 5n, gas: 9n, value: 1n, gasPrice: 7n, r: 1n, s: 2n, to: undefined, yParity: 1 } as const
    const fields = { ...common, data, type: 'legacy', isProtected: false } as const
    return { fields, raw: rawOf(fields, chain.chainId) }
  })
  return { ...chain, blocks: [{ ...block, transactions }, ...chain.blocks.slice(1)] }
}

describe('derive/batchEncoder, read by an independent decoder', () => {
  it('encodes each field and each transaction of the blocks byte by byte, in every form and carrier', () => {
    fc.assert(
      fc.property(randomChain, posting, (chain, how) => {
        const { channels, refused, incomplete } = readInbox(posted(chain, how))
        expect([refused, incomplete]).toEqual([[], []])
        expect(channels).toHaveLength(1)
        const [channel] = channels
        if (channel === undefined) return
        expectFrames(channel, how)
        expectBatches(channel.batches, chain, how)
        expectBlocks(channel.batches, chain)
      }),
      { numRuns: 200 },
    )
  }, 60_000)

  it('encodes no unused bit: the decoder rejects a flipped bit or reads other content', () => {
    const zlib = fc.constantFrom({ batches: 'span', compression: 'zlib' } as const, { batches: 'singular', compression: 'zlib' } as const)
    fc.assert(
      fc.property(randomChain, zlib, fc.nat(), fc.nat(7), (chain, how, at, bit) => {
        const rlp = inflateSync(channelOf(configOf(chain), chain.blocks.map(safeBlockOf), how))
        const before = readChannel(deflateSync(rlp)).batches
        rlp[at % rlp.length] = (rlp[at % rlp.length] ?? 0) ^ (1 << bit)
        expect(readOrRefused(deflateSync(rlp))).not.toEqual(before)
      }),
      { numRuns: 100 },
    )
  }, 60_000)

  it.each(['span', 'singular'] as const)('encodes a channel of %s batches in eight blobs, six of them in one transaction', (batches) => {
    const [sample] = fc.sample(randomChain, { numRuns: 1, seed: 7 })
    if (sample === undefined) throw new Error('no sample')
    const chain = noise(sample, 1_000_000)
    const how = { form: { batches, compression: 'brotli' }, carrier: { kind: 'blob' }, framesAPayload: 1, blobsATransaction: 6 } as const
    const transactions = posted(chain, how)
    expect(transactions.map((carried) => carried.kind === 'blobs' && carried.blobs.length)).toEqual([6, 2])
    const { channels } = readInbox(transactions)
    expect(channels).toHaveLength(1)
    for (const channel of channels) {
      expectFrames(channel, how)
      expectBatches(channel.batches, chain, how)
      expectBlocks(channel.batches, chain)
    }
  })
})
