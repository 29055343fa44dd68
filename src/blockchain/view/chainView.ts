import type { ParentBlock } from '#block/execution/executeBlock'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import { stateAbove } from '#block/execution/stateAbove'
import { placesIn } from '#block/execution/transactionPlaces'
import type { ExecutionConfig } from '#block/executionConfig'
import { baseTimeIndex, timeMsOfBlock, timeMsWith } from '#chainspec/baseTime'
import { isActive } from '#chainspec/forks'
import { BoundedMap } from '#lib/boundedMap'
import { lazy } from '#lib/lazy'
import { oldestProof, oldestState } from '#state/chainState'
import { HistoryCache, type HistoryCaches } from '#state/historyCache'
import { createWorldReads } from '#state/worldReads'
import type { WorldState } from '#state/worldState'
import type { KvReader } from '#store/ports'
import { readPruned } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import type { BlockId } from '#types/blockRef'
import type {
  ChainBlock,
  ChainHeads,
  ChainReceipt,
  ChainView,
  FoundLog,
  LogSearch,
  ProofsStatus,
  TransactionLocation,
} from '#types/chainView'
import type { Header } from '#types/header'
import type { Hash } from '#types/ids'
import type { LogMatcher, WantedLogs } from '#types/logMatcher'
import { chainBlockOf } from '#types/pendingBlock'
import { hashTransaction } from '#types/transaction'
import type { TrustRecord } from '#types/trust'
import type { WorldReads } from '#types/worldReads'
import { readBaseTrust } from '../baseTrust.ts'
import type { BlockTree } from '../blockTree.ts'
import { type Branch, branchTo, type KnownBlocks } from '../branch.ts'
import * as store from '../chainStore.ts'
import { committedState } from '../commit/committedState.ts'
import { chainAbove, type HeadRecord, type RecordedChain } from '../heads/headRecord.ts'
import { readLogsPruned } from '../logIndex/logIndex.ts'
import { searchLogIndex } from '../logIndex/logSearch.ts'
import type { RecordedStates } from './olderStates.ts'
import { pendingReceipts, UnsealedBlocks } from './unsealedBlocks.ts'
import { executedReceipts, feesIn, receiptsInRow } from './viewedReceipts.ts'

/** The view that execution uses: it also returns states to execute on, and branches. */
export interface ExecutionView extends ChainView {
  /** Returns a block to build on, with the state after it; undefined when it is not known or its state is not retained. */
  parent(hash: Hash): ParentBlock | undefined
  /** Returns the same if a state root can be computed on the block: trie nodes are retained down to the finalized block at least. */
  provenParent(hash: Hash): ParentBlock | undefined
  /** Returns the path from the committed chain to a known block. */
  branch(tip: Hash): Branch | undefined
  readonly known: KnownBlocks
}

const idOf = ({ header, hash }: ExecutedBlock): BlockId => ({ number: header.number, hash })
const pick = ({ number, hash }: BlockId): BlockId => ({ number, hash })

function viewedHeads({ unsafe, safe, finalized }: HeadRecord['heads'], unsealed: UnsealedBlocks | undefined): ChainHeads {
  const pending = unsealed?.ids.at(-1)
  return {
    latest: pick(unsafe),
    safe: pick(safe),
    finalized: pick(finalized),
    ...(unsealed && pending && { pending, unsealed: unsealed.ids }),
  }
}

/** Bound of cached parents, and of cached hashes. Callers repeat the same blocks, and an interpreter caches reads by the state object. */
const maxKept = 256

class SnapshotView implements ExecutionView {
  readonly #parents = new BoundedMap<Hash, ParentBlock>(maxKept)
  /** by number */
  readonly #canonical = new BoundedMap<number, BlockId>(maxKept)
  readonly #cache: HistoryCache
  readonly #older: (() => RecordedStates) | undefined
  readonly #reader: KvReader & Disposable
  readonly #config: ExecutionConfig
  readonly #committed: BlockId
  readonly #base: BlockId
  readonly #overlays: readonly ExecutedBlock[]
  readonly #unsealed: UnsealedBlocks | undefined
  readonly #recent: HeadRecord['recent']
  #byHash: ReadonlyMap<Hash, ExecutedBlock> | undefined
  /** last block found by its number */
  #lastId: BlockId | undefined
  /** last block read */
  #last: ChainBlock | undefined
  readonly heads: ChainHeads
  readonly known: KnownBlocks

  constructor(
    reader: KvReader & Disposable,
    config: ExecutionConfig,
    record: HeadRecord,
    committed: BlockId,
    { base, overlays }: RecordedChain,
    { history, older, executed }: ViewSources,
  ) {
    this.#cache = new HistoryCache(history, {
      head: committed,
      hashAt: (number): Hash | undefined => store.readCanonicalHash(reader, number),
    })
    this.#reader = reader
    this.#older = older && lazy(() => older(committed, this.#cache))
    this.#config = config
    this.#committed = committed
    this.#base = base
    this.#overlays = overlays
    this.#unsealed = record.pending && new UnsealedBlocks(record.pending.blocks)
    this.#recent = record.recent
    this.heads = viewedHeads(record.heads, this.#unsealed)
    const removed = executed?.removed
    // a view that is held keeps its blocks when the tree has dropped them
    const inMemory = (hash: Hash): ExecutedBlock | undefined =>
      executed?.get(hash) ?? (executed && executed.removed === removed ? undefined : this.#overlay(hash))
    this.known = {
      executed: inMemory,
      committed: (hash): BlockId | undefined => {
        const isAbove = (inMemory(hash)?.header.number ?? 0) > committed.number
        return isAbove ? undefined : store.readBlockId(reader, hash)
      },
    }
  }

  canonicalHash(number: number): Hash | undefined {
    if (number > this.#base.number) return this.#overlays[number - this.#base.number - 1]?.hash
    const id = this.#canonical.get(number) ?? this.#readCanonical(number)
    if (id) this.#lastId = id
    return id?.hash
  }

  #readCanonical(number: number): BlockId | undefined {
    const hash = store.readCanonicalHash(this.#reader, number)
    if (hash !== undefined) this.#canonical.set(number, { number, hash })
    return hash && { number, hash }
  }

  #overlay(hash: Hash): ExecutedBlock | undefined {
    this.#byHash ??= new Map(this.#overlays.map((block) => [block.hash, block]))
    return this.#byHash.get(hash)
  }

  #stored(hash: Hash): BlockId | undefined {
    return this.#lastId?.hash === hash ? this.#lastId : store.readBlockId(this.#reader, hash)
  }

  header(hash: Hash): Header | undefined {
    const parent = this.#parents.get(hash)
    if (parent) return parent.header
    const id = this.#stored(hash)
    if (id) return store.readHeader(this.#reader, id)
    return (this.known.executed(hash) ?? this.#unsealedWith(hash)?.find(hash))?.header
  }

  /** Keeps the last block: receipts are read together with their block. */
  block(hash: Hash): ChainBlock | undefined {
    if (this.#last?.hash !== hash) this.#last = this.#readBlock(hash)
    return this.#last
  }

  #readBlock(hash: Hash): ChainBlock | undefined {
    const id = this.#stored(hash)
    if (id === undefined) {
      const executed = this.known.executed(hash)
      if (executed === undefined) return this.#pendingBlock(hash)
      // a caller that keeps the block must not keep the results of its execution alive
      const { header, transactions } = executed
      return { hash, block: { header, transactions }, senders: executed.executed.map(({ sender }) => sender) }
    }
    const header = store.readHeader(this.#reader, id)
    const transactions = store.readTransactions(this.#reader, id)
    if (header === undefined || transactions === undefined) return undefined
    const block = { header, transactions: transactions.map(({ raw }) => raw) }
    return { hash, block, senders: transactions.map(({ sender }) => sender) }
  }

  /** Returns the pending blocks, current or recent, that include a hash or id. */
  #unsealedWith(hash: Hash): UnsealedBlocks | undefined {
    if (this.#unsealed?.find(hash)) return this.#unsealed
    const blocks = this.#recent?.findLast((each) => each.some(({ id }) => id === hash))
    return blocks && new UnsealedBlocks(blocks)
  }

  #pendingBlock(hash: Hash): ChainBlock | undefined {
    const pending = this.#unsealedWith(hash)?.find(hash)
    return pending && chainBlockOf(pending)
  }

  #pendingReceipts(hash: Hash): readonly ChainReceipt[] | undefined {
    const pending = this.#unsealedWith(hash)?.find(hash)
    return pending && pendingReceipts(pending, this.#config)
  }

  receipts(hash: Hash): readonly ChainReceipt[] | undefined {
    const viewed = this.block(hash)
    if (viewed === undefined) return this.#pendingReceipts(hash)
    const feesOf = feesIn(viewed.block, this.#config)
    const row = store.readReceiptRow(this.#reader, { number: viewed.block.header.number, hash })
    if (row) return receiptsInRow(row, feesOf)
    const executed = this.known.executed(hash)
    return executed ? executedReceipts(store.storedReceipts(executed), feesOf) : this.#pendingReceipts(hash)
  }

  transaction(hash: Hash): TransactionLocation | undefined {
    for (const overlay of this.#overlays) {
      const index = placesIn(overlay).get(hash)
      if (index !== undefined) return { block: idOf(overlay), index }
    }
    const place = store.readLocation(this.#reader, hash)
    if (place === undefined || place.number > this.#base.number) return this.#unsealed?.place(hash)
    const blockHash = store.readCanonicalHash(this.#reader, place.number)
    return blockHash && { block: { number: place.number, hash: blockHash }, index: place.index }
  }

  state({ hash }: BlockId): WorldReads | undefined {
    const block = this.parent(hash)
    const unsealed = block && !this.known.executed(hash) ? this.#unsealedWith(hash) : undefined
    if (unsealed?.below) {
      const below = this.parent(unsealed.below)
      return below && unsealed.state(hash, below)
    }
    return block && createWorldReads(block.state, block.header.stateRoot)
  }

  findLogs(wanted: WantedLogs, from: number, to: number): LogSearch {
    if (from > this.#base.number) return { kind: 'unindexed', next: to + 1 }
    return searchLogIndex(this.#reader, wanted, from, Math.min(to, this.#base.number))
  }

  logsAt(number: number, indexes: readonly number[], matcher: LogMatcher): readonly FoundLog[] | undefined {
    const stored = number > this.#base.number ? undefined : store.readLogs(this.#reader, number, indexes, matcher)
    if (stored === undefined) return this.#decodedLogs(number, indexes, matcher)
    const { hash, timestamp } = stored
    const block = { hash, number, timestamp, timeMs: this.#storedTimeMs({ hash, number }, timestamp) }
    return stored.logs.map(({ log, transactionHash, transactionIndex, logIndex }) => ({
      log,
      block,
      transactionHash,
      transactionIndex,
      logIndex,
    }))
  }

  /** Returns the time of a stored Denim block in milliseconds. */
  #storedTimeMs(id: BlockId, timestamp: number): number | undefined {
    if (!isActive(this.#config.schedule, 'denim', timestamp)) return undefined
    return timeMsWith(timestamp, store.readTransaction(this.#reader, id, baseTimeIndex)?.raw)
  }

  /** Does the same as `logsAt` for a block in memory or written by schema 2. */
  #decodedLogs(number: number, indexes: readonly number[], matcher: LogMatcher): readonly FoundLog[] | undefined {
    const hash = this.canonicalHash(number)
    const viewed = hash && this.block(hash)
    const receipts = hash && this.receipts(hash)
    if (!viewed || !receipts) return undefined
    const { transactions, header } = viewed.block
    const block = { hash: viewed.hash, number, timestamp: header.timestamp, timeMs: timeMsOfBlock(viewed.block) }
    return indexes.flatMap((transactionIndex) => {
      const [raw, stored] = [transactions[transactionIndex], receipts[transactionIndex]]
      if (raw === undefined || stored === undefined) throw new RangeError(`transaction ${transactionIndex} of ${transactions.length}`)
      const transactionHash = hashTransaction(raw)
      return stored.receipt.logs.flatMap((log, at) =>
        matcher.matches(log) ? [{ log, block, transactionHash, transactionIndex, logIndex: stored.firstLogIndex + at }] : [],
      )
    })
  }

  get base(): TrustRecord {
    return readBaseTrust(this.#reader)
  }

  get oldestState(): number {
    return Math.min(oldestState(this.#reader), this.#oldestRecorded)
  }

  get oldestProof(): number {
    return Math.min(oldestProof(this.#reader), this.#oldestRecorded)
  }

  get proofs(): ProofsStatus | undefined {
    if (this.#older === undefined) return undefined
    const { window } = this.#older()
    // above the base, replaced blocks may still be recorded
    if (window === undefined || window.earliest > this.#base.number) return { window: undefined }
    return { window: { earliest: this.#idAt(window.earliest), latest: this.#idAt(Math.min(window.latest, this.#base.number)) } }
  }

  #idAt(number: number): BlockId {
    const hash = this.canonicalHash(number)
    if (hash === undefined) throw new RangeError(`block ${number} has no hash`)
    return { number, hash }
  }

  get #oldestRecorded(): number {
    return this.#older?.().window?.earliest ?? Number.POSITIVE_INFINITY
  }

  get oldestBlock(): number {
    return Math.max(...[tables.bodies, tables.receipts].map(({ id }) => readPruned(this.#reader, id)))
  }

  get oldestLogs(): number {
    return Math.max(readLogsPruned(this.#reader), this.oldestBlock)
  }

  parent(hash: Hash): ParentBlock | undefined {
    const known = this.#parents.get(hash)
    if (known) return known
    const parent = this.#readParent(hash)
    if (parent) this.#parents.set(hash, parent)
    return parent
  }

  provenParent(hash: Hash): ParentBlock | undefined {
    const ancestor = this.branch(hash)?.ancestor
    const isPruned = ancestor !== undefined && ancestor.number < Math.min(oldestProof(this.#reader), this.#committed.number)
    return isPruned ? undefined : this.parent(hash)
  }

  #readParent(hash: Hash): ParentBlock | undefined {
    const branch = this.branch(hash)
    const header = branch && this.header(hash)
    if (branch === undefined) return this.#unsealedParent(hash)
    if (header === undefined) return undefined
    const below = this.#recordedState(branch.ancestor) ?? committedState(this.#reader, this.#committed, branch.ancestor, this.#cache)
    return below && { header, hash, state: stateAbove(below, branch.ancestor, branch.blocks) }
  }

  /** Returns the recorded state after a block whose trie nodes are pruned from the chain. */
  #recordedState({ number }: BlockId): WorldState | undefined {
    if (number >= oldestProof(this.#reader)) return undefined
    const states = this.#older?.()
    if (!states?.window || number < states.window.earliest || number > states.window.latest) return undefined
    return states.at(number, (at) => (at <= number ? store.readCanonicalHash(this.#reader, at) : undefined))
  }

  #unsealedParent(hash: Hash): ParentBlock | undefined {
    const unsealed = this.#unsealedWith(hash)
    const below = unsealed?.below && this.parent(unsealed.below)
    return below && unsealed.parent(hash, below)
  }

  branch(tip: Hash): Branch | undefined {
    return branchTo(this.known, tip, { ancestor: this.#base, blocks: this.#overlays })
  }

  [Symbol.dispose](): void {
    this.#reader[Symbol.dispose]()
  }
}

/** What a view reads besides its snapshot. */
export type ViewSources = {
  /** blocks in memory, of any branch, those of the record among them; absent: those of the record */
  readonly executed?: Pick<BlockTree, 'get' | 'removed'>
  /** caches of this thread; absent: its usual ones */
  readonly history?: HistoryCaches | undefined
  /** Opens older states for the snapshot, which live as long as it. @param committed head of the snapshot */
  readonly older?: ((committed: BlockId, cache: HistoryCache) => RecordedStates) | undefined
}

/**
 * Creates a view from a record and a snapshot taken after it.
 * @returns undefined when the record is older than the snapshot: take both again
 */
export function createChainView(
  reader: KvReader & Disposable,
  config: ExecutionConfig,
  record: HeadRecord,
  sources: ViewSources = {},
): ExecutionView | undefined {
  const committed = store.readHead(reader)
  const chain = committed && chainAbove(record, committed, (number) => store.readCanonicalHash(reader, number))
  if (committed === undefined || chain === undefined) return undefined
  return new SnapshotView(reader, config, record, committed, chain, sources)
}
