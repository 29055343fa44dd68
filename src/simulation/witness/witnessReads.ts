import type { StateView } from '#evm/ports'
import { compareBytes, latin1 } from '#lib/bytes'
import type { Account } from '#types/account'
import type { Hash } from '#types/ids'

/** A slot that was read: hashed key, and its value of 32 bytes; undefined: zero. */
export type ReadSlot = { readonly key: Uint8Array; readonly value: Uint8Array | undefined }

/** An account that was read, with the slots that were read. */
export type ReadAccount = { readonly key: Uint8Array; readonly account: Account | undefined; readonly slots: Map<string, ReadSlot> }

/** A state view that records reads. */
export class WitnessReads implements StateView {
  readonly #view: StateView
  readonly #accounts = new Map<string, ReadAccount>()
  readonly #slots = new Set<string>()
  readonly codes = new Map<Hash, Uint8Array>()
  /** lowest block whose hash was read */
  lowestBlock = Number.POSITIVE_INFINITY

  constructor(view: StateView) {
    this.#view = view
  }

  /** Accounts that were read, ascending by key. */
  accounts(): readonly ReadAccount[] {
    return [...this.#accounts.values()].sort((a, b) => compareBytes(a.key, b.key))
  }

  has(addressKey: Uint8Array): boolean {
    return this.#accounts.has(latin1(addressKey))
  }

  /** Returns whether a slot with this key was read, of whatever account. */
  hasSlot(slotKey: Uint8Array): boolean {
    return this.#slots.has(latin1(slotKey))
  }

  account(addressKey: Uint8Array): Account | undefined {
    return this.#read(addressKey).account
  }

  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined {
    const value = this.#view.slot(addressKey, slotKey)
    const name = latin1(slotKey)
    this.#read(addressKey).slots.set(name, { key: slotKey, value })
    this.#slots.add(name)
    return value
  }

  code(codeHash: Hash): Uint8Array {
    const code = this.#view.code(codeHash)
    this.codes.set(codeHash, code)
    return code
  }

  blockHash(number: number): Hash | undefined {
    this.lowestBlock = Math.min(this.lowestBlock, number)
    return this.#view.blockHash(number)
  }

  #read(addressKey: Uint8Array): ReadAccount {
    const name = latin1(addressKey)
    const known = this.#accounts.get(name)
    if (known !== undefined) return known
    const read = { key: addressKey, account: this.#view.account(addressKey), slots: new Map<string, ReadSlot>() }
    this.#accounts.set(name, read)
    return read
  }
}
