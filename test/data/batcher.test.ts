import { describe, expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import { createBatchWriter } from '#derive/batchEncoder'
import { encodeBlob } from '#derive/codec/blob'
import type { SafeBlock } from '#derive/ports'
import { concatBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { versionedHashOfBlob } from '#lib/kzg/kzg'
import { KzgThread } from '#lib/kzg/kzgThread'
import { rlpHead } from '#lib/rlp'
import type { Batch } from '../../src/derive/codec/batch.ts'
import { decodeBlob } from '../../src/derive/codec/blob.ts'
import { decompressChannel, readBatches } from '../../src/derive/codec/channel.ts'
import { decodeFrames, type Frame } from '../../src/derive/codec/frame.ts'
import { batcherData } from '../../src/derive/rules/batcherTransaction.ts'
import { readRecordedL2, recordedChains } from '../harness/chain/l2Blocks.ts'
import { l1BlockOfJson, readRecordedL1 } from '../harness/l1/blocks.ts'

const padded = (data: string): Uint8Array => {
  const blob = new Uint8Array(131_072)
  blob.set(fromHex(data))
  return blob
}
const blobOf = (data: string): Uint8Array | undefined => {
  const decoded = decodeBlob(padded(data))
  return decoded.kind === 'decoded' ? decoded.value : undefined
}

describe.each(recordedChains)('%s', (name) => {
  const { config, payloads } = readRecordedL2(name)
  const { blocks, blobs } = readRecordedL1(name)
  const l2 = payloads.map((payload): SafeBlock => ({ ref: l2RefOf(config, payload), transactions: payload.transactions }))
  const { batcher } = config.genesis.systemConfig

  /** Decompressed content of each recorded channel. */
  function channels(): Uint8Array[] {
    const frames = new Map<string, Frame[]>()
    for (const block of blocks.map(l1BlockOfJson)) {
      for (const carried of batcherData(block.transactions, { inbox: config.batchInbox, batcher, readsBlobs: true })) {
        const data = carried.kind === 'calldata' ? carried.data : blobOf(blobs[carried.hash]?.data ?? '0x')
        const decoded = decodeFrames(data ?? new Uint8Array(0))
        if (decoded.kind === 'malformed') continue
        for (const frame of decoded.value) frames.set(frame.channelId, [...(frames.get(frame.channelId) ?? []), frame])
      }
    }
    const rules = { maxRlpBytes: 100_000_000, allowsBrotli: true }
    return [...frames.values()].map((all) => decompressChannel(concatBytes(...all.map(({ data }) => data)), rules))
  }

  /** Encodes the recorded blocks that a recorded batch covers. */
  function written(batch: Batch): string {
    const time = batch.kind === 'span' ? config.genesis.l2TimeSec + Number(batch.relativeTimestamp) : Number(batch.timestamp)
    const first = (time - config.genesis.l2TimeSec) / config.blockTimeSec
    const writer = createBatchWriter(config, batch.kind)
    for (const block of l2.slice(first, first + (batch.kind === 'span' ? batch.blockCount : 1))) writer.add(block)
    return toHex(writer.finish())
  }

  it('batcher: encodes the recorded blocks to the recorded batches, byte for byte', () => {
    const seen = { span: 0, singular: 0, other: 0 }
    for (const rlp of channels()) {
      const reader = readBatches(rlp, config.l2ChainId)
      let at = 0
      for (let batch = reader.next(); batch; batch = reader.next()) {
        const { to } = rlpHead(rlp, at)
        if (written(batch) === toHex(rlp.subarray(at, to))) seen[batch.kind]++
        else seen.other++
        at = to
      }
    }
    expect(seen).toEqual(name === 'op-bedrock-to-holocene' ? { span: 7, singular: 38, other: 0 } : { span: 12, singular: 98, other: 0 })
  })

  it('batcher: encodes blobs to the recorded bytes', () => {
    let count = 0
    for (const { data } of Object.values(blobs)) {
      const content = blobOf(data)
      if (content === undefined) continue
      count++
      expect(Buffer.compare(encodeBlob(content), padded(data))).toBe(0)
    }
    expect(count).toBe(Object.keys(blobs).length)
  })

  it('batcher: computes the recorded commitments and proofs of blobs', async () => {
    await using thread = new KzgThread()
    for (const [hash, recorded] of Object.entries(blobs).slice(0, 4)) {
      const blob = encodeBlob(blobOf(recorded.data) ?? new Uint8Array(0))
      const { commitment, proofs } = await thread.prove(blob, 'blobs')
      const own = recorded as unknown as { commitment: string; proof: string }
      expect([toHex(commitment), proofs.map(toHex)]).toEqual([own.commitment, [own.proof]])
      expect(toHex(versionedHashOfBlob(blob) ?? new Uint8Array(0))).toBe(hash)
    }
  }, 60_000)
})
