import type { SegmentRecord } from '#store/segments/segmentRecords'
import { SegmentWriter } from '#store/segments/segmentWriter'
import type { BlockId } from '#types/blockRef'
import type { Address } from '#types/ids'
import { encodeRow, encodeStoredTransaction } from '../chainRows.ts'
import type { BaseBlock } from './baseBlocks.ts'

/** Returns the row of a block's body; undefined: it is not known. */
export function bodyRow({ body }: BaseBlock): Uint8Array | undefined {
  return body && encodeRow(body.transactions.map((raw, index) => encodeStoredTransaction({ raw, sender: body.senders[index] as Address })))
}

/** Writes the rows of blocks before a number to a segment file, if there are any. */
export function writeSegment(
  dir: string,
  table: number,
  genesis: BlockId,
  blocks: readonly BaseBlock[],
  before: number,
  rowOf: (block: BaseBlock) => Uint8Array | undefined,
): readonly SegmentRecord[] {
  using writer = new SegmentWriter({ dir, table, genesis: genesis.hash })
  let count = 0
  for (const block of blocks) {
    const row = block.number < before ? rowOf(block) : undefined
    if (row) writer.add({ number: block.number, hash: block.hash }, row)
    if (row) count++
  }
  return count === 0 ? [] : [writer.finish()]
}
