import { emptyBytes } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import type { Account } from '#types/account'
import { type Address, emptyCodeHash, emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import {
  accountAddress,
  accountBalance,
  accountBeforeFlag,
  accountCodeHash,
  accountExistsFlag,
  accountFlags,
  accountKey,
  accountLoadedFlag,
  accountNonce,
  accountNumber,
  accountStorageFlag,
  accountWipedFlag,
  ioBase,
  slotAccount,
  slotKey,
  slotLoaded,
  slotNumber,
  slotValue,
} from '../assembly/layout.ts'
import { evmFault } from '../faults.ts'
import { MissingState, type StateView } from '../ports.ts'
import { type EvmInstance, isTrap } from './instance.ts'
import type { Known } from './known.ts'

const emptyCodeHashBytes = keccak256(emptyBytes)
const loadedBit = 1

/** Accounts, slots and codes of a session: the data of the instance, loaded from the view on demand. */
export class World {
  readonly #view: StateView
  #instance: EvmInstance | undefined
  readonly #known: Known
  /** Codes set in this session. */
  readonly newCodes = new Map<Hash, Uint8Array>()

  constructor(view: StateView, instance: EvmInstance, known: Known) {
    this.#view = view
    this.#known = known
    this.#instance = instance
  }

  /** The instance. RangeError when the session is disposed, because another session may own the instance. */
  get instance(): EvmInstance {
    if (!this.#instance) throw new RangeError('the session is disposed')
    return this.#instance
  }

  /** Releases the instance; returns undefined when it was released before. */
  release(): EvmInstance | undefined {
    const instance = this.#instance
    this.#instance = undefined
    return instance
  }

  /** Converts an error: a trap means that a region of the instance is full; other errors are returned unchanged. */
  faultOf(error: unknown): unknown {
    if (!isTrap(error)) return error
    if (this.#instance) this.#instance.isBroken = true
    return evmFault('EVM_TOO_LARGE', {}, error)
  }

  /** Returns the entry of an address, loaded or not. */
  entryOf(address: Address): number {
    return this.#known.entries.get(address) ?? this.#makeEntry(address)
  }

  #makeEntry(address: Address): number {
    const { exports, memory } = this.instance
    memory.setHex(ioBase, address)
    try {
      const entry = exports.accountAt(ioBase)
      this.#known.entries.set(address, entry)
      return entry
    } catch (error) {
      throw this.faultOf(error)
    }
  }

  /** Returns the address of an entry. */
  addressOf(entry: number): Address {
    const { addresses } = this.#known
    const known = addresses.get(entry)
    if (known !== undefined) return known
    const address = this.instance.memory.address(entry + accountAddress)
    addresses.set(entry, address)
    return address
  }

  /** Returns the entry of an address, loaded from the view. */
  loaded(address: Address): number {
    const entry = this.entryOf(address)
    if ((this.instance.memory.number(entry + accountFlags) & accountLoadedFlag) === 0) this.loadAccount(entry)
    return entry
  }

  loadAccount(entry: number): void {
    const { memory } = this.instance
    const before = this.#askedAccount(memory.number(entry + accountNumber), entry)
    if (!before || before.codeHash === emptyCodeHash) memory.u8.set(emptyCodeHashBytes, entry + accountCodeHash)
    else memory.setHex(entry + accountCodeHash, before.codeHash)
    let flags = accountLoadedFlag
    memory.u64[(entry + accountNonce) >>> 3] = before?.nonce ?? 0n
    memory.setWord(entry + accountBalance, before?.balance ?? 0n)
    if (before) {
      flags |= accountExistsFlag | accountBeforeFlag
      if (before.storageRoot !== emptyRoot) flags |= accountStorageFlag
    }
    memory.setNumber(entry + accountFlags, memory.number(entry + accountFlags) | flags)
  }

  /** Reads the account from the view, once for all sessions on that view. */
  #askedAccount(number: number, entry: number): Account | undefined {
    const known = this.#known.before[number]
    if (known !== undefined) return known ?? undefined
    try {
      const account = this.#view.account(this.keyOf(entry))
      this.#known.before[number] = account ?? null
      return account
    } catch (error) {
      throw this.#named(error, entry)
    }
  }

  /** Adds the address, and the number of the slot, to what a view lacks. */
  #named(error: unknown, account: number, slot?: number): unknown {
    if (!(error instanceof MissingState)) return error
    const { wanted } = error
    const address = this.addressOf(account)
    if (wanted.kind === 'account') return new MissingState({ ...wanted, address })
    if (wanted.kind !== 'slot' || slot === undefined) return error
    return new MissingState({ ...wanted, address, slot: hashFromBytes(this.instance.memory.wordBytes(slot + slotNumber)) })
  }

  /** Returns the account in the view. */
  before(entry: number): Account | undefined {
    return this.#known.before[this.instance.memory.number(entry + accountNumber)] ?? undefined
  }

  /** Returns the keccak of the account's address. */
  keyOf(entry: number): Uint8Array {
    const { memory } = this.instance
    const number = memory.number(entry + accountNumber)
    const known = this.#known.keys[number]
    if (known !== undefined) return known
    const key = memory.bytes(entry + accountKey, 32)
    this.#known.keys[number] = key
    return key
  }

  /** Returns the current account; undefined when it does not exist. */
  account(address: Address): Account | undefined {
    const entry = this.loaded(address)
    const { memory } = this.instance
    const flags = memory.number(entry + accountFlags)
    if ((flags & accountExistsFlag) === 0) return undefined
    const before = this.before(entry)
    return {
      nonce: memory.u64[(entry + accountNonce) >>> 3] as bigint,
      balance: memory.word(entry + accountBalance),
      codeHash: this.codeHashOf(entry),
      storageRoot: before && (flags & accountWipedFlag) === 0 ? before.storageRoot : emptyRoot,
    }
  }

  codeHashOf(entry: number): Hash {
    const { exports, memory } = this.instance
    return exports.hasNoCode(entry) ? emptyCodeHash : memory.hash(entry + accountCodeHash)
  }

  /** Loads a slot from the view; zero when the view's storage of the account is obsolete or empty. */
  loadSlot(slot: number): void {
    const { exports, memory } = this.instance
    const account = memory.number(slot + slotAccount)
    if ((memory.number(account + accountFlags) & (accountStorageFlag | accountWipedFlag)) !== accountStorageFlag) {
      exports.loadSlot(slot, 0)
      return
    }
    exports.hashSlot(slot)
    const value = this.#askedSlot(account, slot)
    if (value === undefined) {
      exports.loadSlot(slot, 0)
      return
    }
    if (value.length !== 32) memory.u8.fill(0, ioBase, ioBase + 32)
    memory.u8.set(value, ioBase + 32 - value.length)
    exports.loadSlot(slot, ioBase)
  }

  #askedSlot(account: number, slot: number): Uint8Array | undefined {
    try {
      return this.#view.slot(this.keyOf(account), this.instance.memory.bytes(slot + slotKey, 32))
    } catch (error) {
      throw this.#named(error, account, slot)
    }
  }

  slot(address: Address, number: Hash): bigint {
    return this.instance.memory.word(this.loadedSlot(address, number) + slotValue)
  }

  /** Returns the entry of a slot whose value is loaded. */
  loadedSlot(address: Address, number: Hash): number {
    const account = this.loaded(address)
    const { memory } = this.instance
    memory.setHexWord(ioBase, number)
    const slot = this.#slotOf(account)
    if ((memory.number(slot + slotLoaded) & loadedBit) === 0) this.loadSlot(slot)
    return slot
  }

  #slotOf(account: number): number {
    try {
      return this.instance.exports.slotOf(account, ioBase)
    } catch (error) {
      throw this.faultOf(error)
    }
  }

  /** Warms entries at the start of a transaction without reading the view. */
  warm(address: Address, slots: readonly Hash[]): void {
    const account = this.entryOf(address)
    const { exports, memory } = this.instance
    exports.warm(account)
    for (const number of slots) {
      memory.setHexWord(ioBase, number)
      exports.warmSlot(this.#slotOf(account))
    }
  }

  code(codeHash: Hash): Uint8Array {
    if (codeHash === emptyCodeHash) return emptyBytes
    return this.newCodes.get(codeHash) ?? this.#view.code(codeHash)
  }

  /** Stores a new code and leaves its hash at `ioBase`. */
  keepCode(code: Uint8Array): void {
    const hash = keccak256(code)
    this.newCodes.set(hashFromBytes(hash), code)
    this.instance.memory.u8.set(hash, ioBase)
  }

  blockHash(number: number): Hash | undefined {
    return this.#view.blockHash(number)
  }
}
