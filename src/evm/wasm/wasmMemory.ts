import { hexAt, toHex } from '#lib/hex'
import type { Address, Hash } from '#types/ids'

const limit64 = 1n << 64n
const maxWord = 2n ** 256n - 1n

function nibble(code: number): number {
  return code < 58 ? code - 48 : (code | 32) - 87
}

export type LinearMemory = { readonly buffer: ArrayBuffer }

/** Views of an instance's linear memory, renewed when it has grown. Words are four u64 limbs, least significant first. */
export class WasmMemory {
  readonly #memory: LinearMemory
  u8: Uint8Array<ArrayBuffer>
  u32: Uint32Array<ArrayBuffer>
  u64: BigUint64Array<ArrayBuffer>

  constructor(memory: LinearMemory) {
    this.#memory = memory
    const buffer = memory.buffer
    this.u8 = new Uint8Array(buffer)
    this.u32 = new Uint32Array(buffer)
    this.u64 = new BigUint64Array(buffer)
  }

  /** Renews the views; must run after each call that may have grown the memory. A detached buffer has no bytes. */
  refresh(): void {
    if (this.u8.length !== 0) return
    const buffer = this.#memory.buffer
    this.u8 = new Uint8Array(buffer)
    this.u32 = new Uint32Array(buffer)
    this.u64 = new BigUint64Array(buffer)
  }

  /** Returns the u32 at a multiple of four. */
  number(at: number): number {
    return this.u32[at >>> 2] as number
  }

  setNumber(at: number, value: number): void {
    this.u32[at >>> 2] = value
  }

  word(at: number): bigint {
    const { u32, u64 } = this
    const [i, j] = [at >>> 2, at >>> 3]
    const low = u64[j] as bigint
    const isLow = ((u32[i + 2] as number) | (u32[i + 3] as number) | (u32[i + 4] as number) | (u32[i + 5] as number)) === 0
    if (isLow && ((u32[i + 6] as number) | (u32[i + 7] as number)) === 0) return low
    return low | ((u64[j + 1] as bigint) << 64n) | ((u64[j + 2] as bigint) << 128n) | ((u64[j + 3] as bigint) << 192n)
  }

  /** Writes a word; throws RangeError unless the value fits 256 bits. */
  setWord(at: number, value: bigint): void {
    if (value < 0n || value > maxWord) throw new RangeError(`${value} is not a 256-bit word`)
    const { u64 } = this
    const j = at >>> 3
    u64[j] = value
    if (value < limit64) {
      u64[j + 1] = 0n
      u64[j + 2] = 0n
      u64[j + 3] = 0n
      return
    }
    u64[j + 1] = value >> 64n
    u64[j + 2] = value >> 128n
    u64[j + 3] = value >> 192n
  }

  /** Writes an address or a hash as big-endian bytes. */
  setHex(at: number, hex: Address | Hash): void {
    const { u8 } = this
    for (let i = 2; i < hex.length; i += 2) u8[at++] = (nibble(hex.charCodeAt(i)) << 4) | nibble(hex.charCodeAt(i + 1))
  }

  /** Writes an address or a hash as a word. */
  setHexWord(at: number, hex: Address | Hash): void {
    const { u8 } = this
    u8.fill(0, at, at + 32)
    for (let i = hex.length - 2; i >= 2; i -= 2) u8[at++] = (nibble(hex.charCodeAt(i)) << 4) | nibble(hex.charCodeAt(i + 1))
  }

  /** Returns 32 big-endian bytes as hex. */
  hash(at: number): Hash {
    return hexAt(this.u8, at, 32) as Hash
  }

  /** Returns the address stored as limbs in 20 bytes. */
  address(at: number): Address {
    return toHex(this.addressBytes(at)) as Address
  }

  /** Returns the bytes of an address stored as limbs. */
  addressBytes(at: number): Uint8Array<ArrayBuffer> {
    return this.u8.slice(at, at + 20).reverse()
  }

  /** Returns a copy. */
  bytes(at: number, size: number): Uint8Array<ArrayBuffer> {
    return this.u8.slice(at, at + size)
  }

  /** Returns a word as 32 big-endian bytes. */
  wordBytes(at: number): Uint8Array<ArrayBuffer> {
    return this.u8.slice(at, at + 32).reverse()
  }
}
