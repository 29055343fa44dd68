import { emptyBytes } from '#lib/bytes'
import { newWord, setBigint, type Word, writeWord } from './word.ts'

/**
 * A parameter type. `enum` is a uint8 below `limit`. `text` is a string, `array` has elements of one word, `blobs` is bytes[].
 */
export type Param =
  | { readonly kind: 'word' | 'bool' | 'blob' | 'text' | 'blobs'; readonly name: string }
  /** Unsigned integer or address: the `bits` lowest bits of the word. */
  | { readonly kind: 'number'; readonly name: string; readonly bits: number }
  /** The first `bytes` bytes of the word. */
  | { readonly kind: 'fixed'; readonly name: string; readonly bytes: number }
  | { readonly kind: 'enum'; readonly name: string; readonly limit: number }
  | { readonly kind: 'array'; readonly name: string; readonly element: Param }

const simple: Readonly<Record<string, Param>> = {
  uint256: { kind: 'word', name: 'uint256' },
  bytes32: { kind: 'word', name: 'bytes32' },
  bool: { kind: 'bool', name: 'bool' },
  bytes: { kind: 'blob', name: 'bytes' },
  string: { kind: 'text', name: 'string' },
  'bytes[]': { kind: 'blobs', name: 'bytes[]' },
  address: { kind: 'number', name: 'address', bits: 160 },
}

/** Parses a type. `enum<N>` is an enum of N values, which signatures name uint8. */
function paramOf(text: string): Param {
  const known = simple[text]
  if (known) return known
  if (text.endsWith('[]')) {
    const element = paramOf(text.slice(0, -2))
    return { kind: 'array', name: `${element.name}[]`, element }
  }
  const number = /^(uint|bytes|enum)<?(\d+)>?$/.exec(text)
  const size = Number(number?.[2])
  if (number?.[1] === 'uint') return { kind: 'number', name: text, bits: size }
  if (number?.[1] === 'bytes') return { kind: 'fixed', name: text, bytes: size }
  if (number?.[1] === 'enum') return { kind: 'enum', name: 'uint8', limit: size }
  throw new RangeError(`the ABI type ${text}`)
}

/** Returns the parameters of a declaration such as `pause(enum<3>[])`. */
export function paramsOf(declaration: string): readonly Param[] {
  const inner = declaration.slice(declaration.indexOf('(') + 1, -1)
  return inner === '' ? [] : inner.split(',').map(paramOf)
}

/** Returns the signature of a declaration, with the types of the ABI. */
export function signatureOf(declaration: string): string {
  const names = paramsOf(declaration).map(({ name }) => name)
  return `${declaration.slice(0, declaration.indexOf('('))}(${names.join(',')})`
}

/** The tuple of the parameters' types, as error texts name it. */
export const tupleName = (params: readonly Param[]): string => `(${params.map(({ name }) => name).join(',')})`

/** A value to encode: a word or number, bytes or text as bytes, or the elements of an array. */
export type AbiValue = Word | bigint | number | boolean | Uint8Array | readonly AbiValue[]

export const isDynamic = ({ kind }: Param): boolean => kind === 'blob' || kind === 'text' || kind === 'array' || kind === 'blobs'
const padded = (bytes: number): number => (bytes + 31) & ~31

function tailBytes(param: Param, value: AbiValue): number {
  if (param.kind === 'array') return 32 + 32 * (value as readonly AbiValue[]).length
  if (param.kind !== 'blobs') return 32 + padded((value as Uint8Array).length)
  return (value as readonly Uint8Array[]).reduce((sum, blob) => sum + 64 + padded(blob.length), 32)
}

const scratch = newWord()

function writeValue(to: Uint8Array, at: number, value: AbiValue): void {
  if (value instanceof Uint32Array) writeWord(to, at, value)
  else if (value instanceof Uint8Array) to.set(value, at)
  else writeWord(to, at, setBigint(scratch, BigInt(value as bigint | number | boolean)))
}

function writeBlob(to: Uint8Array, at: number, blob: Uint8Array): number {
  writeValue(to, at, blob.length)
  to.set(blob, at + 32)
  return 32 + padded(blob.length)
}

function writeTail(to: Uint8Array, at: number, param: Param, value: AbiValue): void {
  if (param.kind === 'array') {
    const elements = value as readonly AbiValue[]
    writeValue(to, at, elements.length)
    for (const [i, element] of elements.entries()) writeValue(to, at + 32 + 32 * i, element)
    return
  }
  if (param.kind !== 'blobs') {
    writeBlob(to, at, value as Uint8Array)
    return
  }
  const blobs = value as readonly Uint8Array[]
  writeValue(to, at, blobs.length)
  let offset = 32 * blobs.length
  for (const [i, blob] of blobs.entries()) {
    writeValue(to, at + 32 + 32 * i, offset)
    offset += writeBlob(to, at + 32 + offset, blob)
  }
}

/**
 * Most bytes of encoded arguments. Elements of malformed call data may overlap, so that the text about them, which V1 returns, has up to the square
 * of their size.
 */
const maxEncodedBytes = 48 * 2 ** 20

/** Thrown when an output exceeds what an interpreter can hold; no valid block can cause it. */
export class NativeTooLarge extends Error {}

/** Encodes arguments, after a prefix such as a selector. */
export function encodeArguments(params: readonly Param[], values: readonly AbiValue[], prefix: Uint8Array = emptyBytes): Uint8Array {
  let size = 32 * params.length
  for (const [i, param] of params.entries()) if (isDynamic(param)) size += tailBytes(param, values[i] as AbiValue)
  if (size > maxEncodedBytes) throw new NativeTooLarge(`${size} bytes of arguments`)
  const base = prefix.length
  const encoded = new Uint8Array(base + size)
  encoded.set(prefix)
  let tail = 32 * params.length
  for (const [i, param] of params.entries()) {
    const value = values[i] as AbiValue
    if (!isDynamic(param)) {
      writeValue(encoded, base + 32 * i, value)
      continue
    }
    writeValue(encoded, base + 32 * i, tail)
    writeTail(encoded, base + tail, param, value)
    tail += tailBytes(param, value)
  }
  return encoded
}
