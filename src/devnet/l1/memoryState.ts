import type { StateView } from '#evm/ports'
import { bytesFromBigint } from '#lib/bytes'
import { fromHex, type Hex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { Account } from '#types/account'
import { type Address, emptyCodeHash, emptyRoot, type Hash, hashFromBytes, zeroHash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import type { L1Contract } from '../l1Contracts.ts'

type Slots = Map<Hex, Uint8Array>
type Stored = { readonly nonce: bigint; readonly balance: bigint; readonly codeHash: Hash; readonly slots: Slots }
/** Accounts before a block; undefined: the account did not exist. */
type Before = Map<Hex, Stored | undefined>

/** Account with a balance at genesis. */
export type Funded = { readonly address: Address; readonly balanceWei: bigint }

const keyOf = (address: Address): Hex => toHex(keccak256(fromHex(address)))

/**
 * Ethereum state in memory, by hashed key, with undo data for each block. There is no trie: the storage root of an account only shows whether it has
 * storage.
 */
export class MemoryState {
  readonly #accounts = new Map<Hex, Stored>()
  readonly #codes = new Map<Hash, Uint8Array>()
  /** by block number minus one: the changed accounts, as they were before the block */
  readonly #undo: Before[] = []

  constructor(accounts: readonly Funded[], contracts: readonly L1Contract[]) {
    for (const { address, balanceWei } of accounts) {
      this.#accounts.set(keyOf(address), { nonce: 0n, balance: balanceWei, codeHash: emptyCodeHash, slots: new Map() })
    }
    for (const { address, code, storage } of contracts) {
      const codeHash = hashFromBytes(keccak256(code))
      this.#codes.set(codeHash, code)
      const slots: Slots = new Map([...storage].map(([slot, value]) => [toHex(keccak256(fromHex(slot))), fromHex(value)]))
      this.#accounts.set(keyOf(address), { nonce: 1n, balance: 0n, codeHash, slots })
    }
  }

  /** Returns the state after a block, valid while the block is canonical. @param blockHash of earlier blocks */
  viewAt(number: number, blockHash: (number: number) => Hash | undefined): StateView {
    const stored = (key: Uint8Array): Stored | undefined => this.#at(toHex(key), number)
    return {
      account(addressKey): Account | undefined {
        const account = stored(addressKey)
        return account && { ...account, storageRoot: account.slots.size === 0 ? emptyRoot : zeroHash }
      },
      slot: (addressKey, slotKey): Uint8Array | undefined => stored(addressKey)?.slots.get(toHex(slotKey)),
      code: (codeHash): Uint8Array => this.#code(codeHash),
      blockHash,
    }
  }

  /** Applies the changes of the next block. */
  apply(diff: StateDiff): void {
    const before: Before = new Map()
    for (const { hash, code } of diff.codes()) this.#codes.set(hash, code)
    for (const { key, change, wiped } of diff.accounts()) {
      const at = toHex(key)
      const old = this.#accounts.get(at)
      before.set(at, old)
      if (change === null) this.#accounts.delete(at)
      else this.#accounts.set(at, { ...change, slots: wiped || !old ? new Map() : old.slots })
    }
    for (const [at, changed] of slotsByAccount(diff)) {
      const account = this.#accounts.get(at)
      if (!account) throw new RangeError('slot of an unknown account')
      if (!before.has(at)) before.set(at, account)
      this.#accounts.set(at, { ...account, slots: withSlots(account.slots, changed) })
    }
    this.#undo.push(before)
  }

  /** Reverts the last block. */
  revert(): void {
    for (const [at, old] of this.#undo.pop() ?? []) {
      if (old) this.#accounts.set(at, old)
      else this.#accounts.delete(at)
    }
  }

  #at(key: Hex, number: number): Stored | undefined {
    for (let block = number; block < this.#undo.length; block++) {
      const before = this.#undo[block]
      if (before?.has(key)) return before.get(key)
    }
    return this.#accounts.get(key)
  }

  #code(codeHash: Hash): Uint8Array {
    const code = this.#codes.get(codeHash)
    if (!code) throw new RangeError(`unknown code ${codeHash}`)
    return code
  }
}

function slotsByAccount(diff: StateDiff): Map<Hex, [Hex, Uint8Array][]> {
  const by = new Map<Hex, [Hex, Uint8Array][]>()
  for (const { addressKey, slotKey, value } of diff.slots()) {
    const at = toHex(addressKey)
    const list = by.get(at) ?? []
    by.set(at, list)
    list.push([toHex(slotKey), value])
  }
  return by
}

function withSlots(slots: Slots, changed: readonly (readonly [Hex, Uint8Array])[]): Slots {
  const next = new Map(slots)
  for (const [slot, value] of changed) {
    if (value.some((byte) => byte !== 0)) next.set(slot, value)
    else next.delete(slot)
  }
  return next
}

/** Returns the 32 bytes of a slot; zero when it is not set. */
export const slotOf = (view: StateView, address: Address, slot: bigint): Uint8Array =>
  view.slot(keccak256(fromHex(address)), keccak256(bytesFromBigint(slot, 32))) ?? new Uint8Array(32)

/** Returns an account; undefined when it does not exist */
export const accountOf = (view: StateView, address: Address): Account | undefined => view.account(keccak256(fromHex(address)))
