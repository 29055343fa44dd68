import { decodeFrames } from '#derive/codec/frame'
import type { BlobData } from './daBlobs.ts'
import type { InboxTransaction, L1Window, L2Window } from './daReads.ts'

/** Least, median and largest of some values. */
export type Spread = { readonly least: number; readonly median: number; readonly most: number }

/** Batches on L1 and their cost, as `basalt da --json` prints them. Wei are decimal texts. null: not known. */
export type DaFacts = {
  readonly inbox: string
  readonly batcher: string
  readonly l1: { readonly from: number; readonly to: number; readonly sec: number }
  readonly transactions: {
    readonly count: number
    readonly failed: number
    readonly withCalldata: number
    readonly withBlobs: number
    readonly blobs: number
    readonly calldataBytes: number
    /** to the inbox, but from another sender: derivation ignores them */
    readonly fromOthers: number
  }
  /** time between two of them, and since the last one until the newest L1 block */
  readonly intervalSec: Spread | null
  /** of transactions with calldata, and of blobs that were read; null: of none. malformed: transactions with calldata, and blobs */
  readonly channels: { readonly seen: number; readonly closed: number; readonly frames: number; readonly malformed: number } | null
  /** null: no beacon API is named. reason: why blobs are missing */
  readonly blobs: { readonly read: number; readonly missing: number; readonly reason: string | null } | null
  readonly fees: { readonly executionWei: string; readonly blobWei: string; readonly totalWei: string }
  /** L2 blocks that became safe, and their bytes; estimated from `measured` blocks if these are fewer */
  readonly l2: {
    readonly from: number
    readonly to: number
    readonly blocks: number
    readonly bytes: number
    readonly measured: number
  } | null
  readonly weiPerL2Byte: number | null
  readonly weiPerL2Block: number | null
  /** time of the L1 block less that of an L2 block in its batches */
  readonly delaySec: Spread | null
}

function spreadOf(values: readonly number[]): Spread | null {
  const ascending = values.toSorted((a, b) => a - b)
  const [least, median, most] = [ascending[0], ascending[ascending.length >> 1], ascending.at(-1)]
  return least === undefined || median === undefined || most === undefined ? null : { least, median, most }
}

/** Returns the data of each transaction with calldata, and of each blob that was read; undefined: malformed. */
function batcherData(transactions: readonly InboxTransaction[], blobs: BlobData | undefined): readonly (Uint8Array | undefined)[] {
  return transactions.flatMap(({ input, blobHashes }) => {
    if (blobHashes.length === 0) return [input]
    return blobHashes.filter((hash) => blobs?.byHash.has(hash)).map((hash) => blobs?.byHash.get(hash))
  })
}

function channelsOf(transactions: readonly InboxTransaction[], blobs: BlobData | undefined): DaFacts['channels'] {
  const own = batcherData(transactions, blobs)
  if (own.length === 0) return null
  const decoded = own.map((data) => (data ? decodeFrames(data) : ({ kind: 'malformed' } as const)))
  const frames = decoded.flatMap((one) => (one.kind === 'decoded' ? one.value : []))
  return {
    seen: new Set(frames.map(({ channelId }) => channelId)).size,
    closed: new Set(frames.filter(({ isLast }) => isLast).map(({ channelId }) => channelId)).size,
    frames: frames.length,
    malformed: decoded.filter(({ kind }) => kind === 'malformed').length,
  }
}

function blobsOf(transactions: readonly InboxTransaction[], blobs: BlobData | undefined): DaFacts['blobs'] {
  if (blobs === undefined) return null
  const hashes = transactions.flatMap(({ blobHashes }) => blobHashes)
  const read = hashes.filter((hash) => blobs.byHash.has(hash)).length
  return { read, missing: hashes.length - read, reason: blobs.reason ?? null }
}

const sum = (values: readonly bigint[]): bigint => values.reduce((a, b) => a + b, 0n)

/** Returns the transactions of a batcher. */
export const ownTransactions = ({ transactions }: L1Window, batcher: string): readonly InboxTransaction[] =>
  transactions.filter(({ from }) => from === batcher)

/** Returns the facts of a window. Pure. @param batcher address whose transactions count @param blobs undefined: they are not read */
export function daFacts(inbox: string, batcher: string, window: L1Window, l2: L2Window | undefined, blobs?: BlobData): DaFacts {
  const own = ownTransactions(window, batcher)
  const [execution, blob] = [sum(own.map(({ executionFee }) => executionFee)), sum(own.map(({ blobFee }) => blobFee))]
  const total = execution + blob
  const times = own.map(({ l1TimeSec }) => l1TimeSec)
  const blocks = l2 ? l2.to - l2.from + 1 : 0
  const bytes = l2 && l2.measured > 0 ? Math.round((l2.bytes / l2.measured) * blocks) : 0
  return {
    ...{ inbox, batcher },
    l1: { from: window.from, to: window.to, sec: window.sec },
    transactions: {
      count: own.length,
      failed: own.filter(({ succeeded }) => !succeeded).length,
      withCalldata: own.filter(({ blobHashes }) => blobHashes.length === 0).length,
      withBlobs: own.filter(({ blobHashes }) => blobHashes.length > 0).length,
      blobs: own.reduce((count, { blobHashes }) => count + blobHashes.length, 0),
      calldataBytes: own.reduce((count, { blobHashes, input }) => count + (blobHashes.length === 0 ? input.length : 0), 0),
      fromOthers: window.transactions.length - own.length,
    },
    intervalSec: spreadOf(times.slice(1).map((time, at) => time - (times[at] ?? time))),
    channels: channelsOf(own, blobs),
    blobs: blobsOf(own, blobs),
    fees: { executionWei: execution.toString(), blobWei: blob.toString(), totalWei: total.toString() },
    l2: l2 ? { from: l2.from, to: l2.to, blocks, bytes, measured: l2.measured } : null,
    weiPerL2Byte: bytes === 0 ? null : Number(total) / bytes,
    weiPerL2Block: blocks === 0 ? null : Number(total) / blocks,
    delaySec: spreadOf(
      (l2?.steps ?? []).flatMap(({ l1TimeSec, oldestMs, newestMs }) => [l1TimeSec - oldestMs / 1_000, l1TimeSec - newestMs / 1_000]),
    ),
  }
}
