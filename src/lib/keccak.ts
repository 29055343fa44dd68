import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import type { Hex } from './hex.ts'

/** The used part of the global `WebAssembly`, which the Node types omit. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

type Constant = { readonly value: number }

/** Exports of `src/evm/assembly/keccakModule.ts`; its memory never grows. */
type Exports = {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly arena: Constant
  readonly arenaBytes: Constant
  readonly digest: Constant
  keccak256(size: number): void
  keccak256Hex(size: number): void
  begin(): void
  addArena(): void
  end(size: number): void
}

const compiled = new WebAssembly.Module(readFileSync(new URL('./keccak.wasm', import.meta.url)))
const wasm = new WebAssembly.Instance(compiled, {}).exports as Exports
const memory = new Uint8Array(wasm.memory.buffer)
const text = Buffer.from(wasm.memory.buffer)
const arena = wasm.arena.value
const arenaBytes = wasm.arenaBytes.value
const digest = wasm.digest.value
const digestEnd = digest + 32

/** Returns the Keccak-256 digest: 32 bytes. */
export function keccak256(data: Uint8Array): Uint8Array {
  if (data.length > arenaBytes) return keccak256Of(data)
  memory.set(data, arena)
  wasm.keccak256(data.length)
  return memory.slice(digest, digestEnd)
}

/** Hashes the bytes of a short hex text, such as an address, with Keccak-256. The digits are not checked. RangeError above 65,280 characters. */
export function keccak256Hex(hex: Hex): Uint8Array {
  if (hex.length > arenaBytes) throw new RangeError(`hex text of ${hex.length} characters`)
  text.write(hex, arena, 'latin1')
  wasm.keccak256Hex((hex.length - 2) >> 1)
  return memory.slice(digest, digestEnd)
}

/** Hashes the concatenation of the parts with Keccak-256, without joining them. */
export function keccak256Of(...parts: readonly Uint8Array[]): Uint8Array {
  let filled = 0
  wasm.begin()
  for (const part of parts) {
    for (let from = 0; from < part.length; ) {
      const piece = part.subarray(from, from + arenaBytes - filled)
      memory.set(piece, arena + filled)
      from += piece.length
      filled += piece.length
      if (filled < arenaBytes) continue
      wasm.addArena()
      filled = 0
    }
  }
  wasm.end(filled)
  return memory.slice(digest, digestEnd)
}

/** Hashes the UTF-8 bytes of a text with Keccak-256. */
export function keccak256Text(text: string): Uint8Array {
  return keccak256(Buffer.from(text, 'utf8'))
}
