import type { StateView } from '#evm/ports'
import { concatBytes, emptyBytes, latin1, padLeft, trimLeft } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { afterPrefix } from '#store/keys'
import type { KvReader, KvWriter } from '#store/ports'
import { isLeafRlp } from '#trie/node'
import type { NodeSource } from '#trie/ports'
import type { TrieNodeChange } from '#trie/trieDiff'
import type { Tries, UpdatedState } from '#trie/tries'
import { emptyRoot, type Hash } from '#types/ids'
import type { StateDiff, StateDiffParts } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'
import { decodeAccountRow, encodeAccountRow } from './account.ts'
import { ChangedRows, dropChangedRows } from './changeIndex.ts'
import { beginDigests, readDigests } from './digests/digests.ts'
import { stateFault } from './faults.ts'
import { beginRuns, changesOf, HistoricalRows, popHistory, type RowChange } from './history.ts'
import { HistoryCache } from './historyCache.ts'
import { dropNodeChanges, NodeChanges } from './nodeHistory.ts'
import { isPartialState, partialState } from './partialState.ts'
import { rowState, topHash } from './rowState.ts'
import {
  accountNodesTable,
  accountsTable,
  changeKey,
  changesTable,
  codeTable,
  encodeChange,
  latestRows,
  nodeKey,
  readMark,
  storageNodesTable,
  storageTable,
  writeMark,
} from './rows.ts'
import { computeStateRoot } from './stateRoot.ts'
import type { WorldState } from './worldState.ts'

/** Changes of tries that a block writes: those of `computeStateRoot`. */
type WrittenTries = Pick<UpdatedState, 'storageRoots'> & { readonly nodes: Iterable<TrieNodeChange> }

/** Returns the state after the last written block. */
export function latestState(reader: KvReader, blockHash: StateView['blockHash']): WorldState {
  const state = rowState(latestRows(reader), reader, blockHash)
  return isPartialState(reader) ? partialState(state, reader) : state
}

/**
 * Returns the state after a block at or below the last one: values and trie nodes. Below `oldestProof`, reads of trie nodes throw HISTORY_PRUNED.
 * @param cache shared by the states on one snapshot
 * @throws Fault HISTORY_PRUNED when the block's changes are pruned; RangeError above the last block
 */
export function stateAt(
  reader: KvReader,
  number: number,
  blockHash: StateView['blockHash'],
  cache: HistoryCache = new HistoryCache(),
): WorldState {
  const { head = 0, oldest = 0, oldestNodes: nodesFrom = 0, partial } = cache.marks(reader)
  if (number > head) throw new RangeError(`state of block ${number}: the last one is ${head}`)
  if (number < oldest) throw stateFault('HISTORY_PRUNED', { what: 'state', number, oldest })
  if (number === head) return latestState(reader, blockHash)
  const rows = rowState(new HistoricalRows(reader, number, head, cache), reader, blockHash)
  const state = partial === undefined ? rows : partialState(rows, reader)
  const oldestNodes = Math.max(oldest, nodesFrom)
  return number < oldestNodes ? { ...state, nodes: prunedNodes(number, oldestNodes) } : state
}

function prunedNodes(number: number, oldest: number): NodeSource {
  return {
    get(): never {
      throw stateFault('HISTORY_PRUNED', { number, oldest, what: 'trie nodes' })
    },
  }
}

/** Returns the number of the oldest block whose state is available. */
export function oldestState(reader: KvReader): number {
  return readMark(reader, 'oldest') ?? 0
}

/** Returns the number of the oldest block whose trie nodes are available too, so that its accounts and slots can be proved. */
export function oldestProof(reader: KvReader): number {
  return Math.max(oldestState(reader), readMark(reader, 'oldestNodes') ?? 0)
}

/** Receives a row that is written, with its values before and after the write; lent during the call. A wiped row may be written again. */
export type RowListener = (table: number, key: Uint8Array, before: Uint8Array | undefined, after: Uint8Array | undefined) => void

/** Writes rows of the state, and records each row's value before the block once. The state root of the block proves which rows there were. */
class RowWriter {
  readonly #tx: KvWriter
  readonly #onRow: RowListener | undefined
  /** undefined: no previous values are recorded. */
  readonly #number: number | undefined
  readonly #nodes: NodeChanges | undefined
  readonly #changed: ChangedRows | undefined
  /** Rows of wiped accounts that are recorded already. */
  readonly #noted = new Set<string>()

  constructor(tx: KvWriter, number: number | undefined, onRow?: RowListener) {
    this.#tx = tx
    this.#onRow = onRow
    this.#number = number
    if (number === undefined) return
    const digest = readDigests(tx).at(number)
    this.#nodes = new NodeChanges(number, digest)
    this.#changed = new ChangedRows(number, digest)
  }

  set(table: number, key: Uint8Array, value: Uint8Array | undefined): void {
    const wasThere = this.#tx.peek(table, key, (before) => this.#note(table, key, before, value) ?? true)
    if (wasThere === undefined) {
      if (value === undefined) return
      this.#note(table, key, undefined, value)
    }
    if (value === undefined) this.#tx.delete(table, key)
    else this.#tx.put(table, key, value)
  }

  /** Removes every row whose key begins with the prefix. */
  wipe(table: number, prefix: Uint8Array): void {
    for (const { key, value } of this.#tx.range(table, { from: prefix, to: afterPrefix(prefix) })) {
      this.#note(table, key, value, undefined)
      this.#noted.add(nameOf(table, key))
      this.#tx.delete(table, key)
    }
  }

  /** Writes the recorded nodes, and the index of the recorded values. */
  end(): void {
    this.#nodes?.writeTo(this.#tx)
    this.#changed?.writeTo(this.#tx)
  }

  #note(table: number, key: Uint8Array, before: Uint8Array | undefined, after: Uint8Array | undefined): void {
    this.#onRow?.(table, key, before, after)
    if (this.#number === undefined || (this.#noted.size > 0 && this.#noted.has(nameOf(table, key)))) return
    if (table === accountNodesTable || table === storageNodesTable) {
      this.#nodes?.add(table, key, before, after)
      return
    }
    const isDeleted = before !== undefined && after === undefined
    this.#tx.put(changesTable, changeKey(this.#number, table, key), encodeChange(before, isDeleted))
    this.#changed?.add(this.#tx, { table, key }, isDeleted)
  }
}

const nameOf = (table: number, key: Uint8Array): string => `${table}:${latin1(key)}`

/** Name of the account trie among those of the storage tries, which are their accounts' keys. */
const accountTrie = ''

/**
 * Writes the changed nodes of tries, except leaves.
 * @param shrunk tries that lost keys. In any other trie a new leaf's place had no row: a branch or an extension there had two keys, and still has them
 */
function applyNodes(rows: RowWriter, nodes: WrittenTries['nodes'], shrunk: ReadonlySet<string>): void {
  let trie: Uint8Array | undefined
  let mayLoseNodes = shrunk.has(accountTrie)
  for (const { owner, path, node } of nodes) {
    if (owner !== trie) mayLoseNodes = shrunk.has(owner ? toHex(owner) : accountTrie)
    trie = owner
    const isLeaf = node !== null && isLeafRlp(node)
    if (isLeaf && !mayLoseNodes) continue
    const { table, key } = nodeKey(owner, path)
    rows.set(table, key, node === null || isLeaf ? undefined : node)
  }
}

function applyDiff(tx: KvWriter, rows: RowWriter, diff: StateDiff, { nodes, storageRoots }: WrittenTries): void {
  const rootsLeft = new Map(storageRoots)
  const shrunk = new Set<string>()
  for (const { key, change, wiped } of diff.accounts()) {
    if (wiped) {
      rows.wipe(storageTable, key)
      rows.wipe(storageNodesTable, key)
    }
    if (change === null) shrunk.add(accountTrie)
    const name = toHex(key)
    const storageRoot = rootsLeft.get(name) ?? emptyRoot
    rootsLeft.delete(name)
    rows.set(accountsTable, key, change === null ? undefined : encodeAccountRow({ ...change, storageRoot }))
  }
  for (const [name, storageRoot] of rootsLeft) {
    const key = fromHex(name)
    const row = tx.get(accountsTable, key)
    if (row) rows.set(accountsTable, key, encodeAccountRow({ ...decodeAccountRow(row), storageRoot }))
  }
  for (const { addressKey, slotKey, value } of diff.slots()) {
    const scalar = trimLeft(value)
    if (scalar.length === 0) shrunk.add(toHex(addressKey))
    rows.set(storageTable, concatBytes(addressKey, slotKey), scalar.length > 0 ? scalar : undefined)
  }
  applyNodes(rows, nodes, shrunk)
  for (const { hash, code } of diff.codes()) {
    const key = fromHex(hash)
    if (!tx.peek(codeTable, key, () => true)) tx.put(codeTable, key, code)
  }
}

/**
 * Writes a block's outcome as the latest state and records the replaced values.
 * @param number the last block's number plus one
 * @param result of `computeStateRoot` for this diff on the latest state
 */
export function writeState(tx: KvWriter, number: number, diff: StateDiff, result: WrittenTries): void {
  const head = readMark(tx, 'head')
  if (head !== number - 1) throw new RangeError(`state of block ${number} on that of block ${head}`)
  // node changes of an earlier version stay in the table of changes
  if (readMark(tx, 'nodes') === undefined) writeMark(tx, 'nodes', head)
  beginRuns(tx)
  beginDigests(tx, number)
  const rows = new RowWriter(tx, number)
  applyDiff(tx, rows, diff, result)
  rows.end()
  writeMark(tx, 'head', number)
}

/** Writes the genesis state of a chain into empty tables. */
export function writeGenesis(tx: KvWriter, diff: StateDiff, result: WrittenTries, number = 0): void {
  if (readMark(tx, 'head') !== undefined) throw new RangeError('a genesis state on another state')
  applyDiff(tx, new RowWriter(tx, undefined), diff, result)
  markLoadedState(tx, number)
}

/** Marks the loaded rows as the state of a block, the oldest one available. */
export function markLoadedState(tx: KvWriter, number: number): void {
  for (const mark of ['head', 'indexed', 'runs', 'oldest', 'nodes'] as const) writeMark(tx, mark, number)
  beginDigests(tx, 0)
}

/**
 * Undoes the last block: restores every value, and computes the trie nodes anew from the values. Codes stay.
 * @throws Fault HISTORY_PRUNED when the block's changes are pruned; RangeError when it is not the last block
 */
export function unwindState(tx: KvWriter, number: number): void {
  const head = readMark(tx, 'head')
  if (head !== number) throw new RangeError(`unwind of block ${number}: the last one is ${head}`)
  const oldest = oldestState(tx)
  if (number <= oldest) throw stateFault('HISTORY_PRUNED', { what: 'state', number: number - 1, oldest })
  const changes = [...changesOf(tx, number)]
  if (number <= (readMark(tx, 'nodes') ?? head)) restoreRows(tx, changes)
  else restoreValues(tx, changes)
  for (const { table, key } of changes) {
    tx.delete(changesTable, changeKey(number, table, key))
  }
  unindex(tx, number, changes)
  dropNodeChanges(tx, number)
  if ((readMark(tx, 'nodes') ?? 0) >= number) writeMark(tx, 'nodes', number - 1)
  writeMark(tx, 'head', number - 1)
}

/** Removes a block that is unwound from the index. */
function unindex(tx: KvWriter, number: number, changes: readonly RowChange[]): void {
  const runs = readMark(tx, 'runs')
  if (number <= (runs ?? readMark(tx, 'indexed') ?? 0)) {
    for (const { table, key } of changes) popHistory(tx, table, key)
    writeMark(tx, 'indexed', number - 1)
    if (runs !== undefined) writeMark(tx, 'runs', number - 1)
  }
  if (runs !== undefined) dropChangedRows(tx, number, changes)
}

/** Restores the rows of a block whose changes include those of nodes. */
function restoreRows(tx: KvWriter, changes: readonly RowChange[]): void {
  for (const { table, key, before } of changes) {
    if (before === undefined) tx.delete(table, key)
    else tx.put(table, key, before)
  }
}

/**
 * Restores accounts and slots as they were before the block of the latest rows, and the nodes of their tries.
 * @param onRow called with each row that is written
 * @param tries with a cache for a caller that undoes block after block
 * @returns the state root
 * @throws as `computeStateRoot`
 */
export function restoreValues(tx: KvWriter, changes: readonly RowChange[], onRow?: RowListener, tries?: Tries): Hash {
  const diff = undoDiff(changes)
  const { nodes } = latestState(tx, () => undefined)
  const undone = computeStateRoot(nodes, latestStateRoot(tx), diff, tries)
  applyDiff(tx, new RowWriter(tx, undefined, onRow), diff, undone)
  return undone.root
}

/** Returns the diff from the state after a block to the state before it. */
export function undoDiff(changes: readonly RowChange[]): StateDiff {
  const accounts: StateDiffParts['accounts'][number][] = []
  const slots: StateDiffParts['slots'][number][] = []
  const created = new Set<string>()
  for (const { table, key, before } of changes) {
    if (table !== accountsTable) continue
    if (before === undefined) created.add(latin1(key))
    accounts.push({ key, change: before ? decodeAccountRow(before) : null, wiped: before === undefined })
  }
  for (const { table, key, before } of changes) {
    if (table !== storageTable || created.has(latin1(key.subarray(0, 32)))) continue
    slots.push({ addressKey: key.subarray(0, 32), slotKey: key.subarray(32), value: padLeft(before ?? emptyBytes, 32) })
  }
  return createStateDiff({ accounts, slots, codes: [] })
}

/** Returns the root of the latest state, computed from its root node. It must equal the state root in the block's header. */
export function latestStateRoot(reader: KvReader): Hash {
  return topHash(latestRows(reader))
}
