import type { EvmRules } from '#chainspec/evmRules'
import type { Account } from '#types/account'
import { maxNonce } from '#types/account'
import type { Address, Hash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import {
  accountAddress,
  accountPrecompile,
  ctxBaseFee,
  ctxBeneficiary,
  ctxBlobBaseFee,
  ctxBlobHashCount,
  ctxBlobHashes,
  ctxChainId,
  ctxCreationOverStorage,
  ctxFork,
  ctxGasLimit,
  ctxGasPrice,
  ctxMessageCaller,
  ctxMessageGas,
  ctxMessageInputSize,
  ctxMessageIsCreate,
  ctxMessageTo,
  ctxMessageValue,
  ctxNatives,
  ctxNumber,
  ctxOrigin,
  ctxPrecompiles,
  ctxPrevRandao,
  ctxReturnSize,
  ctxTimestamp,
  ctxTransaction,
  exitEnded,
  exitNative,
  gasOfSlice,
  inputBase,
  inputEnd,
  ioBase,
  staticBase,
} from '../assembly/layout.ts'
import { evmFault } from '../faults.ts'
import type { BlockEnv, EvmSession, InterruptCheck, Message, Outcome, ReadKeys, StateView, TransactionEnv } from '../ports.ts'
import { changedIn, diffOf } from './diff.ts'
import { serve } from './exits.ts'
import type { ExitWatch } from './exitWatch.ts'
import type { EvmInstance } from './instance.ts'
import { createKnown, type Known } from './known.ts'
import { NativeFrames } from './nativeFrames.ts'
import { outcomeOf } from './outcome.ts'
import { readKeysOf } from './readKeys.ts'
import { type RulesTable, rulesTable } from './rulesTable.ts'
import type { WasmMemory } from './wasmMemory.ts'
import { World } from './world.ts'

const maxBlobHashes = (staticBase - ctxBlobHashes) / 32
/** Maximum size of entries kept for the next session on the same view. */
const maxKeptBytes = 20 * 2 ** 20
/** Maximum transaction number. Sessions on one view continue the numbering, and numbers near 2^32 have a special meaning. */
const maxTransactions = 2 ** 31

const isSameBlock = (a: BlockEnv, b: BlockEnv): boolean =>
  a.number === b.number &&
  a.timestamp === b.timestamp &&
  a.prevRandao === b.prevRandao &&
  a.beneficiary === b.beneficiary &&
  a.gasLimit === b.gasLimit &&
  a.baseFee === b.baseFee &&
  a.blobBaseFee === b.blobBaseFee &&
  a.chainId === b.chainId

/** Writes the block environment unless the instance already has it; consecutive calls usually share one block. */
function writeBlock(instance: EvmInstance, block: BlockEnv): void {
  const { memory } = instance
  if (instance.block !== undefined && isSameBlock(instance.block, block)) return
  instance.block = undefined
  memory.setWord(ctxChainId, block.chainId)
  memory.setWord(ctxNumber, BigInt(block.number))
  memory.setWord(ctxTimestamp, BigInt(block.timestamp))
  memory.setHexWord(ctxBeneficiary, block.beneficiary)
  memory.setHexWord(ctxPrevRandao, block.prevRandao)
  memory.setWord(ctxGasLimit, block.gasLimit)
  memory.setWord(ctxBaseFee, block.baseFee)
  memory.setWord(ctxBlobBaseFee, block.blobBaseFee)
  instance.block = block
}

/** Copies the address of an entry as a word. */
function copyAddress(memory: WasmMemory, to: number, entry: number): void {
  const { u32 } = memory
  const [i, j] = [to >>> 2, (entry + accountAddress) >>> 2]
  for (let k = 0; k < 5; k++) u32[i + k] = u32[j + k] as number
  u32[i + 5] = 0
  u32[i + 6] = 0
  u32[i + 7] = 0
}

/** Returns the data that the instance still has of the view; undefined when its last session had another view. */
function knownOf({ memory, last }: EvmInstance, view: StateView, rules: EvmRules): Known | undefined {
  const isSame = last !== undefined && last.rules === rules && last.view.deref() === view
  return isSame && memory.number(ctxTransaction) < maxTransactions ? last.known : undefined
}

/** Source and destination of a session's instance. */
export type SessionContext = {
  readonly instance: EvmInstance
  giveBack(instance: EvmInstance): void
  /** Set for an instance of the traced build. */
  readonly watch?: (world: World) => ExitWatch
}

/** State of one block while it runs, on an instance that it owns until disposal. */
export class WasmSession implements EvmSession {
  readonly #world: World
  readonly #table: RulesTable
  readonly #place: SessionContext
  readonly #watch: ExitWatch | undefined
  /** Made for the first native frame: most sessions have none. */
  #natives: NativeFrames | undefined
  /** The exit at which an interrupted message waits. */
  #exit: number = exitEnded
  #interruptCheck: InterruptCheck | undefined
  /** Default interrupt check, for messages that are run without one. */
  readonly #usualPace: InterruptCheck | undefined

  constructor(place: SessionContext, view: StateView, block: BlockEnv, rules: EvmRules, interruptCheck?: InterruptCheck) {
    const { instance } = place
    const { exports, memory } = instance
    const known = knownOf(instance, view, rules)
    const kept = known ?? createKnown()
    if (known === undefined) instance.last = { view: new WeakRef(view), rules, known: kept }
    this.#world = new World(view, instance, kept)
    this.#table = rulesTable(rules)
    this.#place = place
    this.#usualPace = interruptCheck
    this.#watch = place.watch?.(this.#world)
    memory.setNumber(ctxFork, this.#table.fork)
    memory.setNumber(ctxNatives, this.#table.nativeVersion)
    memory.setNumber(ctxCreationOverStorage, this.#table.creationOverStorage)
    memory.u8.set(this.#table.precompileBits, ctxPrecompiles)
    writeBlock(instance, block)
    exports.openSession(known === undefined ? 0 : 1)
    if (known !== undefined) return // opcode table, codes, block hash and placed precompiles of the last session remain valid
    exports.openCodes()
    for (const [address, number] of this.#table.placed) memory.setNumber(this.#world.entryOf(address) + accountPrecompile, number)
  }

  account(address: Address): Account | undefined {
    return this.#world.account(address)
  }

  slot(address: Address, slot: Hash): bigint {
    return this.#world.slot(address, slot)
  }

  code(address: Address): Uint8Array {
    return this.#world.code(this.#world.codeHashOf(this.#world.loaded(address)))
  }

  addBalance(address: Address, wei: bigint): void {
    const entry = this.#world.loaded(address)
    const { exports, memory } = this.#world.instance
    memory.setWord(ioBase, wei)
    this.#guarded(() => exports.credit(entry, ioBase))
  }

  subtractBalance(address: Address, wei: bigint): void {
    const entry = this.#world.loaded(address)
    const { exports, memory } = this.#world.instance
    memory.setWord(ioBase, wei)
    if (!exports.covers(entry, ioBase)) {
      throw new RangeError(`${address} has ${this.account(address)?.balance ?? 0n} wei, not ${wei}`)
    }
    this.#guarded(() => exports.debit(entry, ioBase))
  }

  setNonce(address: Address, nonce: bigint): void {
    if (nonce < 0n || nonce > maxNonce) throw new RangeError(`nonce ${nonce}`)
    const entry = this.#world.loaded(address)
    this.#guarded(() => this.#world.instance.exports.setNonce(entry, nonce))
  }

  setCode(address: Address, code: Uint8Array): void {
    const entry = this.#world.loaded(address)
    this.#world.keepCode(code)
    this.#guarded(() => this.#world.instance.exports.setCodeHash(entry, ioBase))
  }

  setSlot(address: Address, slot: Hash, value: bigint): void {
    const entry = this.#world.loadedSlot(address, slot)
    const { exports, memory } = this.#world.instance
    memory.setWord(ioBase, value)
    this.#guarded(() => exports.setSlot(entry, ioBase))
  }

  /** Runs a change that may trap, because the undo log may be full. */
  #guarded(change: () => void): void {
    try {
      change()
    } catch (error) {
      throw this.#world.faultOf(error)
    }
  }

  checkpoint(): number {
    return this.#world.instance.exports.checkpoint()
  }

  revertTo(checkpoint: number): void {
    this.#world.instance.exports.revertTo(checkpoint)
  }

  beginTransaction(env: TransactionEnv): void {
    const world = this.#world
    const { exports, memory } = world.instance
    if (env.blobHashes.length > maxBlobHashes) throw new RangeError(`${env.blobHashes.length} blob hashes`)
    copyAddress(memory, ctxOrigin, world.entryOf(env.origin))
    memory.setWord(ctxGasPrice, env.gasPrice)
    memory.setNumber(ctxBlobHashCount, env.blobHashes.length)
    for (const [i, hash] of env.blobHashes.entries()) memory.setHexWord(ctxBlobHashes + i * 32, hash)
    this.#guarded(() => {
      exports.beginTransaction()
      for (const { address, slots } of env.warm) world.warm(address, slots)
    })
  }

  run(message: Message, interruptCheck: InterruptCheck | undefined = this.#usualPace): Outcome {
    const { caller, to, value, data, gas } = message
    const world = this.#world
    const { exports, memory } = world.instance
    if (data.length > inputEnd - inputBase) throw evmFault('EVM_TOO_LARGE', {})
    copyAddress(memory, ctxMessageCaller, world.entryOf(caller))
    if (to !== null) copyAddress(memory, ctxMessageTo, world.entryOf(to))
    memory.setWord(ctxMessageValue, value)
    memory.u64[ctxMessageGas >>> 3] = gas
    memory.setNumber(ctxMessageInputSize, data.length)
    memory.setNumber(ctxMessageIsCreate, to === null ? 1 : 0)
    if (data.length > 0) memory.u8.set(data, inputBase)
    world.instance.ioHigh = Math.max(world.instance.ioHigh, data.length)
    this.#watch?.begin()
    this.#interruptCheck = interruptCheck
    interruptCheck?.(gas < gasOfSlice ? Number(gas) : gasOfSlice)
    return this.#goOn(exports.begin)
  }

  resume(): Outcome {
    if (this.#exit === exitEnded) throw new RangeError('no message to resume')
    return this.#serveAndRun()
  }

  #serveAndRun(): Outcome {
    try {
      const exit = this.#serve(this.#exit)
      return this.#goOn(() => exit)
    } catch (error) {
      throw this.#world.faultOf(error)
    }
  }

  /** Serves an exit and runs on. @returns the next exit */
  #serve(exit: number): number {
    if (exit === exitNative) {
      this.#natives ??= new NativeFrames(this.#world, this.#table, this.#watch)
      return this.#natives.serve(this.#interruptCheck)
    }
    serve(exit, this.#world, this.#table, this.#interruptCheck)
    return this.#world.instance.exports.run()
  }

  /** Runs the interpreter, starting with `enter`, and serves its exits until the message ends. */
  #goOn(enter: () => number): Outcome {
    const world = this.#world
    const { exports, memory } = world.instance
    try {
      let exit = enter()
      for (;;) {
        this.#exit = exit
        memory.refresh()
        const isTold = this.#watch?.take(exit) === true
        if (exit === exitEnded) break
        exit = isTold ? exports.run() : this.#serve(exit)
      }
    } catch (error) {
      throw world.faultOf(error)
    }
    this.#interruptCheck = undefined
    this.#watch?.end()
    world.instance.ioHigh = Math.max(world.instance.ioHigh, memory.number(ctxReturnSize))
    return outcomeOf(world)
  }

  endTransaction(): void {
    this.#world.instance.exports.endTransaction()
  }

  diff(): StateDiff {
    return diffOf(this.#world)
  }

  changed(): readonly Address[] {
    return changedIn(this.#world)
  }

  readKeys(): ReadKeys {
    return readKeysOf(this.#world.instance.memory)
  }

  [Symbol.dispose](): void {
    const instance = this.#world.release()
    if (!instance) return
    if (instance.exports.tableBytes() > maxKeptBytes) instance.last = undefined
    this.#place.giveBack(instance)
  }
}
