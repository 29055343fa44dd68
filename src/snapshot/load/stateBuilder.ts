import { compareBytes, emptyBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { decodeRlp, encodeRlp, type RlpItem, rlpBigint, rlpBytes, rlpList, rlpScalar } from '#lib/rlp'
import { accountNodesTable, accountsTable, codeTable, nodeRow, storageNodesTable, storageTable } from '#state/rows'
import type { NodeRef } from '#trie/node'
import { SortedTrie } from '#trie/sortedTrie'
import { emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import { snapshotFault } from '../faults.ts'

/** Receives rows of the chain's tables. Key and value are valid during the call. */
export type RowSink = (table: number, key: Uint8Array, value: Uint8Array) => void

/** What has been built: numbers of rows, and the bytes of keys and values of accounts, slots and codes. */
export type BuiltCounts = { readonly accounts: number; readonly slots: number; readonly codes: number; readonly bytes: number }

/** The last account and the last slot in it that were added. */
export type BuiltPosition = { readonly account: Uint8Array; readonly slot: Uint8Array | undefined }

/** An account whose slots may still follow. */
type OpenAccount = { readonly key: Uint8Array; readonly nonce: bigint; readonly balance: bigint; readonly codeHash: Uint8Array }

const noRoot = fromHex(emptyRoot)
const noCode = fromHex(emptyCodeHash)
/** Longest code, above every fork's limit. */
export const maxCodeBytes: number = 2 ** 20

const damaged = (what: string): Error => snapshotFault('STATE_UNSORTED', { what })

/**
 * Builds all rows of a state from its sorted accounts and slots: flat rows, codes, trie nodes. Synchronous; memory: two paths of tries. The order of rows
 * is ascending in each table.
 */
export class StateBuilder {
  readonly #put: RowSink
  readonly #accounts: SortedTrie
  readonly #slots: SortedTrie
  #open: OpenAccount | undefined
  #lastSlot: Uint8Array | undefined
  /** whether the open account is ended */
  #isEnded = true
  /** root of slots of the open account that are not added */
  #presetRoot: Uint8Array | undefined
  /** whether the open account has slots */
  #hasSlots = false
  readonly #slotKey = new Uint8Array(64)
  #counts = { accounts: 0, slots: 0, codes: 0, bytes: 0 }

  constructor(put: RowSink) {
    this.#put = put
    this.#accounts = new SortedTrie((path, node) => put(accountNodesTable, nodeRow(undefined, path).key, node))
    this.#slots = new SortedTrie((path, node) => put(storageNodesTable, nodeRow(this.#open?.key, path).key, node))
  }

  get counts(): BuiltCounts {
    return { ...this.#counts }
  }

  /** undefined before the first account */
  get position(): BuiltPosition | undefined {
    return this.#open && { account: this.#open.key, slot: this.#lastSlot }
  }

  /** Adds a code. @returns its hash */
  code(code: Uint8Array): Uint8Array {
    if (code.length === 0 || code.length > maxCodeBytes) throw damaged(`a code of ${code.length} bytes`)
    const hash = keccak256(code)
    this.#put(codeTable, hash, code)
    this.#counts.codes++
    this.#counts.bytes += 32 + code.length
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
    const last = this.#open
    if (last && compareBytes(key, last.key) <= 0) throw damaged(`account ${toHex(key)} follows ${toHex(last.key)}`)
    this.endAccount()
    this.#open = { key: new Uint8Array(key), nonce, balance, codeHash: codeHash ? new Uint8Array(codeHash) : noCode }
    this.#lastSlot = undefined
    this.#hasSlots = false
    this.#isEnded = false
  }

  /** Gives the open account a storage root without its slots, so that the account trie can be computed alone. */
  presetStorageRoot(root: Uint8Array): void {
    this.#presetRoot = new Uint8Array(root)
  }

  /**
   * Adds a slot of the last account.
   * @param key keccak(slot), above the account's earlier keys
   * @param value without leading zeros, at least one byte
   * @throws Fault STATE_UNSORTED (fatal)
   */
  slot(key: Uint8Array, value: Uint8Array): void {
    const open = this.#open
    if (open === undefined || this.#isEnded) throw damaged(`slot ${toHex(key)} without an account`)
    if (key.length !== 32 || value.length === 0 || value.length > 32 || value[0] === 0) {
      throw damaged(`slot ${toHex(key)} of account ${toHex(open.key)} has a value of ${value.length} bytes`)
    }
    if (this.#lastSlot && compareBytes(key, this.#lastSlot) <= 0) throw damaged(`slot ${toHex(key)} follows ${toHex(this.#lastSlot)}`)
    this.#slotKey.set(open.key)
    this.#slotKey.set(key, 32)
    this.#put(storageTable, this.#slotKey, value)
    this.#slots.add(key, encodeRlp(value))
    this.#lastSlot = new Uint8Array(key)
    this.#hasSlots = true
    this.#counts.slots++
    this.#counts.bytes += 64 + value.length
  }

  /** Ends the last account. @returns the root of its storage; undefined when no account is open */
  endAccount(): Uint8Array | undefined {
    const open = this.#open
    if (open === undefined || this.#isEnded) return undefined
    const { key, nonce, balance, codeHash } = open
    const storageRoot = this.#hasSlots ? fromHex(this.#slots.end()) : (this.#presetRoot ?? noRoot)
    const [storageItem, codeItem] = [
      compareBytes(storageRoot, noRoot) === 0 ? emptyBytes : storageRoot,
      compareBytes(codeHash, noCode) === 0 ? emptyBytes : codeHash,
    ]
    const scalars = [rlpScalar(nonce), rlpScalar(balance)]
    const row = encodeRlp([...scalars, storageItem, codeItem])
    this.#put(accountsTable, key, row)
    this.#accounts.add(key, encodeRlp([...scalars, storageRoot, codeHash]))
    this.#isEnded = true
    this.#presetRoot = undefined
    this.#counts.accounts++
    this.#counts.bytes += 32 + row.length
    return storageRoot
  }

  /** Ends the last account and seals the part of the account trie with its first nibbles. @see SortedTrie.seal */
  sealAccounts(depth: number): NodeRef {
    this.endAccount()
    return this.#accounts.seal(depth)
  }

  /** Seals the part of the open account's storage trie with the first nibbles of its last slot. @see SortedTrie.seal */
  sealSlots(depth: number): NodeRef {
    return this.#slots.seal(depth)
  }

  /** Ends the last account and the account trie. @returns the state root */
  end(): Hash {
    this.endAccount()
    return this.#accounts.end()
  }

  /** Returns what `restore` continues from. */
  save(): Uint8Array {
    const { accounts, slots, codes, bytes } = this.#counts
    const counts = [accounts, slots, codes, bytes].map((count) => rlpScalar(BigInt(count)))
    const open = this.#open
    const account: RlpItem[] = open
      ? [
          open.key,
          rlpScalar(open.nonce),
          rlpScalar(open.balance),
          open.codeHash,
          Uint8Array.of(this.#isEnded ? 1 : 0),
          this.#lastSlot ?? emptyBytes,
        ]
      : []
    return encodeRlp([counts, account, this.#accounts.save(), this.#hasSlots && !this.#isEnded ? this.#slots.save() : emptyBytes])
  }

  /** Continues from an earlier builder's rows. @throws RlpError on other bytes */
  restore(state: Uint8Array): void {
    const [counts, account, accounts, slots] = rlpList(decodeRlp(state), 'builder')
    const [accountCount = 0, slotCount = 0, codes = 0, bytes = 0] = rlpList(counts, 'counts').map((count) =>
      Number(rlpBigint(count, 'count')),
    )
    this.#counts = { accounts: accountCount, slots: slotCount, codes, bytes }
    const [key, nonce, balance, codeHash, ended, lastSlot] = rlpList(account, 'account')
    if (key) {
      const parts = { nonce: rlpBigint(nonce, 'nonce', 8), balance: rlpBigint(balance, 'balance') }
      this.#open = { key: rlpBytes(key, 'key').slice(), ...parts, codeHash: rlpBytes(codeHash, 'code hash').slice() }
      this.#isEnded = rlpBytes(ended, 'ended')[0] === 1
      const last = rlpBytes(lastSlot, 'slot').slice()
      this.#lastSlot = last.length > 0 ? last : undefined
    }
    this.#accounts.restore(rlpBytes(accounts, 'trie'))
    const slotTrie = rlpBytes(slots, 'trie')
    this.#hasSlots = slotTrie.length > 0
    if (this.#hasSlots) this.#slots.restore(slotTrie)
  }
}
