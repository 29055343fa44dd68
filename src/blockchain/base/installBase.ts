import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { executionFault } from '#block/faults'
import { latestStateRoot, markLoadedState } from '#state/chainState'
import { beginPartialState } from '#state/fetchedState'
import { dropLoadMark } from '#state/loadMark'
import { hasRows } from '#store/keys'
import type { Kv, KvWriter } from '#store/ports'
import { putSegment, segmentFileName, writeMoved, writePruned } from '#store/segments/segmentRecords'
import { type TableSpec, tables } from '#store/tables'
import type { BlockId } from '#types/blockRef'
import { encodeHeader } from '#types/header'
import { hashTransaction } from '#types/transaction'
import type { Evidence } from '#types/trust'
import { putBaseTrust } from '../baseTrust.ts'
import { putCanonicalBlock, putGenesisId, putHeads, putLookups } from '../chainStore.ts'
import { indexLogs, pruneLogIndex } from '../logIndex/logIndex.ts'
import type { BaseBlock } from './baseBlocks.ts'
import { bodyRow, writeSegment } from './baseRows.ts'

/** Tables of the latest state. */
const latestTables = [tables.accounts, tables.storage, tables.accountNodes, tables.storageNodes]

export type BaseDeps = {
  readonly kv: Kv
  /** directory of segment files */
  readonly segmentsDir: string
  /** first block of the chain */
  readonly genesis: BlockId
  /** root node of the block's state, of which nothing else is known yet (ADR 0043); absent: the store holds the state */
  readonly rootNode?: Uint8Array
}

/**
 * Begins the chain of a store that holds the state after a block, and no block yet, with that block as head, safe and finalized. Blocks, receipts and states
 * below count as pruned. Effects, in order: 1 segment files of blocks without receipts are written, 2 one transaction writes all rows and marks, and removes
 * the mark of a load. After a kill before 2 the next start removes the files.
 * @param blocks of `verifyBaseBlocks`
 * @param trust what vouches for the last block, stored with it
 * @throws Fault BASE_BLOCK_REFUSED when the store has a block, or the state another root; DISK_FULL (retry), STORE_FAILED (fatal)
 */
export function installBase({ kv, segmentsDir, genesis, rootNode }: BaseDeps, blocks: readonly BaseBlock[], trust: Evidence): BlockId {
  const base = blocks.at(-1)
  const first = blocks[0]
  if (base === undefined || first === undefined) throw new RangeError('no base block')
  const [fromBodies, fromReceipts] = [firstWith(blocks, 'body'), firstWith(blocks, 'executed')]
  const records = [
    ...writeSegment(segmentsDir, tables.headers.id, genesis, blocks, fromReceipts, ({ header }) => encodeHeader(header)),
    ...writeSegment(segmentsDir, tables.bodies.id, genesis, blocks, fromReceipts, bodyRow),
  ]
  try {
    kv.write((tx) => {
      requireNone(tx, base, rootNode ? [tables.canonical, ...latestTables] : [tables.canonical])
      if (rootNode) beginPartialState(tx, base.number, rootNode)
      requireRoot(tx, base)
      for (const record of records) putSegment(tx, record)
      for (const block of blocks) putBlock(tx, block)
      markLoadedState(tx, base.number)
      for (const [table, from] of [
        [tables.headers, first.number],
        [tables.bodies, fromBodies],
        [tables.receipts, fromReceipts],
      ] as const) {
        writePruned(tx, table.id, from)
      }
      writeMoved(tx, fromReceipts)
      pruneLogIndex(tx, { from: fromReceipts, keys: [] })
      putGenesisId(tx, genesis)
      const id = { number: base.number, hash: base.hash }
      putHeads(tx, { unsafe: id, safe: id, finalized: id }, 0)
      putBaseTrust(tx, { ...trust, block: id })
      dropLoadMark(tx)
    })
  } catch (error) {
    for (const record of records) rmSync(join(segmentsDir, segmentFileName(record)), { force: true })
    throw error
  }
  return { number: base.number, hash: base.hash }
}

/** Throws unless tables are empty. Rows of another chain would count as rows of this one. */
function requireNone(tx: KvWriter, { number }: BaseBlock, of: readonly TableSpec[]): void {
  if (of.some(({ id }) => hasRows(tx, id)))
    throw executionFault('BASE_BLOCK_REFUSED', { number, reason: 'the directory holds another chain already' })
}

function requireRoot(tx: KvWriter, { number, header }: BaseBlock): void {
  const root = latestStateRoot(tx)
  if (root === header.stateRoot) return
  throw executionFault('BASE_BLOCK_REFUSED', { number, reason: `the state has root ${root}, expected ${header.stateRoot}` })
}

/** Returns the number of the first block that has a part; that after the last block when none has. */
function firstWith(blocks: readonly BaseBlock[], part: 'body' | 'executed'): number {
  const found = blocks.find((block) => block[part] !== undefined)
  return found?.number ?? (blocks.at(-1)?.number ?? 0) + 1
}

/** Writes the rows of a block that are not in segment files. */
function putBlock(tx: KvWriter, { number, hash, header, body, executed }: BaseBlock): void {
  if (body && executed) {
    putCanonicalBlock(tx, { header, hash, transactions: body.transactions, executed })
    indexLogs(
      tx,
      number,
      executed.map(({ receipt }) => receipt.logs),
    )
    return
  }
  putLookups(tx, { number, hash }, body?.transactions.map(hashTransaction) ?? [])
}
