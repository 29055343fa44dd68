import { isUtf8 } from 'node:buffer'
import { isDynamic, type Param } from './abi.ts'
import { newWord, u64At, viewWord, type Word } from './word.ts'

/** Why call data does not decode; V1 reverts with a text about it (decodeText.ts). */
export type DecodeFailure =
  | { readonly kind: 'overrun' | 'types' | 'capacity' }
  /** Offset of the word that is no offset or length. */
  | { readonly kind: 'offset'; readonly at: number }

/** Call data: a range of bytes; `view` has the same bytes. */
export type CallData = { readonly bytes: Uint8Array; readonly view: DataView; readonly start: number; readonly end: number }

export const callDataOf = (bytes: Uint8Array): CallData => ({
  bytes,
  view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length),
  start: 0,
  end: bytes.length,
})

/** `words`: all parameters are static; `mixed`: some are dynamic; `struct`: members of a struct, which an offset precedes. */
export type ArgsLayout = 'words' | 'mixed' | 'struct'

export const layoutOf = (params: readonly Param[]): ArgsLayout => (params.some(isDynamic) ? 'mixed' : 'words')

/** Lengths of arrays from here on exceed the address space of the reference implementation, whose error differs. */
const maxCapacity = 2 ** 58

/**
 * Decoded arguments: positions in the call data, whose bytes stay where they are. A static argument has the position of its word; a dynamic one the
 * position after its length, and its length.
 */
export class Args {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #end: number
  /** Position of the first argument's head. */
  #base: number
  /** Undefined when all parameters are static: their words follow each other. */
  #at: number[] | undefined
  #size: readonly number[] | undefined
  #failure: DecodeFailure | undefined

  /** Decodes the parameters from a position on. `failure` tells whether that succeeded. */
  constructor(params: readonly Param[], { bytes, view, end }: CallData, base: number, layout: ArgsLayout) {
    this.#bytes = bytes
    this.#view = view
    this.#end = end
    this.#base = base
    if (layout === 'struct') this.#base = this.#structAt(base)
    if (layout === 'words') {
      if (base + 32 * params.length > end) this.#failure = { kind: 'overrun' }
    } else this.#takeAll(params)
    if (this.#failure === undefined && !this.#hasTypes(params)) this.#failure = { kind: 'types' }
  }

  /** Decodes an encoded struct with dynamic members: an offset, then the members. */
  static ofStruct(params: readonly Param[], data: CallData): Args {
    return new Args(params, data, data.start, 'struct')
  }

  #structAt(base: number): number {
    return base + 32 > this.#end ? this.#fail({ kind: 'overrun' }) : this.#offset(base, base)
  }

  #takeAll(params: readonly Param[]): void {
    this.#at = []
    const sizes: number[] = []
    this.#size = sizes
    for (let i = 0; i < params.length && this.#failure === undefined; i++) {
      this.#take(params[i] as Param, this.#base, this.#base + 32 * i, this.#at, sizes)
    }
  }

  #position(index: number): number {
    return this.#at === undefined ? this.#base + 32 * index : (this.#at[index] as number)
  }

  get failure(): DecodeFailure | undefined {
    return this.#failure
  }

  /** Returns the 32 bytes at a position of the call data. */
  bytesAt(at: number): Uint8Array {
    return this.#bytes.slice(at, at + 32)
  }

  word(index: number, to: Word = newWord()): Word {
    return viewWord(to, this.#view, this.#position(index))
  }

  u64(index: number): bigint {
    return u64At(this.word(index), 0)
  }

  /** Returns the lowest byte of a word, for enums. */
  number(index: number): number {
    return this.#bytes[this.#position(index) + 31] as number
  }

  /** Returns a boolean: every byte except zero means true. */
  flag(index: number): boolean {
    return this.number(index) !== 0
  }

  /** Returns the bytes of a string or byte string: a view. */
  bytes(index: number): Uint8Array {
    const at = this.#position(index)
    return this.#bytes.subarray(at, at + this.count(index))
  }

  /** Returns the length of an array. */
  count(index: number): number {
    return this.#size?.[index] ?? 0
  }

  element(index: number, position: number, to: Word = newWord()): Word {
    return viewWord(to, this.#view, this.#position(index) + 32 * position)
  }

  elements(index: number): Word[] {
    return Array.from({ length: this.count(index) }, (_, position) => this.element(index, position))
  }

  /** Returns an element of an array of byte strings as call data, without a copy. */
  blobData(index: number, position: number): CallData {
    const heads = this.#position(index)
    const start = heads + this.#small(heads + 32 * position) + 32
    return { bytes: this.#bytes, view: this.#view, start, end: start + this.#small(start - 32) }
  }

  /** Returns an element of an array of byte strings: a view. */
  blob(index: number, position: number): Uint8Array {
    const { start, end } = this.blobData(index, position)
    return this.#bytes.subarray(start, end)
  }

  #take(param: Param, base: number, at: number, ats: number[], sizes: number[]): void {
    if (at + 32 > this.#end) this.#fail({ kind: 'overrun' })
    else if (param.kind === 'array' || param.kind === 'blobs') this.#takeArray(param, base, at, ats, sizes)
    else if (param.kind === 'text' || param.kind === 'blob') {
      const found = this.#takeBlob(base, at)
      ats.push(found)
      sizes.push(found < 0 ? 0 : this.#small(found - 32))
    } else {
      ats.push(at)
      sizes.push(0)
    }
  }

  /** @returns the position of the bytes, or -1 after a failure */
  #takeBlob(base: number, at: number): number {
    const start = this.#offset(at, base)
    if (start < 0) return -1
    const size = this.#length(start)
    if (size < 0) return -1
    return start + 32 + size > this.#end ? this.#fail({ kind: 'overrun' }) : start + 32
  }

  #takeArray(param: Param, base: number, at: number, ats: number[], sizes: number[]): void {
    const start = this.#offset(at, base)
    const count = start < 0 ? -1 : this.#length(start)
    ats.push(start + 32)
    sizes.push(count)
    if (count < 0) return
    if (count >= maxCapacity) this.#fail({ kind: 'capacity' })
    else if (param.kind === 'array') {
      if (start + 32 + 32 * count > this.#end) this.#fail({ kind: 'overrun' })
    } else this.#checkBlobs(start + 32, count)
  }

  #checkBlobs(heads: number, count: number): void {
    for (let i = 0; i < count && this.#failure === undefined; i++) {
      const at = heads + 32 * i
      if (at + 32 > this.#end) this.#fail({ kind: 'overrun' })
      else this.#takeBlob(heads, at)
    }
  }

  /** Returns the position that the offset at `at` leads to, or -1 after a failure. */
  #offset(at: number, base: number): number {
    const offset = this.#size64(at)
    if (offset < 0) return -1
    return base + offset > this.#end ? this.#fail({ kind: 'overrun' }) : base + offset
  }

  /** Returns the length at `at`, or -1 after a failure. */
  #length(at: number): number {
    return at + 32 > this.#end ? this.#fail({ kind: 'overrun' }) : this.#size64(at)
  }

  /** Returns an offset or length below 2^64, rounded above 2^53, where each exceeds the input; -1 after a failure. */
  #size64(at: number): number {
    for (let i = at; i < at + 24; i++) if (this.#bytes[i] !== 0) return this.#fail({ kind: 'offset', at })
    return this.#small(at)
  }

  #small(at: number): number {
    let value = 0
    for (let i = at + 24; i < at + 32; i++) value = value * 256 + (this.#bytes[i] as number)
    return value
  }

  #fail(failure: DecodeFailure): -1 {
    this.#failure = failure
    return -1
  }

  #hasTypes(params: readonly Param[]): boolean {
    for (let i = 0; i < params.length; i++) if (!this.#hasType(params[i] as Param, i)) return false
    return true
  }

  #hasType(param: Param, index: number): boolean {
    if (param.kind === 'text') return isUtf8(this.bytes(index))
    if (param.kind !== 'array') return this.#isOfType(param, this.#position(index))
    const at = this.#position(index)
    for (let i = 0; i < this.count(index); i++) if (!this.#isOfType(param.element, at + 32 * i)) return false
    return true
  }

  /** Returns whether a static value has no bits outside its type. */
  #isOfType(param: Param, at: number): boolean {
    switch (param.kind) {
      case 'number':
        if (param.bits === 160) return (this.#view.getUint32(at) | this.#view.getUint32(at + 4) | this.#view.getUint32(at + 8)) === 0
        return isZeroRange(this.#bytes, at, at + 32 - param.bits / 8)
      case 'bool':
        return isZeroRange(this.#bytes, at, at + 31)
      case 'enum':
        return isZeroRange(this.#bytes, at, at + 31) && (this.#bytes[at + 31] as number) < param.limit
      case 'fixed':
        return isZeroRange(this.#bytes, at + param.bytes, at + 32)
      default:
        return true
    }
  }
}

function isZeroRange(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i] !== 0) return false
  return true
}
