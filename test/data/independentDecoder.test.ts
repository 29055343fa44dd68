import { Transaction } from 'ethers'
import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { readShared, readSharedJson } from '../harness/sharedData.ts'
import { blocksOf, type ChainFacts, type SeenBlock } from '../independent/blocks.ts'
import { readChannel } from '../independent/channel.ts'
import { framesOfPayload } from '../independent/frames.ts'
import { type Carried, type InboxChannel, readInbox } from '../independent/inbox.ts'
import { type SealedBlock, sealedBlockOf } from '../independent/l2Block.ts'
import { listOf, rlpOf, stringOf } from '../independent/rlp.ts'
import type { SeenTransaction } from '../independent/transaction.ts'

const bytesOf = (hex: string): Buffer => Buffer.from(hex.replace(/^0x/, ''), 'hex')

type L1Transaction = { from: string; to: string | null; type: string; input: string; blobVersionedHashes?: string[] }
type L1Log = { address: string; topics: string[]; data: string }
type L1File = {
  blocks: { block: { transactions: L1Transaction[] }; receipts: { status: string; logs: L1Log[] }[] }[]
  blobs: Record<string, { data: string }>
}
type L2File = { blocks: { raw: Hex }[]; history: string[] }
type RollupFile = {
  genesis: { l2_time: number; system_config: { batcherAddr: string } }
  block_time: number
  l2_chain_id: number
  batch_inbox_address: string
  l1_system_config_address: string
}

const configUpdate = '0x1d2b0bda21d56b8bd12d4f94ebacffdfb35f5e226f84b461103bb8beab6353be'

/** Data that each current batcher sent to the inbox, in L1 order. Blob transactions occur only after Ecotone, so their blobs always count. */
function sentByBatcher({ blocks, blobs }: L1File, rollup: RollupFile): Carried[] {
  let batcher = rollup.genesis.system_config.batcherAddr.toLowerCase()
  return blocks.flatMap(({ block, receipts }) => {
    const logs = receipts.filter(({ status }) => status === '0x1').flatMap((receipt) => receipt.logs)
    for (const { address, topics, data } of logs) {
      if (address.toLowerCase() !== rollup.l1_system_config_address.toLowerCase() || topics[0] !== configUpdate) continue
      if (BigInt(topics[2] ?? 1) === 0n) batcher = `0x${data.slice(-40)}`
    }
    return block.transactions
      .filter(({ from, to }) => from.toLowerCase() === batcher && to?.toLowerCase() === rollup.batch_inbox_address.toLowerCase())
      .map(({ type, input, blobVersionedHashes = [] }): Carried => {
        if (type !== '0x3') return { kind: 'calldata', data: bytesOf(input) }
        return { kind: 'blobs', blobs: blobVersionedHashes.map((hash) => padded(blobs[hash]?.data ?? '')) }
      })
  })
}

function padded(data: string): Uint8Array {
  const blob = new Uint8Array(131_072)
  blob.set(bytesOf(data))
  return blob
}

/** Line such as "channel 3: blocks 28-33 span zlib calldata frames=4 bytes=3560". */
function historyLine(
  nth: number,
  { batches, compression, carrier, frames, compressedBytes }: InboxChannel,
  blocks: readonly number[],
): string {
  const form = batches[0]?.batchVersion === 1 ? 'span' : 'singular'
  const what = `${form} ${compression} ${carrier === 'blobs' ? 'blob' : 'calldata'}`
  return `channel ${nth}: blocks ${blocks[0]}-${blocks.at(-1)} ${what} frames=${frames.length} bytes=${compressedBytes}`
}

/** Fields of a block in a batch, in the format of the sealed block. */
function saidOf(block: SeenBlock, sealed: SealedBlock): object {
  return {
    timestamp: sealed.timestamp,
    l1OriginNumber: sealed.l1Origin.number,
    l1OriginHash: block.l1OriginHash && sealed.l1Origin.hash.slice(0, block.l1OriginHash.length),
    parentHash: block.parentHash && sealed.parentHash.slice(0, block.parentHash.length),
    transactions: sealed.transactions,
  }
}

describe.each([
  // 0x… of version 1, a frame that is cut off, no bytes: each twice
  ['op-bedrock-to-holocene', 20, 6, ['creation', 'eip1559', 'eip2930', 'legacy']],
  ['op-ecotone-to-jovian', 28, 0, ['creation', 'eip1559', 'eip2930', 'eip7702', 'legacy']],
])('%s', (name, channelCount, refusedCount, spanKinds) => {
  const rollup = readSharedJson<RollupFile>(`chains/${name}/rollup.json`)
  const l2 = readSharedJson<L2File>(`chains/${name}/l2.json.zst`)
  const sealed = l2.blocks.slice(1).map(({ raw }) => sealedBlockOf(raw)) // genesis is in no batch
  const chain: ChainFacts = {
    chainId: rollup.l2_chain_id,
    genesisTime: BigInt(rollup.genesis.l2_time),
    blockTime: BigInt(rollup.block_time),
  }
  const numberOf = ({ timestamp }: SeenBlock): number => Number((timestamp - chain.genesisTime) / chain.blockTime)
  const contents = readInbox(sentByBatcher(readSharedJson<L1File>(`chains/${name}/l1.json.zst`), rollup))
  const channels = contents.channels.map((channel) => ({ channel, blocks: channel.batches.flatMap((batch) => blocksOf(batch, chain)) }))

  it('independent: reads every posted channel and rejects the intended invalid data', () => {
    expect(contents.incomplete).toEqual([])
    expect(contents.refused).toHaveLength(refusedCount)
    expect(channels).toHaveLength(channelCount)
  })

  it('independent: reads each channel as the recording describes it', () => {
    const lines = channels.map(({ channel, blocks }, nth) =>
      historyLine(
        nth,
        channel,
        blocks.map(numberOf).toSorted((a, b) => a - b),
      ),
    )
    expect(lines).toEqual(l2.history.filter((line) => line.startsWith('channel ')))
  })

  it('independent: reads every block of every batch as it was sealed: times, origins, parents, transactions byte by byte', () => {
    const numbers = new Set<number>()
    for (const { blocks } of channels) {
      for (const block of blocks) {
        const other = sealed[numberOf(block) - 1]
        if (other === undefined) throw new Error(`block at ${block.timestamp} not found`)
        expect(block, `block ${other.number}`).toEqual(saidOf(block, other))
        numbers.add(numberOf(block))
      }
    }
    expect(numbers.size).toBe(sealed.length)
  })

  it('independent: finds the expected kinds of transactions in spans', () => {
    const all = channels.flatMap(({ channel }) => channel.batches.flatMap((one) => (one.batchVersion === 1 ? one.transactions : [])))
    const kindOf = (tx: SeenTransaction): string => (tx.type !== 'legacy' || tx.isProtected ? tx.type : 'unprotected legacy')
    const kinds = new Set(all.flatMap((tx) => (tx.to === undefined ? [kindOf(tx), 'creation'] : [kindOf(tx)])))
    expect([...kinds].toSorted()).toEqual(spanKinds)
  })
})

describe('OP Mainnet', () => {
  it("independent: reads the batcher's channel as one span batch with the expected fields", () => {
    const channel = bytesOf(readShared('derive/op-mainnet-span-batch-channel.hex').toString('utf8').trim())
    const read = readChannel(channel)
    expect([channel.length, read.compression, read.rlpBytes, read.batches.length]).toEqual([615_361, 'zlib', 1_409_463, 1])
    const [span] = read.batches
    if (span?.batchVersion !== 1) throw new Error('not a span batch')
    expect(span).toMatchObject({
      relTimestamp: 32_295_734n,
      l1OriginNum: 20_089_770n,
      parentCheck: expect.stringMatching(/^0xba1be7cf.{28}4823$/),
      l1OriginCheck: expect.stringMatching(/^0x4bd8da85.{28}cbcb$/),
      blockCount: 143,
    })
    expect(span.originBits.filter(Boolean)).toHaveLength(24)
    expect(span.blockTxCounts.reduce((sum, count) => sum + count, 0)).toBe(1766)
    const raws = blocksOf(span, { chainId: 10, genesisTime: 0n, blockTime: 2n }).flatMap(({ transactions }) => transactions)
    expect(raws).toHaveLength(1766)
    expect(raws.filter((raw) => Transaction.from(raw).serialized !== raw)).toEqual([])
  })

  it('independent: reads the calldata of a batcher transaction as one frame', () => {
    const raw = bytesOf(readShared('derive/op-mainnet-batcher-transaction.hex').toString('utf8').trim())
    const fields = listOf(rlpOf(raw.subarray(1), 'transaction'), 12, 'transaction')
    const frames = framesOfPayload(bytesOf(stringOf(fields[7], 'any', 'data')))
    expect(frames).toHaveLength(1)
    expect(frames[0]).toMatchObject({ isLast: true })
  })
})
