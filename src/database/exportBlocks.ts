import { payloadOfBlock } from '#block/execution/payloadBlock'
import { readBlock, readCanonicalHash, readGenesisId, readHead } from '#blockchain/chainStore'
import { encodePayload } from '#engine/payloadJson'
import type { Clock } from '#lib/clock'
import type { KvReader, SnapshotSource } from '#store/ports'
import { readPruned } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import { orderedRoot } from '#trie/orderedRoot'
import type { BlockId } from '#types/blockRef'
import { hashHeader } from '#types/header'
import type { Hash } from '#types/ids'
import { databaseFault } from './faults.ts'
import { openChain } from './openChain.ts'

/** Bounds of the reads from one snapshot: time, and characters of lines. The lines are written without a snapshot, because a reader may be slow. */
const [snapshotMs, pieceChars] = [1_000, 8 * 2 ** 20]

export type ExportDeps = {
  readonly clock: Pick<Clock, 'elapsedMs'>
  readonly signal: AbortSignal
  /** Writes text with a line end, and waits until there is room for more. */
  write(text: string): Promise<void>
  /** Blocks written so far, and how many there will be. */
  onProgress(blocks: number, ofBlocks: number): void
}

/** Numbers of the first and the last block; by default the first after the genesis whose header and body are stored, and the head. */
export type ExportRange = { readonly from?: number | undefined; readonly to?: number | undefined }

export type ExportResult = {
  /** False after an interruption. */
  readonly done: boolean
  readonly first: number
  readonly blocks: number
  /** The last written block; undefined after an interruption before the first. */
  readonly last: BlockId | undefined
}

/**
 * Writes canonical blocks as the lines that `basalt import` reads: `{"p": execution payload, "root": parent beacon block root}`. Each block is verified
 * against its hash, its transactions root and its parent. A node may run meanwhile.
 * @throws Fault DATABASE_MISSING, DATABASE_EMPTY, DATADIR_DAMAGED, SCHEMA_NEWER, EXPORT_RANGE, BLOCK_DAMAGED, EXPORT_REORGED; errors of `write`
 */
export async function exportBlocks(deps: ExportDeps, datadir: string, range: ExportRange): Promise<ExportResult> {
  await using source = await openChain(datadir)
  const { from, to } = boundsOf(source, range)
  let last: BlockId | undefined
  for (let number = from; number <= to && !deps.signal.aborted; ) {
    const piece = readPiece(source, deps.clock, { number, to, parent: last?.hash })
    await deps.write(piece.text)
    last = piece.last
    number = last.number + 1
    deps.onProgress(number - from, to - from + 1)
  }
  return { done: last?.number === to, first: from, blocks: last ? last.number - from + 1 : 0, last }
}

function boundsOf(source: SnapshotSource, range: ExportRange): { readonly from: number; readonly to: number } {
  using reader = source.snapshot()
  const stored = [tables.headers, tables.bodies].map(({ id }) => readPruned(reader, id))
  const first = Math.max((readGenesisId(reader)?.number ?? 0) + 1, ...stored)
  const head = readHead(reader)?.number ?? 0
  const { from = first, to = head } = range
  if (from < first || to > head || from > to) throw databaseFault('EXPORT_RANGE', { from, to, first, head })
  return { from, to }
}

/** Reads blocks from one snapshot. @param parent hash of the block before the first, if known */
function readPiece(
  source: SnapshotSource,
  clock: ExportDeps['clock'],
  { number, to, parent }: { readonly number: number; readonly to: number; readonly parent: Hash | undefined },
): { readonly text: string; readonly last: BlockId } {
  const untilMs = clock.elapsedMs() + snapshotMs
  using reader = source.snapshot()
  let last = readLine(reader, number, parent)
  let text = last.line
  while (last.number < to && text.length < pieceChars && clock.elapsedMs() < untilMs) {
    last = readLine(reader, last.number + 1, last.hash)
    text += last.line
  }
  return { text, last: { number: last.number, hash: last.hash } }
}

function readLine(reader: KvReader, number: number, parent: Hash | undefined): BlockId & { readonly line: string } {
  // a reorg to a shorter chain since the bounds were read
  if (number > (readHead(reader)?.number ?? 0)) throw databaseFault('EXPORT_REORGED', { number })
  const hash = readCanonicalHash(reader, number)
  const block = hash && readBlock(reader, { number, hash })
  if (hash === undefined || block === undefined) throw databaseFault('BLOCK_DAMAGED', { number, reason: 'it has no rows' })
  if (hashHeader(block.header) !== hash) throw databaseFault('BLOCK_DAMAGED', { number, reason: 'its header has another hash' })
  if (orderedRoot(block.transactions) !== block.header.transactionsRoot)
    throw databaseFault('BLOCK_DAMAGED', { number, reason: 'its transactions have another root' })
  if (parent !== undefined && block.header.parentHash !== parent) throw databaseFault('EXPORT_REORGED', { number })
  const payload = payloadOfBlock(block, hash)
  return { number, hash, line: `${JSON.stringify({ p: encodePayload(payload), root: payload.parentBeaconBlockRoot })}\n` }
}
