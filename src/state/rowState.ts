import type { StateView } from '#evm/ports'
import { concatBytes, emptyBytes, equalBytes, padLeft } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp, RlpError } from '#lib/rlp'
import { afterPrefix } from '#store/keys'
import type { KvReader } from '#store/ports'
import { encodeLeaf } from '#trie/node'
import type { NodeSource } from '#trie/ports'
import type { Account } from '#types/account'
import { emptyCodeHash, emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import { accountOfRow, decodeAccountRow } from './account.ts'
import { stateFault } from './faults.ts'
import { accountsTable, codeTable, nodeKey, type StateRows, storageTable } from './rows.ts'
import type { WorldState } from './worldState.ts'

class RowView implements StateView {
  readonly #rows: Pick<StateRows, 'get'>
  readonly #reader: KvReader
  readonly #blockHash: (number: number) => Hash | undefined

  constructor(rows: Pick<StateRows, 'get'>, reader: KvReader, blockHash: (number: number) => Hash | undefined) {
    this.#rows = rows
    this.#reader = reader
    this.#blockHash = blockHash
  }

  account(addressKey: Uint8Array): Account | undefined {
    const row = this.#rows.get(accountsTable, addressKey)
    return row && soundAccount(addressKey, row)
  }

  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined {
    const row = this.#rows.get(storageTable, concatBytes(addressKey, slotKey))
    if (row && row.length > 32) throw stateFault('STATE_DAMAGED', { what: `slot ${toHex(slotKey)} of account ${toHex(addressKey)}` })
    return row && padLeft(row, 32)
  }

  code(codeHash: Hash): Uint8Array {
    if (codeHash === emptyCodeHash) return emptyBytes
    const code = this.#reader.get(codeTable, fromHex(codeHash))
    if (code === undefined) throw stateFault('CODE_MISSING', { hash: codeHash })
    return code
  }

  blockHash(number: number): Hash | undefined {
    return this.#blockHash(number)
  }
}

/** @throws Fault STATE_DAMAGED */
function soundAccount(addressKey: Uint8Array, row: Uint8Array): Account {
  try {
    return decodeAccountRow(row)
  } catch (error) {
    throw error instanceof RlpError ? stateFault('STATE_DAMAGED', { what: `account ${toHex(addressKey)}` }, error) : error
  }
}

/** Returns the lowest key whose path begins with these nibbles. */
export function lowestWith(path: Uint8Array): Uint8Array {
  const key = new Uint8Array((path.length + 1) >> 1)
  for (let i = 0; i < path.length; i++) key[i >> 1] = (key[i >> 1] ?? 0) | ((path[i] ?? 0) << (i & 1 ? 0 : 4))
  return key
}

/** Returns the first path after all paths with this prefix; undefined when there is none. */
export function pathAfter(path: Uint8Array): Uint8Array | undefined {
  const last = path.findLastIndex((nibble) => nibble < 15)
  if (last < 0) return undefined
  const next = path.slice(0, last + 1)
  next[last] = (next[last] ?? 0) + 1
  return next
}

/** Number of keys of the latest state that are tried before all keys that a state may have are collected. */
const fewKeys = 16

/** Trie nodes from rows. Branches and extensions have rows of their own; a leaf is built from the flat row below its path. */
class RowNodes implements NodeSource {
  readonly #rows: StateRows
  /** The hash of the node proves the row, or that there is none. */
  readonly #read: StateRows['get']

  constructor(rows: StateRows) {
    this.#rows = rows
    this.#read = rows.peek ?? ((table, key): Uint8Array | undefined => rows.get(table, key))
  }

  get(owner: Uint8Array | undefined, path: Uint8Array, hash: Uint8Array, way?: Uint8Array): Uint8Array | undefined {
    return this.look(owner, path, hash, way, (rlp) => rlp.slice())
  }

  look<T>(
    owner: Uint8Array | undefined,
    path: Uint8Array,
    hash: Uint8Array,
    way: Uint8Array | undefined,
    use: (rlp: Uint8Array) => T,
  ): T | undefined {
    const { table, key } = nodeKey(owner, path)
    const found = this.#rows.node(table, key, hash, use)
    if (found !== undefined) return found
    const rlp = (way && this.#leafOf(owner, path, hash, way)) ?? this.#rows.replacedNode(table, key, hash) ?? this.#leaf(owner, path, hash)
    return rlp && use(rlp)
  }

  /** Returns the leaf of the key if its hash matches, which is the usual case: one read instead of a search. */
  #leafOf(owner: Uint8Array | undefined, path: Uint8Array, hash: Uint8Array, key: Uint8Array): Uint8Array | undefined {
    const row = this.#read(owner ? storageTable : accountsTable, owner ? concatBytes(owner, key) : key)
    return row && this.#leafWith(owner, key, path, row, hash)
  }

  /** Returns the leaf of a row if it has the hash. */
  #leafWith(owner: Uint8Array | undefined, key: Uint8Array, path: Uint8Array, row: Uint8Array, hash: Uint8Array): Uint8Array | undefined {
    try {
      const rlp = leafRlp(owner, key, path.length, row)
      return equalBytes(keccak256(rlp), hash) ? rlp : undefined
    } catch (error) {
      if (error instanceof RlpError) return undefined // a damaged row
      throw error
    }
  }

  #leaf(owner: Uint8Array | undefined, path: Uint8Array, hash: Uint8Array): Uint8Array | undefined {
    const prefix = owner ?? emptyBytes
    const next = pathAfter(path)
    const end = next ? concatBytes(prefix, lowestWith(next)) : afterPrefix(prefix)
    const from = concatBytes(prefix, lowestWith(path))
    const table = owner ? storageTable : accountsTable
    const first = from.length > 0 ? from : Uint8Array.of(0)
    // the usual case: the latest state has the key, and few others below the path
    for (const key of this.#rows.latestKeys(table, first, end, fewKeys)) {
      const rlp = this.#leafOf(owner, path, hash, key.subarray(prefix.length))
      if (rlp !== undefined) return rlp
    }
    for (const { key, value } of this.#rows.range(table, first, end)) {
      const rlp = this.#leafWith(owner, key.subarray(prefix.length), path, value, hash)
      if (rlp !== undefined) return rlp
    }
    return undefined
  }
}

/** Encodes the leaf of a flat row at a depth in nibbles. Throws RlpError on a row that is not an account. */
export function leafRlp(owner: Uint8Array | undefined, key: Uint8Array, depth: number, row: Uint8Array): Uint8Array {
  return encodeLeaf(key, depth, owner ? encodeRlp(row) : accountOfRow(row))
}

/** Returns the root of the account trie. */
export function topHash(rows: StateRows): Hash {
  const { table, key } = nodeKey(undefined, emptyBytes)
  const top = rows.get(table, key)
  if (top) return hashFromBytes(keccak256(top))
  for (const only of rows.range(accountsTable, Uint8Array.of(0), undefined)) {
    return hashFromBytes(keccak256(leafRlp(undefined, only.key, 0, only.value)))
  }
  return emptyRoot
}

/** Creates a state that reads the given rows. */
export function rowState(rows: StateRows, reader: KvReader, blockHash: (number: number) => Hash | undefined): WorldState {
  const { peek } = rows
  const claimedView = peek && new RowView({ get: peek }, reader, blockHash)
  return { view: new RowView(rows, reader, blockHash), ...(claimedView && { claimedView }), nodes: new RowNodes(rows) }
}
