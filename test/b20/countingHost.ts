import { concatBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import type { AccountHandle, CodeKind, NativeHost } from '#nativeContracts/host'
import { callDataOf } from '#nativeContracts/kit/args'
import { add, bytesOf, isBelow, newWord, subtract, type Word, wordOf, wordOfBytes } from '#nativeContracts/kit/word'
import type { Address } from '#types/ids'

const wordOfAddress = (address: Address): Word => wordOfBytes(concatBytes(new Uint8Array(12), fromHex(address)))

/** A host over maps that counts reads, writes and the metered hashes. Token footprints leave out the storage of other contracts. */
export class CountingHost implements NativeHost {
  bytes = new Uint8Array(0)
  view = new DataView(new ArrayBuffer(0))
  readonly start = 0
  end = 0
  kept: object | undefined
  readonly isStatic = false
  readonly isBorrowed = false
  readonly hasValue = false
  readonly caller: Word
  readonly origin: Word
  readonly selfAddress: Word
  readonly self: AccountHandle
  readonly chainId = wordOf(8453)
  readonly timestamp = 1_795_000_000n
  readonly #slots = new Map<string, Word>()
  readonly #accounts: string[] = []
  reads = 0
  writes = 0
  /** Charges other than state: hashes and recoveries. */
  charges: number[] = []
  readonly #counted: 'self' | 'all'

  constructor(self: Address, caller: Address, counted: 'self' | 'all' = 'self') {
    this.#counted = counted
    this.caller = wordOfAddress(caller)
    this.origin = this.caller
    this.selfAddress = wordOfAddress(self)
    this.self = this.account(this.selfAddress)
  }

  /** Forgets the counts. */
  reset(): void {
    this.reads = 0
    this.writes = 0
    this.charges = []
  }

  /** Sets the call data of the next frame. */
  receive(data: Uint8Array): void {
    Object.assign(this, callDataOf(data))
  }

  charge(gas: number): void {
    this.charges.push(gas)
  }

  requireWritable(): void {}

  account(address: Word): AccountHandle {
    const key = toHex(bytesOf(address))
    const known = this.#accounts.indexOf(key)
    return known < 0 ? this.#accounts.push(key) - 1 : known
  }

  #counts(account: AccountHandle): boolean {
    return this.#counted === 'all' || account === this.self
  }

  load(to: Word, account: AccountHandle, slot: Word): void {
    if (this.#counts(account)) this.reads++
    to.set(this.#slots.get(`${account} ${toHex(bytesOf(slot))}`) ?? newWord())
  }

  store(account: AccountHandle, slot: Word, value: Word): void {
    if (this.#counts(account)) this.writes++
    this.#slots.set(`${account} ${toHex(bytesOf(slot))}`, value.slice())
  }

  add(account: AccountHandle, slot: Word, amount: Word): boolean {
    const value = newWord()
    this.load(value, account, slot)
    if (add(value, value, amount)) return false
    this.store(account, slot, value)
    return true
  }

  subtract(account: AccountHandle, slot: Word, amount: Word, held: Word): boolean {
    this.load(held, account, slot)
    if (isBelow(held, amount)) return false
    subtract(held, held, amount)
    this.store(account, slot, held)
    return true
  }

  codeKind(): CodeKind {
    return 'marker'
  }

  setMarker(): void {}
  log(): void {}
  logWord(): void {}
  interrupt(): void {}
}
