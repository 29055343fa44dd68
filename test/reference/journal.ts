import type { KeyPreimage, ReadKeys, StateView } from '#evm/ports'
import { emptyBytes } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import { Lru } from '#lib/lru'
import type { Account } from '#types/account'
import { emptyCodeHash, emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import type { Log } from '#types/log'
import { nameOf, WordMap } from './wordMap.ts'
import { addressBytes, type Word, wordBytes, wordFromBytes } from './words.ts'

/** Current state of an account. Fields named `…In` hold the transaction of the session in which something last happened; `never` precedes all. */
export type AccountState = {
  readonly address: Word
  /** Keccak of the address. */
  readonly key: Uint8Array
  /** Account in the view. */
  readonly before: Account | undefined
  exists: boolean
  nonce: bigint
  balance: bigint
  codeHash: Hash
  /** The view's slots are obsolete. */
  isWiped: boolean
  slots: WordMap<SlotState>
  warmIn: number
  touchedIn: number
  createdIn: number
  destroyedIn: number
  /** The account's code was run or read. */
  isCoded: boolean
}

export type SlotState = {
  /** Keccak of the slot's number. */
  readonly key: Uint8Array
  /** Value below the diff: the view's value, zero after a wipe. */
  readonly before: Word
  value: Word
  /** Value at the start of transaction `seenIn` (EIP-2200). */
  original: Word
  seenIn: number
  warmIn: number
}

const never = -1

type Undo =
  | {
      readonly kind: 'account'
      readonly account: AccountState
      readonly exists: boolean
      readonly nonce: bigint
      readonly balance: bigint
      readonly codeHash: Hash
      readonly createdIn: number
    }
  | { readonly kind: 'slot'; readonly slot: SlotState; readonly value: Word }
  | { readonly kind: 'warm'; readonly of: { warmIn: number }; readonly warmIn: number }
  | { readonly kind: 'transient'; readonly slots: WordMap<Word>; readonly number: Word; readonly value: Word }
  | { readonly kind: 'touched' | 'destroyed' | 'log' }

const addressKeys = new Lru<bigint, Uint8Array>(200 * 50_000)

function addressKeyOf(address: Word): Uint8Array {
  const name = nameOf(address)
  const known = addressKeys.get(name)
  if (known) return known
  const key = keccak256(addressBytes(address))
  addressKeys.set(name, key, 200)
  return key
}

/** Returns whether nonce, balance and code are empty (EIP-161). */
export function isEmpty(account: AccountState): boolean {
  return account.nonce === 0n && account.balance === 0n && account.codeHash === emptyCodeHash
}

/** World state of an open session: the data of the view, changed in place, with an undo log for reverts. */
export class Journal {
  readonly #view: StateView
  readonly #clearsEmpty: boolean
  readonly #accounts = new WordMap<AccountState>()
  readonly #codes = new Map<Hash, Uint8Array>()
  readonly #undo: Undo[] = []
  readonly #slotKeys: KeyPreimage[] = []
  #transaction = 0
  #transient = new WordMap<WordMap<Word>>()
  #touched: AccountState[] = []
  #destroyed: AccountState[] = []
  #logs: Log[] = []

  /** Creates a journal. @param clearsEmpty whether a touched empty account is removed (EIP-161) */
  constructor(view: StateView, clearsEmpty = true) {
    this.#view = view
    this.#clearsEmpty = clearsEmpty
  }

  /** Returns the account if it was read before; never reads the view. */
  known(address: Word): AccountState | undefined {
    return this.#accounts.get(address)
  }

  account(address: Word): AccountState {
    return this.#accounts.get(address) ?? this.#load(address)
  }

  #load(address: Word): AccountState {
    const key = addressKeyOf(address)
    const before = this.#view.account(key)
    const account: AccountState = {
      address,
      key,
      before,
      exists: before !== undefined,
      nonce: before?.nonce ?? 0n,
      balance: before?.balance ?? 0n,
      codeHash: before?.codeHash ?? emptyCodeHash,
      isWiped: false,
      slots: new WordMap(),
      warmIn: never,
      touchedIn: never,
      createdIn: never,
      destroyedIn: never,
      isCoded: false,
    }
    this.#accounts.set(address, account)
    return account
  }

  accounts(): Iterable<AccountState> {
    return this.#accounts.values()
  }

  readKeys(): ReadKeys {
    const accounts = Array.from(this.accounts(), ({ key, address, isCoded }) => ({ key, preimage: addressBytes(address), isCoded }))
    return { accounts, slots: this.#slotKeys }
  }

  code(codeHash: Hash): Uint8Array {
    if (codeHash === emptyCodeHash) return emptyBytes
    return this.#codes.get(codeHash) ?? this.#view.code(codeHash)
  }

  /** Returns code that was set in this session. */
  newCode(codeHash: Hash): Uint8Array | undefined {
    return this.#codes.get(codeHash)
  }

  blockHash(number: number): Hash | undefined {
    return this.#view.blockHash(number)
  }

  #save(account: AccountState): void {
    const { exists, nonce, balance, codeHash, createdIn } = account
    this.#undo.push({ kind: 'account', account, exists, nonce, balance, codeHash, createdIn })
  }

  /** Touches an account: an account that is touched and empty is removed at the end of the transaction (EIP-161). */
  touch(account: AccountState): void {
    if (account.touchedIn === this.#transaction) return
    account.touchedIn = this.#transaction
    this.#touched.push(account)
    this.#undo.push({ kind: 'touched' })
  }

  setBalance(account: AccountState, balance: bigint): void {
    this.#save(account)
    account.balance = balance
    account.exists = true
    this.touch(account)
  }

  setNonce(account: AccountState, nonce: bigint): void {
    this.#save(account)
    account.nonce = nonce
    account.exists = true
    this.touch(account)
  }

  setCode(account: AccountState, code: Uint8Array): void {
    this.#save(account)
    const codeHash = code.length === 0 ? emptyCodeHash : hashFromBytes(keccak256(code))
    this.#codes.set(codeHash, code)
    account.codeHash = codeHash
    account.exists = true
    this.touch(account)
  }

  /** Moves wei; the caller has checked the balance. Moving zero still touches the recipient if it exists; before EIP-161, any recipient. */
  transfer(from: AccountState, to: AccountState, wei: bigint): void {
    if (wei === 0n) {
      if (to.exists) this.touch(to)
      else if (!this.#clearsEmpty) this.setBalance(to, 0n)
      return
    }
    this.setBalance(from, from.balance - wei)
    this.setBalance(to, to.balance + wei)
  }

  /** Marks a new contract: keeps its balance, starts with nonce 1 (EIP-161). */
  create(account: AccountState): void {
    this.setNonce(account, this.#clearsEmpty ? 1n : 0n)
    account.createdIn = this.#transaction
  }

  isCreatedNow(account: AccountState): boolean {
    return account.createdIn === this.#transaction
  }

  /** Returns whether the account had storage before the session and has not lost it since. */
  hasOldStorage({ before, isWiped }: AccountState): boolean {
    return !isWiped && before !== undefined && before.storageRoot !== emptyRoot
  }

  isDestroyedNow(account: AccountState): boolean {
    return account.destroyedIn === this.#transaction
  }

  /** Marks the account for removal at the end of the transaction. */
  destroy(account: AccountState): void {
    if (account.destroyedIn === this.#transaction) return
    account.destroyedIn = this.#transaction
    this.#destroyed.push(account)
    this.#undo.push({ kind: 'destroyed' })
  }

  /** Returns the slot if it was read in this session. */
  knownSlot(account: AccountState, number: Word): SlotState | undefined {
    return account.slots.get(number)
  }

  slot(account: AccountState, number: Word): SlotState {
    const slot = account.slots.get(number) ?? this.#loadSlot(account, number)
    if (slot.seenIn !== this.#transaction) {
      slot.seenIn = this.#transaction
      slot.original = slot.value
    }
    return slot
  }

  #loadSlot(account: AccountState, number: Word): SlotState {
    const isBelow = account.before !== undefined && !account.isWiped
    const key = keccak256(wordBytes(number))
    this.#slotKeys.push({ key, preimage: wordBytes(number) })
    const bytes = isBelow ? this.#view.slot(account.key, key) : undefined
    const before = bytes ? wordFromBytes(bytes) : 0n
    const slot = { key, before, value: before, original: before, seenIn: this.#transaction, warmIn: never }
    account.slots.set(number, slot)
    return slot
  }

  setSlot(slot: SlotState, value: Word): void {
    this.#undo.push({ kind: 'slot', slot, value: slot.value })
    slot.value = value
  }

  transient(address: Word, number: Word): Word {
    return this.#transient.get(address)?.get(number) ?? 0n
  }

  setTransient(address: Word, number: Word, value: Word): void {
    let slots = this.#transient.get(address)
    if (!slots) {
      slots = new WordMap()
      this.#transient.set(address, slots)
    }
    this.#undo.push({ kind: 'transient', slots, number, value: slots.get(number) ?? 0n })
    slots.set(number, value)
  }

  isWarm(of: { readonly warmIn: number } | undefined): boolean {
    return of?.warmIn === this.#transaction
  }

  /** Warms an account or slot until the transaction ends or the checkpoint is reverted (EIP-2929). */
  warm(of: { warmIn: number }): void {
    if (of.warmIn === this.#transaction) return
    this.#undo.push({ kind: 'warm', of, warmIn: of.warmIn })
    of.warmIn = this.#transaction
  }

  log(log: Log): void {
    this.#logs.push(log)
    this.#undo.push({ kind: 'log' })
  }

  /** Returns the logs of the transaction so far. */
  logs(): readonly Log[] {
    return this.#logs
  }

  checkpoint(): number {
    return this.#undo.length
  }

  revertTo(checkpoint: number): void {
    while (this.#undo.length > checkpoint) {
      const undo = this.#undo.pop()
      if (undo) this.#revert(undo)
    }
  }

  #revert(undo: Undo): void {
    switch (undo.kind) {
      case 'account': {
        const { account, exists, nonce, balance, codeHash, createdIn } = undo
        Object.assign(account, { exists, nonce, balance, codeHash, createdIn })
        return
      }
      case 'slot':
        undo.slot.value = undo.value
        return
      case 'warm':
        undo.of.warmIn = undo.warmIn
        return
      case 'transient':
        undo.slots.set(undo.number, undo.value)
        return
      case 'touched':
        restore(this.#touched.pop(), 'touchedIn')
        return
      case 'destroyed':
        restore(this.#destroyed.pop(), 'destroyedIn')
        return
      case 'log':
        this.#logs.pop()
        return
    }
  }

  /** Removes destroyed accounts and accounts that are touched and empty, and cools everything. */
  endTransaction(): void {
    for (const account of this.#destroyed) remove(account)
    const emptied = this.#clearsEmpty ? this.#touched : []
    for (const account of emptied) if (account.exists && isEmpty(account)) remove(account)
    this.#transaction++
    this.#undo.length = 0
    this.#transient = new WordMap()
    this.#touched = []
    this.#destroyed = []
    this.#logs = []
  }
}

function restore(account: AccountState | undefined, mark: 'touchedIn' | 'destroyedIn'): void {
  if (account) account[mark] = never
}

function remove(account: AccountState): void {
  account.exists = false
  account.nonce = 0n
  account.balance = 0n
  account.codeHash = emptyCodeHash
  account.isWiped = true
  account.slots = new WordMap()
}
