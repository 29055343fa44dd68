import { readFileSync } from 'node:fs'
import { emptyBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { lazy } from '#lib/lazy'
import { decodeRlp, encodeRlp, type RlpItem, rlpBigint, rlpBytes, rlpList, rlpScalar } from '#lib/rlp'
import { accountNodesTable, accountsTable, codeTable, storageNodesTable, storageTable } from '#state/rows'
import { packedRow } from '#store/bulk/packedRows'
import type { NodeRef } from '#trie/node'
import { emptyCodeHash, type Hash, hashFromBytes } from '#types/ids'
import { snapshotFault } from '../faults.ts'
import { FormatError } from '../format/byteReader.ts'
import type { Exports } from './stateModule.ts'
import { restoreTrie, saveTrie } from './trieState.ts'

/** The used part of the global `WebAssembly`, which the Node types omit. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

/** What has been built: numbers of rows, and the bytes of keys and values of accounts, slots and codes. */
export type BuiltCounts = { readonly accounts: number; readonly slots: number; readonly codes: number; readonly bytes: number }

/** The last account and the last slot in it that were added. */
export type BuiltPosition = { readonly account: Uint8Array; readonly slot: Uint8Array | undefined }

export type BuilderOptions = {
  /** Receives rows of the chain's tables, packed as `store/bulk/packedRows.ts` describes. They are valid during the call. Absent: no rows, the roots only. */
  readonly onRows?: (rows: Uint8Array) => void
  /** No flat rows, and nodes whose path has so many nibbles at most. Default: all rows. */
  readonly nodesTo?: number
  /** Returns whether the code of an account in a chunk is known. Default: all codes are. */
  readonly hasCode?: (hash: Uint8Array) => boolean
  /** Receives the storage root of an account in a chunk whose slots are in chunks of their own. Absent: `addAccounts` stops there for the slots. */
  readonly onStorageRoot?: (key: Uint8Array, root: Uint8Array) => void
}

const noCode = fromHex(emptyCodeHash)
/** Longest code, above every fork's limit. */
export const maxCodeBytes: number = 2 ** 20

/** Results of the functions of the module, as `assembly/index.ts` numbers them. */
const [done, paused, slotChunks, unsorted, badFlags, badInteger, outside, badValue] = [0, 1, 2, 3, 4, 5, 6, 7]

const damaged = (what: string): Error => snapshotFault('STATE_UNSORTED', { what })
const compiled = lazy(() => new WebAssembly.Module(readFileSync(new URL('./state.wasm', import.meta.url))))

/**
 * Builds all rows of a state from its sorted accounts and slots: flat rows, codes, trie nodes. Synchronous. Memory: 2 MB, in which a WebAssembly module works
 * (ADR 0040). The order of rows is ascending in each table, except for codes.
 */
export class StateBuilder {
  readonly #wasm: Exports
  readonly #memory: Uint8Array
  readonly #onRows: ((rows: Uint8Array) => void) | undefined
  #codes = 0
  #codeBytes = 0

  constructor({ onRows, nodesTo, hasCode = (): boolean => true, onStorageRoot }: BuilderOptions = {}) {
    const part = (at: number): Uint8Array => this.#memory.slice(at, at + 32)
    const host = {
      hasCode: (hash: number): boolean => hasCode(part(hash)),
      storageRoot: (key: number, root: number): void => onStorageRoot?.(part(key), part(root)),
    }
    this.#onRows = onRows
    this.#wasm = new WebAssembly.Instance(compiled(), { host }).exports as Exports
    this.#memory = new Uint8Array(this.#wasm.memory.buffer)
    const [flat, nodes] = [onRows && nodesTo === undefined ? 1 : 0, onRows ? 1 : 0]
    const flatTables = [flat * accountsTable, flat * storageTable] as const
    this.#wasm.open(...flatTables, nodes * accountNodesTable, nodes * storageNodesTable, nodesTo ?? 64, onStorageRoot !== undefined)
  }

  get counts(): BuiltCounts {
    const { accounts, slots, bytes } = this.#wasm
    return { accounts: accounts.value, slots: slots.value, codes: this.#codes, bytes: bytes.value + this.#codeBytes }
  }

  /** undefined before the first account */
  get position(): BuiltPosition | undefined {
    const { hasOpen, openKey, hasSlots } = this.#wasm
    if (hasOpen.value === 0) return undefined
    return { account: this.#bytes(openKey.value, 32), slot: hasSlots.value === 0 ? undefined : this.#lastSlot() }
  }

  /** Adds a code. @returns its hash */
  code(code: Uint8Array): Uint8Array {
    if (code.length === 0 || code.length > maxCodeBytes) throw damaged(`a code of ${code.length} bytes`)
    const hash = keccak256(code)
    this.#onRows?.(packedRow(codeTable, hash, code))
    this.#codes++
    this.#codeBytes += 32 + code.length
    return hash
  }

  /**
   * Begins an account, and ends the one before it.
   * @param key keccak(address), above all earlier keys
   * @param codeHash undefined: no code
   * @throws Fault STATE_UNSORTED (fatal)
   */
  account(key: Uint8Array, nonce: bigint, balance: bigint, codeHash: Uint8Array | undefined): void {
    if (key.length !== 32) throw damaged(`an account key of ${key.length} bytes`)
    const { input, beginAccount, openCode, openNonce, openBalance } = this.#wasm
    this.#memory.set(key, input.value)
    if (beginAccount(input.value) !== done) throw damaged(`account ${toHex(key)} is not above all earlier ones`)
    this.#memory.set(codeHash ?? noCode, openCode.value)
    this.#setScalar(openNonce.value, nonce)
    this.#setScalar(openBalance.value, balance)
    this.#drain()
  }

  /** Gives the open account a storage root without its slots, so that the account trie can be computed alone. */
  presetStorageRoot(root: Uint8Array): void {
    this.#memory.set(root, this.#wasm.root.value)
    this.#wasm.presetRoot()
  }

  /**
   * Adds a slot of the last account.
   * @param key keccak(slot), above the account's earlier keys
   * @param value without leading zeros, at least one byte
   * @throws Fault STATE_UNSORTED (fatal)
   */
  slot(key: Uint8Array, value: Uint8Array): void {
    const { input, addSlot } = this.#wasm
    const at = input.value
    if (key.length !== 32 || value.length > 32) throw damaged(`slot ${toHex(key)} has a value of ${value.length} bytes`)
    this.#memory.set(key, at)
    this.#memory.set(value, at + 32)
    const result = addSlot(at, at + 32, value.length)
    if (result !== done) {
      throw damaged(
        result === badValue
          ? `slot ${toHex(key)} has a value of ${value.length} bytes`
          : `slot ${toHex(key)} is not above all earlier ones`,
      )
    }
    this.#drain()
  }

  /**
   * Adds the accounts of a chunk with their slots (`format/chunks.ts`).
   * @param from offset of the first one
   * @param prefix nibbles with which all keys must begin
   * @returns the offset after an account whose slots are in chunks of their own, which is then open; undefined when all accounts are added
   * @throws FormatError; Fault STATE_UNSORTED (fatal)
   */
  addAccounts(raw: Uint8Array, from = 0, prefix: Uint8Array = emptyBytes): number | undefined {
    const stop = this.#feed(raw, from, prefix, this.#wasm.addAccounts)
    if (stop === undefined && this.#wasm.slotsLeft.value > 0) throw new FormatError('it ends too early')
    return stop
  }

  /**
   * Adds the slots of a chunk to the open account.
   * @param prefix nibbles with which all keys must begin
   * @throws FormatError; Fault STATE_UNSORTED (fatal)
   */
  addSlots(raw: Uint8Array, prefix: Uint8Array = emptyBytes): void {
    this.#feed(raw, 0, prefix, this.#wasm.addSlots)
  }

  #feed(raw: Uint8Array, from: number, prefix: Uint8Array, add: (size: number) => number): number | undefined {
    const { input, inputBytes, used } = this.#wasm
    this.#setPrefix(prefix)
    for (let at = from; at < raw.length; ) {
      const piece = raw.subarray(at, at + inputBytes.value)
      this.#memory.set(piece, input.value)
      const result = add(piece.length)
      at += used.value
      this.#drain()
      if (result === slotChunks) return at
      if (result !== done && result !== paused) throw this.#refusal(result, input.value + used.value)
      if (used.value === 0) throw new FormatError('it ends too early')
    }
    return undefined
  }

  #refusal(result: number, at: number): Error {
    if (result === badFlags) return new FormatError(`it has an account with flags ${this.#memory[at + 32]}`)
    if (result === badInteger) return new FormatError('it has an integer of a wrong length, or with leading zeros')
    if (result === outside) return new FormatError(`it has a key outside its prefix: ${toHex(this.#bytes(at, 32))}`)
    if (result === badValue) return new FormatError(`it has a value of ${this.#memory[at + 32]} bytes`)
    const key = toHex(this.#bytes(at, 32))
    return damaged(result === unsorted ? `${key} is not above all earlier keys` : `the code of account ${key} is missing`)
  }

  #setPrefix(nibbles: Uint8Array): void {
    const { prefix, setPrefix } = this.#wasm
    const text = Buffer.from(nibbles).toString('hex').replaceAll(/0(.)/g, '$1').padEnd(64, '0')
    this.#memory.set(Buffer.from(text, 'hex'), prefix.value)
    setPrefix(nibbles.length)
  }

  /** Ends the last account. @returns the root of its storage; undefined when no account is open */
  endAccount(): Uint8Array | undefined {
    const isNow = this.#wasm.endAccount() !== 0
    this.#drain()
    return isNow ? this.#bytes(this.#wasm.root.value, 32) : undefined
  }

  /**
   * Ends the last account and finishes the part of the account trie whose keys begin with the first nibbles of its key. No later account may be in it.
   * @param depth nibbles, at least one. The node above them must be a branch of the whole trie: otherwise the result, and every later one, is wrong
   * @returns the reference to the part in that branch
   */
  sealAccounts(depth: number): NodeRef {
    this.endAccount()
    if (this.#wasm.hasOpen.value === 0) throw new RangeError('no part to seal')
    return this.#child(this.#wasm.sealAccounts(depth))
  }

  /** Finishes the part of the open account's storage trie with the first nibbles of its last slot. @see sealAccounts */
  sealSlots(depth: number): NodeRef {
    if (this.#wasm.hasSlots.value === 0) throw new RangeError('no part to seal')
    return this.#child(this.#wasm.sealSlots(depth))
  }

  /** Ends the last account and the account trie. @returns the state root */
  end(): Hash {
    this.#wasm.endState()
    this.#drain('all')
    return hashFromBytes(this.#bytes(this.#wasm.root.value, 32))
  }

  /** Hands over the rows that wait. */
  flush(): void {
    this.#drain('all')
  }

  /** Returns what `restore` continues from. The rows before must be handed over. */
  save(): Uint8Array {
    const { accounts, slots, codes, bytes } = this.counts
    const { hasOpen, isEnded, hasSlots, openKey, openCode, openNonce, openBalance, accountTrie, slotTrie } = this.#wasm
    const counts = [accounts, slots, codes, bytes].map((count) => rlpScalar(BigInt(count)))
    const isOpen = hasOpen.value !== 0
    const account: RlpItem[] = isOpen
      ? [
          this.#bytes(openKey.value, 32),
          this.#scalar(openNonce.value),
          this.#scalar(openBalance.value),
          this.#bytes(openCode.value, 32),
          Uint8Array.of(isEnded.value),
          hasSlots.value === 0 ? emptyBytes : this.#lastSlot(),
        ]
      : []
    const hasOpenSlots = isOpen && hasSlots.value !== 0 && isEnded.value === 0
    const trie = (at: number): Uint8Array => saveTrie(this.#wasm, this.#memory, at)
    return encodeRlp([counts, account, trie(accountTrie.value), hasOpenSlots ? trie(slotTrie.value) : emptyBytes])
  }

  /** Continues from an earlier builder's rows. @throws RlpError on other bytes */
  restore(state: Uint8Array): void {
    const { openKey, openCode, openNonce, openBalance, accountTrie, slotTrie } = this.#wasm
    const [counts, account, accounts, slots] = rlpList(decodeRlp(state), 'builder')
    const [accountCount = 0, slotCount = 0, codes = 0, bytes = 0] = rlpList(counts, 'counts').map((count) =>
      Number(rlpBigint(count, 'count')),
    )
    this.#codes = codes
    const [key, nonce, balance, codeHash, ended, lastSlot] = rlpList(account, 'account')
    const last = key ? rlpBytes(lastSlot, 'slot') : emptyBytes
    if (key) {
      this.#memory.set(rlpBytes(key, 'key'), openKey.value)
      this.#setScalar(openNonce.value, rlpBigint(nonce, 'nonce', 8))
      this.#setScalar(openBalance.value, rlpBigint(balance, 'balance', 32))
      this.#memory.set(rlpBytes(codeHash, 'code hash'), openCode.value)
    }
    restoreTrie(this.#wasm, this.#memory, accountTrie.value, rlpBytes(accounts, 'trie'))
    const slotState = rlpBytes(slots, 'trie')
    if (slotState.length > 0) restoreTrie(this.#wasm, this.#memory, slotTrie.value, slotState)
    else if (last.length > 0) this.#memory.set(last, slotTrie.value + this.#wasm.keyAt.value)
    const flags = [key ? 1 : 0, key ? (rlpBytes(ended, 'ended')[0] ?? 1) : 1, last.length > 0 ? 1 : 0] as const
    this.#wasm.restore(...flags, accountCount, slotCount, bytes)
  }

  /** Hands over the rows, if there are many. */
  #drain(which: 'many' | 'all' = 'many'): void {
    const { filled, rows, rowBytes, clearRows } = this.#wasm
    if (filled.value === 0 || (which === 'many' && filled.value < rowBytes.value / 2)) return
    this.#onRows?.(this.#memory.subarray(rows.value, rows.value + filled.value))
    clearRows()
  }

  #bytes(at: number, length: number): Uint8Array {
    return this.#memory.slice(at, at + length)
  }

  #child(at: number): NodeRef {
    const size = this.#memory[at] ?? 0
    return size === 33 ? this.#bytes(at + 2, 32) : this.#bytes(at + 1, size)
  }

  #lastSlot(): Uint8Array {
    return this.#bytes(this.#wasm.slotTrie.value + this.#wasm.keyAt.value, 32)
  }

  #scalar(at: number): Uint8Array {
    return this.#bytes(at + 1, this.#memory[at] ?? 0)
  }

  #setScalar(at: number, scalar: bigint): void {
    const bytes = rlpScalar(scalar)
    this.#memory[at] = bytes.length
    this.#memory.set(bytes, at + 1)
  }
}
