import { type NativeContract, nativeContracts } from '#nativeContracts/addresses'
import type { AccountHandle, CodeKind, NativeHost } from '#nativeContracts/host'
import { NativeTooLarge } from '#nativeContracts/kit/abi'
import { outOfGas, silentRevert } from '#nativeContracts/kit/ends'
import { trueOutput } from '#nativeContracts/kit/results'
import { add, bytesOf, isBelow, newWord, setViewWord, type Word, wordOf } from '#nativeContracts/kit/word'
import type { NativeRules } from '#nativeContracts/rules'
import { type NativeEnd, runNative } from '#nativeContracts/run'
import { hashFromBytes } from '#types/ids'
import {
  accountAddress,
  accountCodeHash,
  accountFlags,
  accountLoadedFlag,
  ctxChainId,
  ctxExitEntry,
  ctxExitFrom,
  ctxExitId,
  ctxExitSize,
  ctxNativeCaller,
  ctxNativeFlags,
  ctxOrigin,
  ctxTimestamp,
  endedOutOfGas,
  endedRevert,
  endedSuccess,
  ioBase,
  nativeBorrowedFlag,
  nativeStaticFlag,
  nativeValueFlag,
  returnBase,
  returnEnd,
  slotValue,
} from '../assembly/layout.ts'
import { evmFault } from '../faults.ts'
import { markerCode, markerGas, markerHashLimbs, newAccountMarkerGas } from '../nativeMarker.ts'
import { type InterruptCheck, MissingState } from '../ports.ts'
import type { ExitWatch } from './exitWatch.ts'
import type { EvmExports } from './instance.ts'
import type { RulesTable } from './rulesTable.ts'
import type { World } from './world.ts'

// scratch of native frames, above the part that loads of state use
const slotAt = ioBase + 0x100
const valueAt = ioBase + 0x120
/** Topics descend, as on an operand stack. */
const topicsTop = ioBase + 0x1c0

const gasWarmAccess = 100
const one = wordOf(1)
/** Bits that `moveNative` sets in an entry whose value it could not change. */
const failedMove = 6
/** Calls of a batch between two interrupt checks. */
const batchPace = 64

/** Runs the native frames of a session: the host port of native contracts over the interpreter's state. */
export class NativeFrames implements NativeHost {
  readonly #world: World
  readonly #table: RulesTable
  readonly #watch: ExitWatch | undefined
  /** Exports and memory of the instance while a frame runs. */
  #exports: EvmExports
  #u32: Uint32Array
  bytes: Uint8Array
  view: DataView
  kept: object | undefined
  start = 0
  end = 0
  #interruptCheck: InterruptCheck | undefined
  #sinceInterrupt = 0
  #flags = 0
  /** Gas that is charged with the next access to state: a call into the instance costs more time than most charges are worth. */
  #owed = 0
  readonly caller: Word = newWord()
  readonly selfAddress: Word = newWord()
  self: AccountHandle = 0

  constructor(world: World, table: RulesTable, watch: ExitWatch | undefined) {
    const { exports, memory } = world.instance
    this.#world = world
    this.#table = table
    this.#watch = watch
    this.#exports = exports
    this.#u32 = memory.u32
    this.bytes = memory.u8
    this.view = new DataView(memory.u8.buffer)
  }

  /** Serves `exitNative` and runs on. @returns the next exit. @throws exceptions of the view; after MissingState the exit can be served again */
  serve(interruptCheck: InterruptCheck | undefined): number {
    const { exports, memory } = this.#world.instance
    const contract = nativeContracts[memory.number(ctxExitId)]
    const rules = this.#table.native
    if (rules === undefined || contract === undefined || contract === 'none') throw new RangeError(`native contract ${contract}`)
    this.#interruptCheck = interruptCheck
    this.#exports = exports
    this.#u32 = memory.u32
    if (this.bytes !== memory.u8) this.view = new DataView(memory.u8.buffer)
    this.bytes = memory.u8
    this.#enter()
    return this.#end(this.#run(contract, rules))
  }

  #run(contract: NativeContract, rules: NativeRules): NativeEnd {
    try {
      return runNative(contract, this, rules)
    } catch (error) {
      if (error instanceof MissingState) this.#exports.restartNative()
      throw error instanceof NativeTooLarge ? evmFault('EVM_TOO_LARGE', {}, error) : error
    }
  }

  #enter(): void {
    const u32 = this.#u32
    this.start = u32[ctxExitFrom >>> 2] as number
    this.end = this.start + (u32[ctxExitSize >>> 2] as number)
    this.#owed = 0
    this.#flags = u32[ctxNativeFlags >>> 2] as number
    this.self = u32[ctxExitEntry >>> 2] as number
    take(this.caller, u32, u32[ctxNativeCaller >>> 2] as number)
    for (let i = 0; i < 5; i++) this.selfAddress[i] = u32[((this.self + accountAddress) >>> 2) + i] as number
  }

  #end({ kind, output }: NativeEnd): number {
    if (kind === 'out of gas') return this.#exports.endNative(endedOutOfGas, 0, 0)
    const size = output.length
    const to = this.#fitting(size)
    if (output === trueOutput) setViewWord(this.view, to, one)
    else this.bytes.set(output, to)
    return this.#exports.endNative(kind === 'success' ? endedSuccess : endedRevert, size, this.#owed)
  }

  get origin(): Word {
    return take(newWord(), this.#u32, ctxOrigin)
  }

  get chainId(): Word {
    return take(newWord(), this.#u32, ctxChainId)
  }

  get isStatic(): boolean {
    return (this.#flags & nativeStaticFlag) !== 0
  }

  get isBorrowed(): boolean {
    return (this.#flags & nativeBorrowedFlag) !== 0
  }

  get hasValue(): boolean {
    return (this.#flags & nativeValueFlag) !== 0
  }

  get timestamp(): bigint {
    return this.#world.instance.memory.word(ctxTimestamp)
  }

  requireWritable(): void {
    if (this.isStatic) throw silentRevert()
  }

  charge(gas: number): void {
    this.#owed += gas
  }

  account(address: Word): AccountHandle {
    setViewWord(this.view, slotAt, address)
    return this.#loaded(this.#exports.accountAt(slotAt + 12))
  }

  #loaded(entry: number): AccountHandle {
    if (((this.#u32[(entry + accountFlags) >>> 2] as number) & accountLoadedFlag) === 0) this.#world.loadAccount(entry)
    return entry
  }

  load(to: Word, account: AccountHandle, slot: Word): void {
    put(this.#u32, slotAt, slot)
    let entry = this.#exports.loadNative(account, slotAt, this.#owed)
    if ((entry & 1) !== 0) {
      this.#world.loadSlot(entry - 1)
      entry = this.#exports.loadNative(account, slotAt, this.#owed)
    }
    if (entry === 0) throw outOfGas()
    this.#owed = 0
    take(to, this.#u32, entry + slotValue)
    if (this.#watch !== undefined) this.#tellAccess(account, slot)
  }

  store(account: AccountHandle, slot: Word, value: Word): void {
    this.requireWritable()
    put(this.#u32, slotAt, slot)
    put(this.#u32, valueAt, value)
    let entry = this.#exports.storeNative(account, slotAt, valueAt, this.#owed)
    if ((entry & 1) !== 0) {
      this.#world.loadSlot(entry - 1)
      entry = this.#exports.storeNative(account, slotAt, valueAt, this.#owed)
    }
    if (entry === 0) throw outOfGas()
    this.#owed = 0
    if (this.#watch !== undefined) this.#tellAccess(account, slot)
  }

  add(account: AccountHandle, slot: Word, amount: Word): boolean {
    return this.#move(account, slot, amount, 1, undefined)
  }

  subtract(account: AccountHandle, slot: Word, amount: Word, held: Word): boolean {
    return this.#move(account, slot, amount, 0, held)
  }

  #move(account: AccountHandle, slot: Word, amount: Word, isAdded: 0 | 1, held: Word | undefined): boolean {
    if (this.isStatic) return this.#moveNothing(account, slot, amount, isAdded === 1, held)
    put(this.#u32, slotAt, slot)
    put(this.#u32, valueAt, amount)
    let entry = this.#exports.moveNative(account, slotAt, valueAt, isAdded, this.#owed)
    if ((entry & 1) !== 0) {
      this.#world.loadSlot(entry - 1)
      entry = this.#exports.moveNative(account, slotAt, valueAt, isAdded, this.#owed)
    }
    if (entry === 0) throw outOfGas()
    this.#owed = 0
    if (this.#watch !== undefined) this.#tellAccess(account, slot)
    if ((entry & failedMove) === 0) return true
    if (held !== undefined) take(held, this.#u32, entry - (entry & failedMove) + slotValue)
    return false
  }

  /** In a static frame the read happens and the write reverts. */
  #moveNothing(account: AccountHandle, slot: Word, amount: Word, isAdded: boolean, held: Word = newWord()): boolean {
    const value = held
    this.load(value, account, slot)
    if (isAdded ? add(newWord(), value, amount) : isBelow(value, amount)) return false
    throw silentRevert()
  }

  codeKind(address: Word): CodeKind {
    if (address === this.selfAddress) {
      // the call has warmed and loaded the account
      this.#owed += gasWarmAccess
      if (this.#watch !== undefined) this.#tellAccess(this.self, undefined)
      return this.#kindOf(this.self)
    }
    put(this.#u32, slotAt, address)
    const entry = this.#exports.accessNative(slotAt, this.#owed)
    if (entry === 0) throw outOfGas()
    this.#owed = 0
    this.#loaded(entry)
    if (this.#watch !== undefined) this.#tellAccess(entry, undefined)
    return this.#kindOf(entry)
  }

  #kindOf(entry: number): CodeKind {
    const hashAt = (entry + accountCodeHash) >>> 2
    if (isHashAt(this.#u32, hashAt, markerHashLimbs)) return 'marker'
    return this.#exports.hasNoCode(entry) !== 0 ? 'none' : 'other'
  }

  setMarker(account: AccountHandle): void {
    this.requireWritable()
    this.charge(this.#exports.hasNoCode(account) !== 0 ? newAccountMarkerGas : markerGas)
    this.#world.keepCode(markerCode)
    this.#exports.setCodeHash(account, ioBase)
  }

  log(account: AccountHandle, topics: readonly Word[], count: number, data: Uint8Array): void {
    this.bytes.set(data, this.#fitting(data.length))
    this.#addLog(account, topics, count, data.length)
  }

  logWord(account: AccountHandle, topics: readonly Word[], data: Word): void {
    setViewWord(this.view, returnBase, data)
    this.#addLog(account, topics, 3, 32)
  }

  /** Adds a log whose data lie at `returnBase`. */
  #addLog(account: AccountHandle, topics: readonly Word[], count: number, size: number): void {
    this.requireWritable()
    for (let i = 0; i < count; i++) put(this.#u32, topicsTop - 32 * i, topics[i] as Word)
    if (this.#exports.logNative(account, count, topicsTop, returnBase, size, this.#owed) === 0) throw outOfGas()
    this.#owed = 0
  }

  interrupt(): void {
    if (++this.#sinceInterrupt % batchPace === 0) this.#interruptCheck?.(0)
  }

  #fitting(size: number): number {
    if (size > returnEnd - returnBase) throw evmFault('EVM_TOO_LARGE', {})
    return returnBase
  }

  #tellAccess(account: AccountHandle, slot: Word | undefined): void {
    this.#watch?.nativeAccess(this.#world.addressOf(account), slot && hashFromBytes(bytesOf(slot)))
  }
}

function isHashAt(u32: Uint32Array, from: number, hash: Uint32Array): boolean {
  for (let i = 0; i < 8; i++) if (u32[from + i] !== hash[i]) return false
  return true
}

function put(u32: Uint32Array, at: number, word: Word): void {
  const from = at >>> 2
  u32[from] = word[0] as number
  u32[from + 1] = word[1] as number
  u32[from + 2] = word[2] as number
  u32[from + 3] = word[3] as number
  u32[from + 4] = word[4] as number
  u32[from + 5] = word[5] as number
  u32[from + 6] = word[6] as number
  u32[from + 7] = word[7] as number
}

function take(to: Word, u32: Uint32Array, at: number): Word {
  const from = at >>> 2
  to[0] = u32[from] as number
  to[1] = u32[from + 1] as number
  to[2] = u32[from + 2] as number
  to[3] = u32[from + 3] as number
  to[4] = u32[from + 4] as number
  to[5] = u32[from + 5] as number
  to[6] = u32[from + 6] as number
  to[7] = u32[from + 7] as number
  return to
}
