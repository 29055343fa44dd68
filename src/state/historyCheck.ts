import { compareBytes, concatBytes, emptyBytes, equalBytes, u64Bytes, u64FromBytes } from '#lib/bytes'
import { errorMessage, isFault } from '#lib/fault'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { KvReader } from '#store/ports'
import type { CheckWatch } from '#store/rowCheck'
import { type TableSpec, tables } from '#store/tables'
import { isLeafRlp } from '#trie/node'
import type { UpdatedState } from '#trie/tries'
import { emptyRoot, type Hash } from '#types/ids'
import { decodeAccountRow } from './account.ts'
import { oldestProof, oldestState, stateAt, undoDiff } from './chainState.ts'
import { damagedSlices, firstRunKey, isMarkedDeleted, mayExist } from './changeIndex.ts'
import { changesOf, HistoricalRows, isIndexed, openEnd, type RowChange } from './history.ts'
import { HistoryCache } from './historyCache.ts'
import { blockRowKey, damagedSegment, isBlockRowWhole, segmentBounds } from './nodeHistory.ts'
import { accountsTable, changeKey, changesTable, nodeKey, readMark, storageTable } from './rows.ts'
import { computeStateRoot } from './stateRoot.ts'

/** Length of a key of a row whose previous values are recorded. */
const keyLengths: ReadonlyMap<number, number> = new Map([
  [accountsTable, 32],
  [storageTable, 64],
])

/** State roots of a block and of its parent, as their headers name them. */
export type RootsAt = { readonly root: Hash; readonly parentRoot: Hash }

/**
 * Checks the history that undoes a block, above the oldest state with trie nodes: its previous values lead to the state root of the parent, its previous
 * trie nodes are those of the parent's state, and both have their places in the indices. Relies on the rows of later blocks and on the latest state.
 */
export function checkUndo(reader: KvReader, number: number, roots: RootsAt, report: CheckWatch['report']): void {
  const check = new UndoCheck(reader, number, report)
  check.run(roots)
}

/** Checks the previous values of a block whose trie nodes are pruned: their keys, and their places in the index. */
export function checkChanges(reader: KvReader, number: number, report: CheckWatch['report']): void {
  new UndoCheck(reader, number, report).soundChanges()
}

class UndoCheck {
  readonly #reader: KvReader
  readonly #number: number
  readonly #report: CheckWatch['report']

  constructor(reader: KvReader, number: number, report: CheckWatch['report']) {
    this.#reader = reader
    this.#number = number
    this.#report = report
  }

  run(roots: RootsAt): void {
    this.#checkSegment()
    if (!isBlockRowWhole(this.#reader, this.#number)) {
      this.#differs(tables.nodeHistory, blockRowKey(this.#number), 'a row with ascending digests and ends', 'another row')
      return
    }
    const changes = this.soundChanges()
    try {
      const undone = this.#undo(changes, roots)
      if (undone) this.#checkNodes(undone)
    } catch (error) {
      if (isFault(error, 'STORE_DAMAGED')) throw error
      const expected = `trie nodes of block ${this.#number} that can be read`
      this.#differs(tables.nodeHistory, blockRowKey(this.#number), expected, errorMessage(error))
    }
  }

  /** Checks the changes and their places in the index. @returns those with sound keys */
  soundChanges(): RowChange[] {
    const all = [...changesOf(this.#reader, this.#number)]
    this.#checkRuns(all)
    return all.filter((change) => this.#isSound(change))
  }

  /** Checks the key of a change and its place in the index. Changes of nodes are those of an earlier schema. */
  #isSound({ table, key }: RowChange): boolean {
    const at = changeKey(this.#number, table, key)
    const isNode = table === tables.accountNodes.id || table === tables.storageNodes.id
    const isKnown = isNode ? this.#number <= (readMark(this.#reader, 'nodes') ?? this.#number) : key.length === keyLengths.get(table)
    if (!isKnown) this.#differs(tables.changes, at, 'the key of an account or of a slot', 'another key')
    else if (this.#number <= oldIndexEnd(this.#reader) && !this.#isIndexed(table, key)) {
      this.#differs(
        tables.historyIndex,
        concatBytes(at.subarray(8), openEnd),
        `block ${this.#number}, which changed the row`,
        'no such block',
      )
    }
    return isKnown
  }

  /** Checks the runs of the index that were written with the block, and its marks of deleted rows. */
  #checkRuns(changes: readonly RowChange[]): void {
    const number = this.#number
    if (number <= (readMark(this.#reader, 'runs') ?? number)) return
    for (const key of damagedSlices(this.#reader, number, changes, oldestState(this.#reader))) {
      this.#differs(tables.historyIndex, key, `the rows that blocks up to ${number} changed`, 'other rows')
    }
    const after = new HistoricalRows(this.#reader, number, readMark(this.#reader, 'head') ?? number, new HistoryCache())
    for (const { table, key, before, isDeleted } of changes) {
      const isMarked = isMarkedDeleted(this.#reader, { table, key }, number)
      if (before === undefined) continue
      const at = changeKey(number, table, key)
      if ((isDeleted ?? isMarked) !== isMarked) this.#differs(tables.changes, at, isMarked ? 'a deletion' : 'no deletion', 'another change')
      if (isMarked || after.get(table, key) !== undefined) continue
      this.#differs(tables.historyIndex, at, `a mark that block ${number} deleted the row`, 'none')
    }
  }

  #isIndexed(table: number, key: Uint8Array): boolean {
    try {
      return isIndexed(this.#reader, table, key, this.#number)
    } catch (error) {
      // a damaged number may exceed the safe integers
      if (error instanceof RangeError) return false
      throw error
    }
  }

  /** Undoes the block on the state after it. @returns undefined when the result is not the parent's state */
  #undo(changes: readonly RowChange[], { root, parentRoot }: RootsAt): UpdatedState | undefined {
    const at = u64Bytes(this.#number)
    let undone: UpdatedState
    try {
      const diff = undoDiff(changes)
      const { nodes } = stateAt(this.#reader, this.#number, () => undefined)
      undone = computeStateRoot(nodes, root, diff)
    } catch (error) {
      if (isFault(error)) throw error
      this.#differs(tables.changes, at, `values before block ${this.#number}`, errorMessage(error))
      return undefined
    }
    if (undone.root !== parentRoot) {
      this.#differs(
        tables.changes,
        at,
        `values that lead to the state root ${parentRoot} of block ${this.#number - 1}`,
        `root ${undone.root}`,
      )
      return undefined
    }
    for (const { table, key, before } of changes) {
      if (table !== accountsTable || before === undefined) continue
      const expected = undone.storageRoots.get(toHex(key)) ?? emptyRoot
      const { storageRoot } = decodeAccountRow(before)
      if (storageRoot !== expected)
        this.#differs(tables.changes, changeKey(this.#number, table, key), `storage root ${expected}`, storageRoot)
    }
    return undone
  }

  /** Checks that the nodes of the parent's state that the block replaced are read back. */
  #checkNodes({ nodes }: UpdatedState): void {
    const rows = new HistoricalRows(this.#reader, this.#number - 1, readMark(this.#reader, 'head') ?? this.#number, new HistoryCache())
    for (const { owner, path, node } of nodes) {
      if (!node || isLeafRlp(node)) continue
      const { table, key } = nodeKey(owner, path)
      const hash = keccak256(node)
      const isSame = (found: Uint8Array): boolean => equalBytes(found, node)
      const replaced = (): Uint8Array | undefined => rows.replacedNode(table, key, hash)
      if (rows.node(table, key, hash, isSame) ?? isSame(replaced() ?? emptyBytes)) continue
      const expected = `the node ${toHex(hash)} of block ${this.#number - 1} at ${toHex(key)}`
      this.#differs(tables.nodeHistory, blockRowKey(this.#number), expected, 'another node')
    }
  }

  /** Checks the index of a segment at its last block. */
  #checkSegment(): void {
    const { first, last } = segmentBounds(this.#number)
    const unmoved = readMark(this.#reader, 'nodes') ?? 0
    const pruned = Math.max(oldestProof(this.#reader), unmoved)
    const key = this.#number === last ? damagedSegment(this.#reader, last, pruned) : undefined
    // a migration drops the index until it has moved the segment's first block
    const mayBeAbsent = unmoved > 0 && unmoved >= first
    if (key && !(mayBeAbsent && this.#reader.get(tables.nodeHistory.id, key) === undefined)) {
      this.#differs(tables.nodeHistory, key, `the index of the nodes of blocks ${first} to ${last}`, 'another index, or none')
    }
  }

  #differs(table: TableSpec, key: Uint8Array, expected: string, found: string): void {
    this.#report({ table: table.name, key: toHex(key), expected, found })
  }
}

/** Checks that each block in the history index changed its row. @param from first key @returns the next key; undefined at the end */
export function checkHistoryIndex(reader: KvReader, from: Uint8Array, watch: CheckWatch): Uint8Array | undefined {
  const [indexed, oldest, head] = [oldIndexEnd(reader), oldestState(reader), readMark(reader, 'head') ?? 0]
  let isFirst = true
  for (const { key, value } of reader.range(tables.historyIndex.id, { from })) {
    if (!isFirst && !watch.hasTime()) return key
    isFirst = false
    watch.onRow()
    const isOld = compareBytes(key, firstRunKey) < 0
    const problem = isOld ? chunkProblem(reader, key, value, { indexed, oldest }) : keyProblem(reader, key, head)
    if (problem) watch.report({ table: tables.historyIndex.name, key: toHex(key), ...problem })
  }
  return undefined
}

/** Returns the last block in the index of schema 5. */
const oldIndexEnd = (reader: KvReader): number => readMark(reader, 'runs') ?? readMark(reader, 'indexed') ?? 0

type Problem = { readonly expected: string; readonly found: string }

function keyProblem(reader: KvReader, key: Uint8Array, head: number): Problem | undefined {
  return mayExist(reader, key, head) ? undefined : { expected: 'a key of a run, or of a row that a block deleted', found: 'another key' }
}

function chunkProblem(
  reader: KvReader,
  key: Uint8Array,
  chunk: Uint8Array,
  { indexed, oldest }: { readonly indexed: number; readonly oldest: number },
): Problem | undefined {
  const end = key.subarray(-8)
  const isClosed = !equalBytes(end, openEnd)
  if (chunk.length === 0 || chunk.length % 8 !== 0 || (isClosed && !equalBytes(end, chunk.subarray(-8)))) {
    return { expected: 'block numbers up to that of the key', found: toHex(chunk) }
  }
  let before: Uint8Array = emptyBytes
  for (let at = 0; at < chunk.length; at += 8) {
    const bytes = chunk.subarray(at, at + 8)
    if (compareBytes(before, bytes) >= 0) return { expected: 'ascending block numbers', found: toHex(chunk) }
    before = bytes
    // a damaged number may exceed the safe integers
    if (compareBytes(bytes, u64Bytes(indexed)) > 0) return { expected: `block numbers up to ${indexed}`, found: toHex(bytes) }
    if (u64FromBytes(bytes) <= oldest) continue
    const change = concatBytes(bytes, key.subarray(0, -8))
    if (reader.look(changesTable, change, () => true)) continue
    return { expected: 'a block that changed the row', found: `block ${u64FromBytes(bytes)}` }
  }
  return undefined
}
