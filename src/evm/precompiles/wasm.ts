import { readFileSync } from 'node:fs'
import { lazy } from '#lib/lazy'

/** The used part of the global `WebAssembly`, which the Node types omit. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

/** Functions of `src/evm/assembly/precompiles`, where their arguments and results are documented. Addresses are in the module's memory. */
export type PrecompileWasm = {
  readonly memory: { readonly buffer: ArrayBuffer }
  blake2Input(): number
  blake2Begin(isFinal: number): void
  blake2Rounds(count: number): void
  blake2Finish(): void
  modexpPieceBytes(): number
  modexpPiece(): number
  modexpReserve(baseBytes: number, modulusBytes: number): number
  modexpBegin(): void
  modexpShort(exponent: number): void
  modexpTable(): void
  modexpRaise(bytes: number): void
  modexpFinish(): void
  p256Input(): number
  p256Verify(): number
}

const compiled = lazy(() => new WebAssembly.Module(readFileSync(new URL('./precompiles.wasm', import.meta.url))))

/** Creates an instance with its own memory. */
export function createPrecompileWasm(): PrecompileWasm {
  return new WebAssembly.Instance(compiled(), {}).exports as PrecompileWasm
}
