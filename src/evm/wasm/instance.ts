import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { EvmRules } from '#chainspec/evmRules'
import { lazy } from '#lib/lazy'
import {
  codeBase,
  ctxCodeSoftBytes,
  ctxCodesFound,
  ctxCodeTop,
  ctxMemoryHigh,
  ctxSeed,
  ctxStacksHigh,
  memoryBase,
  stacksBase,
} from '../assembly/layout.ts'
import type { BlockEnv, StateView } from '../ports.ts'
import type { Known } from './known.ts'
import { type LinearMemory, WasmMemory } from './wasmMemory.ts'

/** The used part of the global `WebAssembly`, which the Node types omit. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => WasmModule
  Instance: new (module: WasmModule, imports: object) => { readonly exports: unknown }
  RuntimeError: new (message?: string) => Error
}

/** A compiled module. */
export type WasmModule = object & { readonly [moduleBrand]: true }
declare const moduleBrand: unique symbol

/** Exports of the module. Pointers are numbers; words and hashes are passed by address. */
export type EvmExports = {
  readonly memory: LinearMemory
  openSession(keeps: number): void
  openCodes(): void
  beginTransaction(): void
  endTransaction(): void
  checkpoint(): number
  revertTo(checkpoint: number): void
  accountAt(bytes: number): number
  warm(account: number): void
  hasNoCode(account: number): number
  covers(account: number, word: number): number
  credit(account: number, word: number): void
  debit(account: number, word: number): void
  setNonce(account: number, nonce: bigint): void
  setCodeHash(account: number, bytes: number): void
  nextChangedAccount(from: number): number
  slotOf(account: number, number: number): number
  warmSlot(slot: number): void
  hashSlot(slot: number): void
  loadSlot(slot: number, bytes: number): void
  setSlot(slot: number, word: number): void
  nextChangedSlot(from: number): number
  stateBytesTouched(): number
  tableBytes(): number
  begin(): number
  run(): number
  allocateCode(hashBytes: number, size: number): number
  finishCode(): number
  endPrecompile(ok: number, outputSize: number, cost: bigint): void
  setBlockHash(): void
  restartNative(): void
  endNative(ended: number, outputSize: number, owed: number): number
  loadNative(account: number, slot: number, owed: number): number
  storeNative(account: number, slot: number, value: number, owed: number): number
  moveNative(account: number, slot: number, amount: number, isAdded: number, owed: number): number
  accessNative(address: number, owed: number): number
  logNative(account: number, topics: number, top: number, data: number, size: number, owed: number): number
}

/** An instance of the interpreter with its own memory. It runs one session at a time. */
export type EvmInstance = {
  readonly exports: EvmExports
  readonly memory: WasmMemory
  /** Largest size of input and output in bytes since it was created. */
  ioHigh: number
  /** Codes that the host loaded since they were last counted. */
  codesLoaded: number
  /** View and rules of its last session. */
  last: LastSession | undefined
  /** Block environment currently in its memory. */
  block: BlockEnv | undefined
  /** Set when a trap left the instance in an inconsistent state. */
  isBroken: boolean
}

/** State that the next session reuses when it has the same view and rules. */
export type LastSession = {
  readonly view: WeakRef<StateView>
  readonly rules: EvmRules
  readonly known: Known
}

export type EvmBuild = 'plain' | 'traced'

const files = { plain: './evm.wasm', traced: './evmTraced.wasm' } as const

const compile = (build: EvmBuild): WasmModule => new WebAssembly.Module(readFileSync(new URL(files[build], import.meta.url)))
/** Compiled once per thread. */
const modules = { plain: lazy(() => compile('plain')), traced: lazy(() => compile('traced')) } as const

const imports = {
  env: {
    abort(): never {
      throw new WebAssembly.RuntimeError('abort')
    },
  },
}

/** Compiles a build, so that the first session does not wait for it. */
export function compileBuild(build: EvmBuild): void {
  modules[build]()
}

/**
 * Creates an instance with its own secrets for its hash tables.
 * @param codeBytes soft bound of its code arena
 */
export function createInstance(codeBytes: number, build: EvmBuild): EvmInstance {
  return instanceOf(modules[build](), codeBytes)
}

/** Returns whether a call into an instance ended in a trap. */
export function isTrap(error: unknown): boolean {
  return error instanceof WebAssembly.RuntimeError
}

/** Creates an instance like `createInstance`, from a compiled module. */
function instanceOf(module: WasmModule, codeBytes: number): EvmInstance {
  const exports = new WebAssembly.Instance(module, imports).exports as EvmExports
  const memory = new WasmMemory(exports.memory)
  memory.u8.set(randomBytes(16), ctxSeed)
  memory.setNumber(ctxCodeSoftBytes, codeBytes)
  return { exports, memory, ioHigh: 0, codesLoaded: 0, last: undefined, block: undefined, isBroken: false }
}

/** Returns the bytes of translated code. */
export const translatedBytes = ({ memory }: EvmInstance): number => Math.max(0, memory.number(ctxCodeTop) - codeBase)

/** Takes the reads of codes since the last call, one for each account of a session whose code was needed: those found translated, and those not. */
export function takeCodeReads(instance: EvmInstance): { readonly hits: number; readonly misses: number } {
  const { memory, codesLoaded: misses } = instance
  // a session that ends right after a load has not found that code
  const hits = Math.max(0, memory.number(ctxCodesFound) - misses)
  memory.setNumber(ctxCodesFound, 0)
  instance.codesLoaded = 0
  return { hits, misses }
}

/** Returns the approximate resident memory in bytes; WebAssembly memory never shrinks. */
export function residentBytes(instance: EvmInstance): number {
  const { exports, memory, ioHigh } = instance
  const above = (at: number, base: number): number => Math.max(0, memory.number(at) - base)
  return (
    exports.stateBytesTouched() + above(ctxStacksHigh, stacksBase) + above(ctxMemoryHigh, memoryBase) + translatedBytes(instance) + ioHigh
  )
}
