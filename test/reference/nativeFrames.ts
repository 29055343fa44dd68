import { markerCode, markerGas, markerHash, newAccountMarkerGas } from '#evm/nativeMarker'
import { emptyBytes } from '#lib/bytes'
import { type NativeContract, nativeContractAt } from '#nativeContracts/addresses'
import type { AccountHandle, CodeKind, NativeHost } from '#nativeContracts/host'
import { outOfGas, silentRevert } from '#nativeContracts/kit/ends'
import { add, bigintOf, bytesOf, isBelow, type Word as NativeWord, newWord, setBigint, subtract, wordOf } from '#nativeContracts/kit/word'
import { runNative } from '#nativeContracts/run'
import { emptyCodeHash, hashFromBytes } from '#types/ids'
import type { Call } from './calls.ts'
import { charge, type Frame, halt } from './frame.ts'
import type { AccountState } from './journal.ts'
import { accessAccount, createFrame, type Ended, type Machine } from './machine.ts'
import { loadSlot, storeSlot } from './storage.ts'
import { addressOf, type Word } from './words.ts'

/** Returns the native contract at an address. */
export function nativeOf(machine: Machine, address: Word): NativeContract | undefined {
  return machine.natives && nativeContractAt(machine.natives.fork, addressOf(address))
}

/** Runs a call of a native contract. The caller undoes the changes of a failed one. */
export function runNativeFrame(machine: Machine, contract: NativeContract, call: Call): Ended {
  if (!machine.natives) throw new RangeError('no native contracts under these rules')
  const host = new ReferenceNativeHost(machine, call)
  const { kind, output } = runNative(contract, host, machine.natives)
  const { frame } = host
  if (kind === 'out of gas') halt(frame, 'out of gas')
  const state = kind === 'out of gas' ? ('out of gas' as const) : kind
  return { state, gas: frame.gas, reserve: frame.reserve, output: kind === 'out of gas' ? emptyBytes : output.slice() }
}

const gasLog = 375
const gasLogByte = 8

/** The host port of native contracts over the journal. */
class ReferenceNativeHost implements NativeHost {
  readonly #machine: Machine
  readonly #accounts: AccountState[] = []
  /** Holds the gas. */
  readonly frame: Frame
  readonly bytes: Uint8Array
  readonly view: DataView
  readonly start = 0
  kept: object | undefined
  readonly end: number
  readonly isStatic: boolean
  readonly isBorrowed: boolean
  readonly hasValue: boolean
  readonly caller: NativeWord
  readonly origin: NativeWord
  readonly chainId: NativeWord
  readonly selfAddress: NativeWord
  readonly self: AccountHandle
  readonly timestamp: bigint

  constructor(machine: Machine, call: Call) {
    this.#machine = machine
    this.frame = createFrame(machine, { ...call, kind: 'call', checkpoint: machine.journal.checkpoint() })
    this.bytes = call.input.slice()
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length)
    this.end = this.bytes.length
    this.isStatic = call.isStatic
    this.isBorrowed = call.isBorrowed
    this.hasValue = call.value !== 0n
    this.caller = wordOf(call.caller)
    this.origin = wordOf(machine.transaction.origin)
    this.chainId = wordOf(machine.block.chainId)
    this.selfAddress = wordOf(call.codeAddress)
    this.self = this.account(this.selfAddress)
    this.timestamp = machine.block.timestamp
  }

  requireWritable(): void {
    if (this.isStatic) throw silentRevert()
  }

  charge(gas: number): void {
    if (!charge(this.frame, gas)) throw outOfGas()
  }

  account(address: NativeWord): AccountHandle {
    return this.#accounts.push(this.#machine.journal.account(bigintOf(address))) - 1
  }

  #state(account: AccountHandle): AccountState {
    const state = this.#accounts[account]
    if (!state) throw new RangeError(`account ${account}`)
    return state
  }

  load(to: NativeWord, account: AccountHandle, slot: NativeWord): void {
    const value = loadSlot(this.frame, this.#machine, this.#state(account), bigintOf(slot))
    if (value === undefined) throw outOfGas()
    setBigint(to, value)
  }

  store(account: AccountHandle, slot: NativeWord, value: NativeWord): void {
    this.requireWritable()
    storeSlot(this.frame, this.#machine, this.#state(account), bigintOf(slot), bigintOf(value))
    this.#requireRunning()
  }

  add(account: AccountHandle, slot: NativeWord, amount: NativeWord): boolean {
    const value = newWord()
    this.load(value, account, slot)
    if (add(value, value, amount)) return false
    this.store(account, slot, value)
    return true
  }

  subtract(account: AccountHandle, slot: NativeWord, amount: NativeWord, held: NativeWord): boolean {
    this.load(held, account, slot)
    if (isBelow(held, amount)) return false
    subtract(held, held, amount)
    this.store(account, slot, held)
    return true
  }

  codeKind(address: NativeWord): CodeKind {
    const account = accessAccount(this.frame, this.#machine, bigintOf(address))
    if (!account) throw outOfGas()
    if (account.codeHash === emptyCodeHash) return 'none'
    return account.codeHash === markerHash ? 'marker' : 'other'
  }

  setMarker(account: AccountHandle): void {
    this.requireWritable()
    const state = this.#state(account)
    this.charge(state.codeHash === emptyCodeHash ? newAccountMarkerGas : markerGas)
    this.#machine.journal.setCode(state, markerCode)
  }

  log(account: AccountHandle, topics: readonly NativeWord[], count: number, data: Uint8Array): void {
    this.requireWritable()
    this.charge(gasLog + gasLog * count + gasLogByte * data.length)
    const address = addressOf(this.#state(account).address)
    const hashes = topics.slice(0, count).map((topic) => hashFromBytes(bytesOf(topic)))
    this.#machine.journal.log({ address, topics: hashes, data: data.slice() })
  }

  logWord(account: AccountHandle, topics: readonly NativeWord[], data: NativeWord): void {
    this.log(account, topics, 3, bytesOf(data))
  }

  interrupt(): void {
    this.#machine.interruptCheck?.(0)
  }

  #requireRunning(): void {
    if (this.frame.state !== 'running') throw outOfGas()
  }
}
