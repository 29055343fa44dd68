import { deserialize, serialize } from 'node:v8'
import type { PendingHeader } from '#block/execution/pendingHeader'
import { type PackedBytes, shareBytes, unpackBytes } from '#lib/packedBytes'
import { type ExecutedFlashblock, ExecutedFlashblocks } from '#pending/executedFlashblocks'
import type { ExecutedTransaction } from '#types/executedTransaction'
import type { FlashblockLocation, PendingBlock, PendingBlocks } from '#types/pendingBlock'
import { StateDiffTable } from '#types/stateDiffTable'
import { aloneIn, shared } from './packedBlocks.ts'

type PackedFlashblock = { readonly transactions: PackedBytes<SharedArrayBuffer>; readonly executed: Uint8Array<SharedArrayBuffer> }

/** A pending block after a flashblock: the flashblocks that the reader lacks, and the diff of the whole block. */
type PackedPendingBlock = {
  readonly location: FlashblockLocation
  readonly fields: PendingHeader
  readonly diff: SharedArrayBuffer
  /** index in the previous list of the block that this one extends; absent: all flashblocks are in `added` */
  readonly continues?: number
  readonly added: readonly PackedFlashblock[]
}

/** Pending blocks as they cross threads. Packed once for all readers: bytes are shared, not copied. */
export type PackedPending = Pick<PendingBlocks, 'freshUntilMs'> & {
  /** oldest first; a number: the unchanged block with this index in the previous list */
  readonly blocks: readonly (number | PackedPendingBlock)[]
}

/** Returns a block of a list as the class that makes all pending blocks. @throws RangeError when there is no such block */
function blockAt(pending: PendingBlocks | undefined, index: number): ExecutedFlashblocks {
  const block = pending?.blocks[index]
  if (!(block instanceof ExecutedFlashblocks)) throw new RangeError(`pending block ${index} is not known`)
  return block
}

const packFlashblock = ({ transactions, executed }: ExecutedFlashblock): PackedFlashblock => ({
  transactions: shareBytes(transactions),
  executed: shared(serialize(executed)),
})

function packBlock(now: PendingBlocks, at: number, before: PendingBlocks | undefined): number | PackedPendingBlock {
  const earlier = before?.blocks.map((_, index) => blockAt(before, index)) ?? []
  const block = blockAt(now, at)
  const same = earlier.indexOf(block)
  if (same >= 0) return same
  const { number, payloadId, index, fields, flashblocks, diff } = block
  const continued = earlier.findIndex((each) => each.flashblocks.every((flashblock, i) => flashblock === flashblocks[i]))
  const added = flashblocks.slice(earlier[continued]?.flashblocks.length ?? 0).map(packFlashblock)
  const location = { number, payloadId, index }
  return { location, fields: aloneIn(fields), diff: diff.bytes, ...(continued >= 0 && { continues: continued }), added }
}

/**
 * Packs pending blocks in O(bytes of added flashblocks).
 * @param before the pending blocks that the reader has
 */
export function packPending(before: PendingBlocks | undefined, now: PendingBlocks | undefined): PackedPending | undefined {
  if (now === undefined) return undefined
  return { freshUntilMs: now.freshUntilMs, blocks: now.blocks.map((_, at) => packBlock(now, at, before)) }
}

/** Returns the bytes that stay in memory until a message with the blocks is taken. */
export function packedPendingBytes({ blocks }: PackedPending): number {
  let bytes = 0
  for (const block of blocks) {
    if (typeof block === 'number') continue
    bytes += block.diff.byteLength
    for (const { transactions, executed } of block.added) bytes += transactions.bytes.length + executed.length
  }
  return bytes
}

/** Returns a flashblock that is unpacked on first access, once for all blocks that contain it. */
function unpackFlashblock(packed: PackedFlashblock): ExecutedFlashblock {
  let transactions: readonly Uint8Array[] | undefined
  let executed: readonly ExecutedTransaction[] | undefined
  return {
    get transactions(): readonly Uint8Array[] {
      transactions ??= unpackBytes(packed.transactions)
      return transactions
    },
    get executed(): readonly ExecutedTransaction[] {
      executed ??= deserialize(packed.executed.slice()) as readonly ExecutedTransaction[]
      return executed
    },
  }
}

/** @param before the pending blocks unpacked last */
export function unpackPending(before: PendingBlocks | undefined, { freshUntilMs, blocks }: PackedPending): PendingBlocks {
  const unpacked = blocks.map((block): PendingBlock => {
    if (typeof block === 'number') return blockAt(before, block)
    const { location, fields, diff, continues, added } = block
    const earlier = continues === undefined ? [] : blockAt(before, continues).flashblocks
    return new ExecutedFlashblocks(location, fields, [...earlier, ...added.map(unpackFlashblock)], new StateDiffTable(diff))
  })
  return Object.freeze({ blocks: Object.freeze(unpacked), freshUntilMs })
}
