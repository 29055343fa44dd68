import { u64Bytes, u64FromBytes } from '#lib/bytes'
import type { KvReader, KvWriter, Row } from '#store/ports'
import { tables } from '#store/tables'

export const accountsTable: number = tables.accounts.id
export const storageTable: number = tables.storage.id
export const codeTable: number = tables.code.id
export const accountNodesTable: number = tables.accountNodes.id
export const storageNodesTable: number = tables.storageNodes.id
export const changesTable: number = tables.changes.id
export const historyIndexTable: number = tables.historyIndex.id

const pathEnd = 0x10

/** Returns the table and key of a stored trie node. */
export function nodeKey(owner: Uint8Array | undefined, path: Uint8Array): { readonly table: number; readonly key: Uint8Array } {
  const pathAt = owner?.length ?? 0
  const key = new Uint8Array(pathAt + path.length + 1)
  if (owner) key.set(owner)
  key.set(path, pathAt)
  key[key.length - 1] = pathEnd
  return { table: owner ? storageNodesTable : accountNodesTable, key }
}

/** Returns the key of a row's change in a block. */
export function changeKey(number: number, table: number, key: Uint8Array): Uint8Array {
  const out = new Uint8Array(9 + key.length)
  out.set(u64Bytes(number))
  out[8] = table
  out.set(key, 9)
  return out
}

const absent = Uint8Array.of(0)
/** First byte of a previous value. Schema 7 has no byte for deleted rows; proofs have neither. */
const [present, replaced, deleted] = [1, 2, 3]

/** Encodes the change of a row by a block. @param isDeleted whether `changeIndex.ts` has a mark that the block deleted the row */
export function encodeChange(before: Uint8Array | undefined, isDeleted: boolean): Uint8Array {
  if (before === undefined) return absent
  const change = new Uint8Array(beforeBytes(before))
  putBefore(change, 0, before)
  change[0] = isDeleted ? deleted : replaced
  return change
}

/** Returns whether a change has a mark that its block deleted the row; undefined: schema 7 wrote it. */
export function isDeletion(change: Uint8Array): boolean | undefined {
  return change[0] === present ? undefined : change[0] === deleted
}

/** Returns the size of an encoded previous value. */
export const beforeBytes = (before: Uint8Array | undefined): number => 1 + (before?.length ?? 0)

/** Encodes a previous value in place. @param out zeros */
export function putBefore(out: Uint8Array, at: number, before: Uint8Array | undefined): void {
  if (before === undefined) return
  out[at] = present
  out.set(before, at + 1)
}

export function decodeBefore(change: Uint8Array): Uint8Array | undefined {
  const first = change[0]
  return first === replaced || first === present || first === deleted ? change.subarray(1) : undefined
}

const encoder = new TextEncoder()
const markKeys = {
  /** The block whose state the latest rows hold. */
  head: encoder.encode('state.head'),
  /** The last block that historyIndex covers with rows of schema 5. */
  indexed: encoder.encode('state.indexed'),
  /** The same block once later blocks have runs in `changeIndex.ts`; absent: no block has. */
  runs: encoder.encode('state.runs'),
  /** The oldest block whose state is available. */
  oldest: encoder.encode('state.oldest'),
  /** The oldest block whose trie nodes are available; absent: that of `oldest`. */
  oldestNodes: encoder.encode('state.oldestNodes'),
  /** The last block whose node changes are in the table of changes, written by schema 3; later ones are in `nodeHistory.ts`. */
  nodes: encoder.encode('state.nodes'),
  /** The block with which a partial state began (`partialState.ts`); absent: the state is whole. */
  partial: encoder.encode('state.partial'),
}
export type StateMark = keyof typeof markKeys

/** Returns a mark; undefined when it is absent. */
export function readMark(reader: KvReader, mark: StateMark): number | undefined {
  const value = reader.get(tables.meta.id, markKeys[mark])
  return value && u64FromBytes(value)
}

/** All marks of one snapshot. */
export type StateMarks = Readonly<Record<StateMark, number | undefined>>

export function readMarks(reader: KvReader): StateMarks {
  const marks = Object.keys(markKeys) as StateMark[]
  return Object.fromEntries(marks.map((mark) => [mark, readMark(reader, mark)])) as StateMarks
}

export function writeMark(tx: KvWriter, mark: StateMark, number: number): void {
  tx.put(tables.meta.id, markKeys[mark], u64Bytes(number))
}

export function dropMark(tx: KvWriter, mark: StateMark): void {
  tx.delete(tables.meta.id, markKeys[mark])
}

/** Rows of one version of the state. `get` returns undefined for an absent row; `range` iterates in key order. */
export interface StateRows {
  /** Returns a row of an account or a slot. */
  get(table: number, key: Uint8Array): Uint8Array | undefined
  /** Does the same without a check that an absent row is absent. */
  peek?(table: number, key: Uint8Array): Uint8Array | undefined
  /** Calls a function with the row of the trie node with a hash, as `KvReader.look`, if the latest row is that node. */
  node<T>(table: number, key: Uint8Array, hash: Uint8Array, use: (rlp: Uint8Array) => T): T | undefined
  /** Returns the same node if a later block replaced it. */
  replacedNode(table: number, key: Uint8Array, hash: Uint8Array): Uint8Array | undefined
  /** Returns the row of a trie node, of whatever hash. */
  nodeRow(table: number, key: Uint8Array): Uint8Array | undefined
  /** Iterates over the first keys that the latest state has in a range. */
  latestKeys(table: number, from: Uint8Array, to: Uint8Array | undefined, limit: number): Iterable<Uint8Array>
  range(table: number, from: Uint8Array, to: Uint8Array | undefined): Iterable<Row>
}

/** Returns the rows of the latest state. */
export function latestRows(reader: KvReader): StateRows {
  return {
    get: (table, key) => reader.get(table, key),
    peek: (table, key) => reader.peek(table, key, (value) => value.slice()),
    node: (table, key, _hash, use) => reader.look(table, key, use),
    replacedNode: () => undefined,
    nodeRow: (table, key) => reader.get(table, key),
    latestKeys: (table, from, to, limit) => reader.keys(table, { from, to, limit }),
    range: (table, from, to) => reader.range(table, { from, to }),
  }
}
