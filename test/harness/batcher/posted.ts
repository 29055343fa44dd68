import { concatBytes } from '#lib/bytes'
import { decodeTransaction } from '#types/transaction'
import type { Batch } from '../../../src/derive/codec/batch.ts'
import { decodeBlob } from '../../../src/derive/codec/blob.ts'
import { decompressChannel, readBatches } from '../../../src/derive/codec/channel.ts'
import { decodeFrames, type Frame } from '../../../src/derive/codec/frame.ts'
import type { DeriveWorld } from '../derive/world.ts'

/** Batcher transaction that is on L1. */
export type PostedTransaction = { readonly l1: number; readonly type: number; readonly blobs: number; readonly frames: readonly Frame[] }

/** Returns the batcher transactions of the canonical L1 chain, with their frames. */
export function postedTransactions(world: DeriveWorld): PostedTransaction[] {
  return world.l1.flatMap(({ ref, transactions }) =>
    transactions.flatMap((raw) => {
      const tx = decodeTransaction(raw)
      if (tx.type === 0x7e || tx.to !== world.config.batchInbox) return []
      const datas = tx.type === 3 ? tx.blobVersionedHashes.map((hash) => blobData(world, hash)) : [tx.data]
      const frames = datas.flatMap((data) => {
        const decoded = decodeFrames(data)
        return decoded.kind === 'decoded' ? decoded.value : []
      })
      return [{ l1: ref.number, type: tx.type, blobs: tx.type === 3 ? tx.blobVersionedHashes.length : 0, frames }]
    }),
  )
}

function blobData(world: DeriveWorld, hash: Parameters<typeof world.blobs.get>[0]): Uint8Array {
  const decoded = decodeBlob(world.blobs.get(hash) ?? new Uint8Array(0))
  return decoded.kind === 'decoded' ? decoded.value : new Uint8Array(0)
}

/** Returns the batches of every channel that is complete on L1, in the order in which the channels began. */
export function postedBatches(world: DeriveWorld): Batch[][] {
  const channels = new Map<string, Frame[]>()
  for (const { frames } of postedTransactions(world)) {
    for (const frame of frames) channels.set(frame.channelId, [...(channels.get(frame.channelId) ?? []), frame])
  }
  return [...channels.values()].map((frames) => {
    const rules = { maxRlpBytes: 100_000_000, allowsBrotli: true }
    const reader = readBatches(decompressChannel(concatBytes(...frames.map(({ data }) => data)), rules), world.config.l2ChainId)
    const batches: Batch[] = []
    for (let batch = reader.next(); batch; batch = reader.next()) batches.push(batch)
    return batches
  })
}

/** Returns how many times each L2 block is on L1, by block number. */
export function postedCounts(world: DeriveWorld): Map<number, number> {
  const { genesis, blockTimeSec } = world.config
  const counts = new Map<number, number>()
  const count = (seconds: number): void => {
    const number = seconds / blockTimeSec
    counts.set(number, (counts.get(number) ?? 0) + 1)
  }
  for (const batch of postedBatches(world).flat()) {
    if (batch.kind === 'singular') count(Number(batch.timestamp) - genesis.l2TimeSec)
    else for (let at = 0; at < batch.blockCount; at++) count(Number(batch.relativeTimestamp) + at * blockTimeSec)
  }
  return counts
}

/** Returns the numbers of blocks up to `last` that are missing on L1 or on it more than once. */
export function notOnce(world: DeriveWorld, last: number): number[] {
  const counts = postedCounts(world)
  return Array.from({ length: last }, (_, at) => at + 1).filter((number) => counts.get(number) !== 1)
}
