import { u64Bytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import type { KvWriter } from '#store/ports'
import type { SegmentRecord } from '#store/segments/segmentRecords'
import { SegmentWriter } from '#store/segments/segmentWriter'
import { tables } from '#store/tables'
import type { BlockId } from '#types/blockRef'
import type { Address } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import { encodeLocation, encodeRow, encodeStoredTransaction } from '../chainRows.ts'
import type { BaseBlock } from './baseBlocks.ts'

/** Returns the row of a block's body; undefined: it is not known. */
export function bodyRow({ body }: BaseBlock): Uint8Array | undefined {
  return body && encodeRow(body.transactions.map((raw, index) => encodeStoredTransaction({ raw, sender: body.senders[index] as Address })))
}

/** Writes the rows of blocks before a number to a segment file, if there are any. */
export function segmentOf(
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

/** Writes the rows that find a block and its transactions by hash and number. */
export function putLookups(
  tx: KvWriter,
  { number, hash, body }: BlockId & { readonly body: { readonly transactions: readonly Uint8Array[] } | undefined },
): void {
  tx.put(tables.blockByHash.id, fromHex(hash), u64Bytes(number))
  tx.put(tables.canonical.id, u64Bytes(number), fromHex(hash))
  for (const [index, raw] of (body?.transactions ?? []).entries()) {
    tx.put(tables.txByHash.id, fromHex(hashTransaction(raw)), encodeLocation({ number, index }))
  }
}
