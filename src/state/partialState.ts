import { MissingState, type StateView, type WantedState } from '#evm/ports'
import { concatBytes, emptyBytes } from '#lib/bytes'
import { isFault } from '#lib/fault'
import type { KvReader } from '#store/ports'
import { nibblesOf } from '#trie/nibbles'
import { decodeNode, type TrieNode } from '#trie/node'
import type { NodeSource } from '#trie/ports'
import { stepTo } from '#trie/readTrie'
import type { Account } from '#types/account'
import { emptyRoot, type Hash } from '#types/ids'
import { decodeAccountRow } from './account.ts'
import { stateFault } from './faults.ts'
import { lowestWith, pathAfter } from './rowState.ts'
import { accountsTable, nodeKey, readMark, storageTable } from './rows.ts'
import type { WorldState } from './worldState.ts'

/** Returns whether a store has only a part of its state. */
export function isPartialState(reader: KvReader): boolean {
  return readMark(reader, 'partial') !== undefined
}

/** @throws Fault STATE_INCOMPLETE when a store has only a part of its state */
export function requireWholeState(reader: KvReader): void {
  const anchor = readMark(reader, 'partial')
  if (anchor !== undefined) throw stateFault('STATE_INCOMPLETE', { anchor })
}

/** Returns the stored node at a path. Leaves have no rows of their own. */
export function storedNode(reader: KvReader, owner: Uint8Array | undefined, path: Uint8Array): TrieNode | undefined {
  const { table, key } = nodeKey(owner, path)
  const rlp = reader.get(table, key)
  return rlp && decodeNode(rlp)
}

/** Returns whether a row has a key that begins with a path. At a path without a stored node, it is the row of the leaf there. */
function hasRowBelow(reader: KvReader, owner: Uint8Array | undefined, path: Uint8Array): boolean {
  const prefix = nibblesOf(owner ?? emptyBytes)
  const whole = concatBytes(prefix, path)
  const next = pathAfter(whole)
  const range = { from: whole.length > 0 ? lowestWith(whole) : Uint8Array.of(0), to: next && lowestWith(next), limit: 1 }
  for (const _ of reader.keys(owner ? storageTable : accountsTable, range)) return true
  return false
}

const node = (owner: Uint8Array | undefined, path: Uint8Array): WantedState => ({ kind: 'node', owner, path })

/**
 * Returns the state that is needed to know whether a key without a row is absent; undefined: the stored nodes prove that it is absent. A path that ends at
 * an extension needs the node below it too: when an unwind removes a key that was inserted there, the two nodes join again.
 * @param wanted the key, if its path leads to a node that is not stored
 */
function unknownAt(reader: KvReader, owner: Uint8Array | undefined, key: Uint8Array, wanted: WantedState): WantedState | undefined {
  const path = nibblesOf(key)
  let depth = 0
  let at = storedNode(reader, owner, emptyBytes)
  for (;;) {
    const here = path.subarray(0, depth)
    if (at === undefined) return hasRowBelow(reader, owner, here) ? undefined : wanted
    const step = stepTo(at, path, depth)
    if (step === undefined || 'value' in step)
      return step === undefined && at.kind === 'extension' ? below(reader, owner, here, at) : undefined
    depth = step.depth
    at = step.child.length === 32 ? storedNode(reader, owner, path.subarray(0, depth)) : decodeNode(step.child)
  }
}

/** Returns the child of an extension unless it is stored. A child of an extension is a branch. */
function below(
  reader: KvReader,
  owner: Uint8Array | undefined,
  path: Uint8Array,
  extension: TrieNode & { kind: 'extension' },
): WantedState | undefined {
  const end = concatBytes(path, extension.path)
  const isStored = extension.child.length !== 32 || storedNode(reader, owner, end) !== undefined
  return isStored ? undefined : node(owner, end)
}

/** Values of a state of which only a part is stored. */
class PartialView implements StateView {
  readonly #rows: StateView
  /** latest rows: a key that is unknown there has not changed since the state began */
  readonly #reader: KvReader

  constructor(rows: StateView, reader: KvReader) {
    this.#rows = rows
    this.#reader = reader
  }

  account(addressKey: Uint8Array): Account | undefined {
    const account = this.#rows.account(addressKey)
    if (account === undefined) this.#latestAccount(addressKey)
    return account
  }

  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined {
    const value = this.#rows.slot(addressKey, slotKey)
    if (value !== undefined) return value
    const { storageRoot = emptyRoot } = this.#latestAccount(addressKey) ?? {}
    if (storageRoot === emptyRoot) return undefined
    const unknown = unknownAt(this.#reader, addressKey, slotKey, { kind: 'slot', addressKey, slotKey })
    if (unknown) throw new MissingState(unknown)
    return undefined
  }

  code(codeHash: Hash): Uint8Array {
    try {
      return this.#rows.code(codeHash)
    } catch (error) {
      throw isFault(error, 'CODE_MISSING') ? new MissingState({ kind: 'code', codeHash }) : error
    }
  }

  blockHash(number: number): Hash | undefined {
    return this.#rows.blockHash(number)
  }

  /** Returns the account in the latest state. @throws MissingState when it is unknown */
  #latestAccount(addressKey: Uint8Array): Account | undefined {
    const row = this.#reader.get(accountsTable, addressKey)
    if (row) return decodeAccountRow(row)
    const unknown = unknownAt(this.#reader, undefined, addressKey, { kind: 'account', addressKey })
    if (unknown) throw new MissingState(unknown)
    return undefined
  }
}

/** Nodes of a state of which only a part is stored. */
class PartialNodes implements NodeSource {
  readonly #rows: NodeSource

  constructor(rows: NodeSource) {
    this.#rows = rows
  }

  get(owner: Uint8Array | undefined, path: Uint8Array, hash: Uint8Array, key?: Uint8Array): Uint8Array {
    const rlp = this.#rows.get(owner, path, hash, key)
    if (rlp === undefined) throw new MissingState(node(owner, path))
    return rlp
  }
}

/**
 * Returns a retained state of a store that has only a part of it (ADR 0043). Reads of unknown parts throw MissingState; `enterFetched` adds these parts.
 *
 * A key without a row is absent if the stored nodes show that its path leaves the trie, and unknown if its path leads to a node that is not stored. A key
 * that is unknown has the same value in all retained states: execution reads a key before it writes it, and the read makes it known. So the latest rows
 * decide for each of them.
 * @param rows the state as its rows have it, without knowledge of what they lack
 */
export function partialState(rows: WorldState, reader: KvReader): WorldState {
  return { view: new PartialView(rows.view, reader), nodes: new PartialNodes(rows.nodes) }
}
