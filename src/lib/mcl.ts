import { Buffer } from 'node:buffer'
import { getRandomValues } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { lazy } from './lazy.ts'

/** The used part of the global `WebAssembly`, which the Node types omit. */
declare const WebAssembly: {
  Memory: new (descriptor: { initial: number }) => { readonly buffer: ArrayBuffer }
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

export type MclCurve = 'bn254' | 'bls12-381'

/** The library's id of each curve, and the size of an encoded base field element. */
const curves = {
  bn254: { id: 4, fpBytes: 32 },
  'bls12-381': { id: 5, fpBytes: 48 },
} as const

/** Size check of the library, which refuses to start on a mismatch: 10 × words of a scalar + words of a base field element. */
const compiledFor = 4 * 10 + 6
/** Selects the map to curve of RFC 9380. */
const mapToCurveRfc = 5

/** Sizes in bytes of values in the library's memory, equal for every curve. G1 has three field elements (x, y, z), G2 three pairs. */
export const mclSizes = { fp: 48, fp2: 96, fr: 32, g1: 144, g2: 288, gt: 576 } as const

/** The used functions of the library, under its own names. Arguments are addresses in its memory; the result comes first. */
export type MclFunctions = {
  mclBnFp_setInt32(at: number, value: number): void
  mclBnFp_mapToG1(g1: number, fp: number): number
  mclBnFp2_mapToG2(g2: number, fp2: number): number
  mclBnFr_isEqual(a: number, b: number): number
  mclBnG1_clear(at: number): void
  mclBnG1_isZero(at: number): number
  mclBnG1_isValid(at: number): number
  mclBnG1_isValidOrder(at: number): number
  mclBnG1_normalize(to: number, at: number): void
  mclBnG1_add(to: number, a: number, b: number): void
  mclBnG1_mul(to: number, point: number, scalar: number): void
  mclBnG1_mulVec(to: number, points: number, scalars: number, count: number): void
  mclBnG2_clear(at: number): void
  mclBnG2_isZero(at: number): number
  mclBnG2_isValid(at: number): number
  mclBnG2_isValidOrder(at: number): number
  mclBnG2_normalize(to: number, at: number): void
  mclBnG2_add(to: number, a: number, b: number): void
  mclBnG2_mulVec(to: number, points: number, scalars: number, count: number): void
  mclBn_millerLoopVec(gt: number, g1s: number, g2s: number, count: number): void
  mclBn_finalExp(to: number, gt: number): void
  mclBnGT_isOne(gt: number): number
}

type MclExports = MclFunctions & {
  __wasm_call_ctors(): void
  malloc(size: number): number
  free(at: number): void
  mclBn_init(curve: number, compiledTimeVar: number): number
  mclBn_setMapToMode(mode: number): number
  mclBn_verifyOrderG1(on: number): void
  mclBn_verifyOrderG2(on: number): void
  mclBnFp_deserialize(at: number, from: number, size: number): number
  mclBnFp_serialize(to: number, size: number, at: number): number
  mclBnFr_setBigEndianMod(at: number, from: number, size: number): number
}

/** One curve with its own memory. Values live at addresses from `scratch`; numbers are exchanged as big-endian bytes. */
export type Mcl = {
  readonly fn: MclFunctions
  /** Length in bytes of a base field element as `fpBytes` returns it: 32 or 48. */
  readonly fpLength: number
  /** Returns a memory area of `size` bytes. Each call invalidates the area of the previous call. */
  scratch(size: number): number
  /** Stores a field element. Returns false unless the number is below the modulus of the field. */
  setFp(at: number, bigEndian: Uint8Array): boolean
  fpBytes(at: number): Uint8Array
  /** Stores a scalar, reduced modulo the order of the group. */
  setFrMod(at: number, bigEndian: Uint8Array): void
}

const require = createRequire(import.meta.url)

/**
 * Compiles the WebAssembly of the package once, on the first use (4 ms). The package's own loader is not used: it is asynchronous, and decodes and
 * compiles the same half megabyte again for each curve (40 ms each).
 */
const compiled = lazy((): object => {
  const file = require.resolve('mcl-wasm/dist/mcl_c.js')
  const base64 = /wasmBase64 = '([A-Za-z0-9+/=]+)'/.exec(readFileSync(file, 'latin1'))?.[1]
  if (base64 === undefined) throw new Error(`${file} does not hold the WebAssembly that version 2.4.1 of mcl-wasm holds`)
  return new WebAssembly.Module(Buffer.from(base64, 'base64'))
})

/**
 * Opens one curve; takes 1 ms. `isValid` checks the curve equation but not the subgroup; `isValidOrder` checks only the subgroup.
 * @throws Error when the installed package version is not the supported one
 */
export function createMcl(curve: MclCurve): Mcl {
  const memory = new WebAssembly.Memory({ initial: 32 })
  const cryptoGetRandomValues = (at: number, size: number): void => {
    getRandomValues(new Uint8Array(memory.buffer, at, size))
  }
  const instance = new WebAssembly.Instance(compiled(), { env: { memory, cryptoGetRandomValues } })
  const wasm = instance.exports as MclExports
  const { id, fpBytes: fpLength } = curves[curve]
  wasm.__wasm_call_ctors()
  if (wasm.mclBn_init(id, compiledFor) !== 0) throw new Error(`mcl-wasm does not open ${curve}`)
  wasm.mclBn_verifyOrderG1(0)
  wasm.mclBn_verifyOrderG2(0)
  if (curve === 'bls12-381') wasm.mclBn_setMapToMode(mapToCurveRfc)

  const io = wasm.malloc(64)
  let scratchAt = 0
  let scratchSize = 0
  const put = (bytes: Uint8Array): void => new Uint8Array(memory.buffer).set(bytes, io)
  return {
    fn: wasm,
    fpLength,
    scratch(size): number {
      if (size > scratchSize) {
        if (scratchAt !== 0) wasm.free(scratchAt)
        scratchAt = wasm.malloc(size)
        scratchSize = size
        if (scratchAt === 0) throw new RangeError(`no ${size} bytes of memory for ${curve}`)
      }
      return scratchAt
    },
    setFp(at, bigEndian): boolean {
      put(bigEndian.toReversed())
      return wasm.mclBnFp_deserialize(at, io, fpLength) === fpLength
    },
    fpBytes(at): Uint8Array {
      wasm.mclBnFp_serialize(io, 64, at)
      return new Uint8Array(memory.buffer, io, fpLength).toReversed()
    },
    setFrMod(at, bigEndian): void {
      put(bigEndian)
      wasm.mclBnFr_setBigEndianMod(at, io, bigEndian.length)
    },
  }
}
