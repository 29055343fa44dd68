import { latin1 } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { Lru } from '#lib/lru'
import { decodeRlp, encodeRlp, rlpBytes, rlpList } from '#lib/rlp'
import { loadMarkRow, readLoadMark } from '#state/loadMark'
import { accountNodesTable, accountsTable, codeTable, storageNodesTable, storageTable } from '#state/rows'
import { BulkThread } from '#store/bulk/bulkThread'
import { packedRow } from '#store/bulk/packedRows'
import { openChainKv } from '#store/chainTables'
import { hasRows } from '#store/keys'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { tables } from '#store/tables'
import type { NodeRef } from '#trie/node'
import type { Hash } from '#types/ids'
import { snapshotFault } from '../faults.ts'
import { type BuiltCounts, type BuiltPosition, StateBuilder } from './stateBuilder.ts'

export type LoadTarget = {
  /** directory of the chain's tables: DATADIR/chain */
  readonly dir: string
  /** identity of the state, so that a load continues with the same one */
  readonly source: string
  /** command that continues an interrupted load, for the operator */
  readonly command: string
}

export type LoaderOptions = {
  /** Called after each transaction. */
  readonly onProgress?: (counts: BuiltCounts) => void
  /**
   * `automatic`: a transaction is written whenever 32 MB of rows wait. `at commit`: only by `commit`, so that rows which are not verified yet never reach
   * the store.
   */
  readonly writes?: 'automatic' | 'at commit'
}

/** Code hashes that are known to be stored. */
const knownCodes = 65_536
const ascendingTables = [accountsTable, storageTable, accountNodesTable, storageNodesTable]
const noCursor = new Uint8Array(0)

/**
 * Loads a state into an empty store: accounts in ascending order of their keys, each with its slots, and their codes before them. Rows are written in
 * transactions of some 32 MB, each with a mark of how far the load is. After a kill the loader opened next stands where the last transaction ended.
 * Until `installBase` removes the mark, no chain can be opened in the directory.
 */
export class StateLoader implements AsyncDisposable {
  readonly #target: LoadTarget
  readonly #options: LoaderOptions
  readonly #rows: BulkThread
  readonly #builder: StateBuilder
  readonly #codes = new Lru<string, true>(knownCodes)
  /** codes that no transaction has written yet */
  readonly #newCodes = new Set<string>()
  #cursor: Uint8Array

  constructor(target: LoadTarget, options: LoaderOptions, rows: BulkThread, progress: Uint8Array) {
    this.#target = target
    this.#options = options
    this.#rows = rows
    this.#builder = new StateBuilder({
      onRows: (packed): void => rows.putPacked(packed),
      hasCode: (hash): boolean => this.#hasCode(hash),
    })
    this.#cursor = noCursor
    if (progress.length > 0) {
      const [cursor, state] = rlpList(decodeRlp(progress), 'progress')
      this.#cursor = rlpBytes(cursor, 'cursor').slice()
      this.#builder.restore(rlpBytes(state, 'builder'))
    }
  }

  /** Bytes that the caller gave to the last commit; empty before the first. */
  get cursor(): Uint8Array {
    return this.#cursor
  }

  /** The last account and slot that are loaded; undefined before the first. */
  get position(): BuiltPosition | undefined {
    return this.#builder.position
  }

  get counts(): BuiltCounts {
    return this.#builder.counts
  }

  /** Whether so many rows wait that `commit` should be called. */
  get isDue(): boolean {
    return this.#rows.isDue
  }

  /** Adds a code. Codes may be added in any order, and again. @returns its hash */
  code(code: Uint8Array): Uint8Array {
    const hash = this.#builder.code(code)
    this.#newCodes.add(latin1(hash))
    this.#write()
    return hash
  }

  /**
   * Begins an account, and ends the one before it.
   * @param key keccak(address), above all earlier keys
   * @param codeHash undefined: no code; otherwise that of a code added before
   * @throws Fault STATE_UNSORTED (fatal); those of `commit`
   */
  account(key: Uint8Array, nonce: bigint, balance: bigint, codeHash: Uint8Array | undefined): void {
    if (codeHash !== undefined && !this.#hasCode(codeHash)) {
      throw snapshotFault('STATE_UNSORTED', { what: `the code ${toHex(codeHash)} of account ${toHex(key)} is missing` })
    }
    this.#builder.account(key, nonce, balance, codeHash)
    this.#write()
  }

  /**
   * Adds a slot of the last account.
   * @param key keccak(slot), above the account's earlier keys
   * @param value without leading zeros, at least one byte
   * @throws Fault STATE_UNSORTED (fatal); those of `commit`
   */
  slot(key: Uint8Array, value: Uint8Array): void {
    this.#builder.slot(key, value)
    this.#write()
  }

  /** Adds the accounts of a chunk with their slots. @see StateBuilder.addAccounts */
  addAccounts(raw: Uint8Array, from: number, prefix: Uint8Array | undefined): number | undefined {
    const stop = this.#builder.addAccounts(raw, from, prefix)
    this.#write()
    return stop
  }

  /** Adds the slots of a chunk to the last account. @see StateBuilder.addSlots */
  addSlots(raw: Uint8Array, prefix: Uint8Array | undefined): void {
    this.#builder.addSlots(raw, prefix)
    this.#write()
  }

  /** Ends the last account. @returns the root of its storage; undefined when it was ended before */
  endAccount(): Uint8Array | undefined {
    return this.#builder.endAccount()
  }

  /** Seals a part of the account trie, of which no key follows. @see StateBuilder.sealAccounts @returns the reference to it */
  sealAccounts(depth: number): NodeRef {
    return this.#builder.sealAccounts(depth)
  }

  /** Seals a part of the last account's storage trie, of which no slot follows. @see StateBuilder.sealSlots @returns the reference to it */
  sealSlots(depth: number): NodeRef {
    return this.#builder.sealSlots(depth)
  }

  /**
   * Begins to write the rows that wait, with the mark, in one transaction, after the one before it.
   * @param cursor bytes of the caller, the place at which it continues
   * @throws Fault DISK_FULL (retry) of the transaction before, which a later call writes again; STORE_FAILED (fatal)
   */
  commit(cursor: Uint8Array = this.#cursor): void {
    const { source, command } = this.#target
    this.#builder.flush()
    const mark = loadMarkRow({ source, command, progress: encodeRlp([cursor, this.#builder.save()]) })
    this.#rows.putPacked(packedRow(mark.table, mark.key, mark.value))
    this.#rows.flush()
    this.#cursor = cursor
    for (const hash of this.#newCodes) this.#codes.set(hash, true, 1)
    this.#newCodes.clear()
    this.#options.onProgress?.(this.#builder.counts)
  }

  /**
   * Writes the rest of the rows and ends the tries. May be repeated by another loader after a kill. The store still has no chain: `installBase` follows.
   * @returns the state root
   */
  end(): Hash {
    this.#builder.endAccount()
    this.commit()
    const root = this.#builder.end()
    this.#rows.flush()
    this.#rows.settle()
    return root
  }

  /** Closes the tables and removes all that was loaded: a later load begins again. */
  remove(): Promise<void> {
    return this.#rows.remove()
  }

  /** Closes the tables. Rows that were not committed are dropped. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#rows[Symbol.asyncDispose]()
  }

  #hasCode(hash: Uint8Array): boolean {
    const name = latin1(hash)
    if (this.#newCodes.has(name) || this.#codes.get(name)) return true
    if (this.#rows.get(codeTable, hash) === undefined) return false
    this.#codes.set(name, true, 1)
    return true
  }

  #write(): void {
    if (this.#rows.isDue && this.#options.writes !== 'at commit') this.commit()
  }
}

/**
 * Opens a loader on an empty directory, or on one with an interrupted load of the same state.
 * @throws Fault LOAD_INTO_CHAIN, LOAD_OF_ANOTHER (fatal), DATADIR_LOCKED and others of the store
 */
export async function openStateLoader(target: LoadTarget, options: LoaderOptions = {}): Promise<StateLoader> {
  const progress = await begin(target)
  return new StateLoader(target, options, new BulkThread(target.dir, Object.values(tables), ascendingTables), progress)
}

/** Marks the store. @returns the progress of an interrupted load */
async function begin({ dir, source, command }: LoadTarget): Promise<Uint8Array> {
  await using kv = openChainKv(dir)
  agreeOnSchema(kv, chainSchema)
  return kv.write((tx) => {
    const found = readLoadMark(tx)
    if (found && found.source !== source) {
      throw snapshotFault('LOAD_OF_ANOTHER', { dir, found: found.source, wanted: source, command: found.command })
    }
    for (const table of [tables.canonical.id, tables.accounts.id, tables.code.id]) {
      if (!found && hasRows(tx, table)) throw snapshotFault('LOAD_INTO_CHAIN', { dir })
    }
    const progress = found?.progress ?? noCursor
    const mark = loadMarkRow({ source, command, progress })
    tx.put(mark.table, mark.key, mark.value)
    return progress
  })
}
