import { compareBytes, equalBytes } from '#lib/bytes'
import type { Fault } from '#lib/fault'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { Database } from '../mdbx/database.ts'
import type { RowCursor } from '../mdbx/table.ts'
import { type AccountValue, decodeAccountValue, decodeCodeValue, isStorageValue } from './stateTables.ts'

const keyBytes = 32

/** Place in the state: an account, and a slot of it. */
export type StatePlace = { readonly account: Uint8Array; readonly slot?: Uint8Array | undefined }

/**
 * Walks the state in ascending order: each account, then its slots. Keys and values are views that stay valid. What it returns is well formed, and is the
 * state of a block only if its root is that of the block's header.
 */
export class StateCursor {
  readonly #database: Database
  readonly #accounts: RowCursor
  readonly #slots: RowCursor
  /** Whether `#slots` is at a row that belongs to this account or a later one. */
  #hasSlot: boolean
  /** Whether that row was returned. */
  #isSlotTaken = false
  #account: Uint8Array | undefined

  /** @param after place of the last account or slot that is not walked; absent: walks the whole state */
  constructor(database: Database, after?: StatePlace) {
    this.#database = database
    const { account, slot } = after ?? {}
    this.#accounts = database.table('HashedAccounts').rows(account && { key: account })
    this.#slots = database.table('HashedStorages').rows(account && { key: account, ...(slot && { value: slot }) })
    this.#hasSlot = this.#slots.next()
    if (account === undefined) return
    if (!this.#accounts.next() || !equalBytes(this.#accounts.key, account)) throw this.#damaged('HashedAccounts', account, 'it is missing')
    this.#account = account
    this.#isSlotTaken = slot !== undefined && this.#isOfAccount() && equalBytes(this.#slots.value.subarray(0, keyBytes), slot)
  }

  /** keccak(address) of the account. */
  get accountKey(): Uint8Array {
    return this.#accounts.key
  }

  /** keccak(slot) of the slot. */
  get slotKey(): Uint8Array {
    return this.#slots.value.subarray(0, keyBytes)
  }

  /** Value of the slot, big-endian without leading zeros. */
  get slotValue(): Uint8Array {
    return this.#slots.value.subarray(keyBytes)
  }

  /** Decodes the account. Throws Fault SNAPSHOT_FILE_DAMAGED. */
  accountValue(): AccountValue {
    const value = decodeAccountValue(this.#accounts.value)
    if (!value) throw this.#damaged('HashedAccounts', this.accountKey, 'its value is no account')
    return value
  }

  /** Moves to the next account or slot, and returns which of them it is; undefined after the last one. Throws Fault SNAPSHOT_FILE_DAMAGED. */
  next(): 'account' | 'slot' | undefined {
    if (this.#isSlotTaken) this.#hasSlot = this.#slots.next()
    this.#isSlotTaken = false
    if (this.#isOfAccount()) return this.#takeSlot()
    const before = this.#account
    this.#account = this.#accounts.next() ? this.#accounts.key : undefined
    if (this.#account && this.#account.length !== keyBytes) throw this.#damaged('HashedAccounts', this.#account, 'its key is no hash')
    const owner = this.#hasSlot ? this.#slots.key : undefined
    const hasOwner = !owner || (this.#account && compareBytes(owner, this.#account) >= 0)
    if (owner && !hasOwner)
      throw this.#damaged('HashedStorages', owner, `no account has its slots, after account ${before ? toHex(before) : 'none'}`)
    return this.#account && 'account'
  }

  #isOfAccount(): boolean {
    return this.#hasSlot && this.#account !== undefined && equalBytes(this.#slots.key, this.#account)
  }

  #takeSlot(): 'slot' {
    if (!isStorageValue(this.#slots.value)) throw this.#damaged('HashedStorages', this.#slots.key, 'one of its values is no slot')
    this.#isSlotTaken = true
    return 'slot'
  }

  #damaged(table: string, key: Uint8Array, reason: string): Fault {
    return this.#database.damaged(`table ${table}, key ${toHex(key.subarray(0, keyBytes))}`, reason)
  }
}

/**
 * Yields the codes in ascending order of their hashes, including unused ones. Each is verified against its hash.
 * @param after hash of the last code that is not yielded
 * @throws Fault SNAPSHOT_FILE_DAMAGED
 */
export function* codesAfter(database: Database, after?: Uint8Array): Generator<{ readonly hash: Uint8Array; readonly code: Uint8Array }> {
  const rows = database.table('Bytecodes').rows(after && { key: after })
  while (rows.next()) {
    const hash = rows.key
    if (after && equalBytes(hash, after)) continue
    const code = decodeCodeValue(rows.value)
    if (!code || !equalBytes(keccak256(code), hash))
      throw database.damaged(`table Bytecodes, key ${toHex(hash.subarray(0, keyBytes))}`, 'its value is no code with this hash')
    yield { hash, code }
  }
}
