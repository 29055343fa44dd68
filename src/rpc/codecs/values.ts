import { fromHex, type Hex, toHex, toQuantity } from '#lib/hex'
import { type Address, type Hash, parseAddress, parseHash } from '#types/ids'
import type { Json } from '../json.ts'
import { type JsonSchema, nullable, refTo } from '../reference/schemas.ts'
import type { ParamCodec, ResultCodec } from '../registry.ts'
import { ParamError, within } from './paramError.ts'

/** Kind of a JSON value, for error texts. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'sequence'
  if (typeof value === 'object') return 'map'
  if (typeof value === 'string') return `string ${JSON.stringify(value.slice(0, 80))}`
  return `${typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value} \`${value}\``
}

export function wrongType(value: unknown, expected: string): ParamError {
  return new ParamError(`invalid type: ${kindOf(value)}, expected ${expected}`)
}

/** Digits of a hex string without its prefix. `0x` is optional, as in other clients. */
function hexDigits(value: unknown, expected: string): string {
  if (typeof value !== 'string') throw wrongType(value, expected)
  const digits = /^0x/i.test(value) ? value.slice(2) : value
  const wrong = digits.search(/[^0-9a-fA-F]/)
  if (wrong >= 0) throw new ParamError(`invalid character '${digits[wrong]}' at position ${wrong}`)
  return digits
}

function fixedHex(value: unknown, bytes: number): Hex {
  const digits = hexDigits(value, `${bytes} bytes, represented as a hex string of length ${bytes * 2}`)
  if (digits.length % 2 === 1) throw new ParamError('odd number of digits')
  if (digits.length !== bytes * 2) throw new ParamError('invalid string length')
  return `0x${digits}`
}

export const address: ParamCodec<Address> & ResultCodec<Address> = {
  doc: 'address, 20 bytes in hex',
  schema: refTo('Address'),
  parse: (value) => parseAddress(fixedHex(value, 20)),
  encode: (value) => value,
}

export const hash: ParamCodec<Hash> & ResultCodec<Hash> = {
  doc: '32 bytes in hex',
  schema: refTo('Hash'),
  parse: (value) => parseHash(fixedHex(value, 32)),
  encode: (value) => value,
}

export const bytes: ParamCodec<Uint8Array> & ResultCodec<Uint8Array> = {
  doc: 'bytes in hex',
  schema: refTo('Bytes'),
  parse(value): Uint8Array {
    const digits = hexDigits(value, 'a string of hex digits')
    if (digits.length % 2 === 1) throw new ParamError('odd number of digits')
    return fromHex(`0x${digits}`)
  },
  encode: toHex,
}

/** Result codec of a storage value: 32 bytes. */
export const word: ResultCodec<bigint> = {
  doc: '32 bytes in hex',
  schema: refTo('Hash'),
  encode: (value) => `0x${value.toString(16).padStart(64, '0')}`,
}

/** Parses an unsigned integer of at most `bits`. Accepts leading zeros, as other clients do. */
function unsigned(value: unknown, bits: number): bigint {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value)
  if (typeof value !== 'string') throw wrongType(value, `a ${bits}-bit unsigned integer in hex`)
  if (!/^0x/i.test(value)) throw new ParamError('hex string without 0x prefix')
  if (value.length === 2) throw new ParamError('cannot parse integer from empty string')
  if (!/^0x[0-9a-fA-F]+$/i.test(value)) throw new ParamError('invalid digit found in string')
  const digits = value.slice(2).replace(/^0+(?=.)/, '')
  const parsed = digits.length * 4 > bits + 4 ? undefined : BigInt(`0x${digits}`)
  if (parsed === undefined || parsed >> BigInt(bits) !== 0n) throw new ParamError('number too large to fit in target type')
  return parsed
}

export const quantity: ParamCodec<bigint> & ResultCodec<bigint | number> = {
  doc: 'quantity: hex without leading zeros',
  schema: refTo('Quantity'),
  parse: (value) => unsigned(value, 256),
  encode: toQuantity,
}

const quantityOf = (bits: number): ParamCodec<bigint> => ({
  doc: `quantity of at most ${bits} bits`,
  schema: refTo('Quantity'),
  parse: (value) => unsigned(value, bits),
})

export const gasQuantity: ParamCodec<bigint> = quantityOf(64)
export const byteQuantity: ParamCodec<bigint> = quantityOf(8)

/** Parses a block number. Numbers above 2^53 become 2^53 − 1, where no block exists either. */
export function blockNumber(value: unknown): number {
  const parsed = unsigned(value, 64)
  return parsed > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(parsed)
}

/** Codec of a block number, an index or a count. */
export const position: ParamCodec<number> = { doc: 'quantity', schema: refTo('Quantity'), parse: blockNumber }

export const flag: ParamCodec<boolean> & ResultCodec<boolean> = {
  doc: 'true or false',
  schema: { type: 'boolean' },
  parse(value): boolean {
    if (typeof value !== 'boolean') throw wrongType(value, 'a boolean')
    return value
  },
  encode: (value) => value,
}

export const text: ParamCodec<string> & ResultCodec<string> = {
  doc: 'text',
  schema: { type: 'string' },
  parse(value): string {
    if (typeof value !== 'string') throw wrongType(value, 'a string')
    return value
  },
  encode: (value) => value,
}

/** A storage slot and its written form: the answer repeats a quantity as a quantity. */
export type SlotKey = { readonly slot: Hash; readonly written: Hex }

export const slotKey: ParamCodec<SlotKey> = {
  doc: 'storage slot: 32 bytes in hex, or a quantity',
  schema: { anyOf: [refTo('Hash'), refTo('Quantity')] },
  parse(value): SlotKey {
    if (typeof value === 'string' && value.length === 66) {
      const slot = hash.parse(value)
      return { slot, written: slot }
    }
    if (typeof value === 'string' && value.length > 66 && /^0x[0-9a-f]+$/i.test(value)) {
      throw new ParamError(`storage key too long (want at most 32 bytes): ${JSON.stringify(value.slice(0, 200))}`, 'senseless')
    }
    const number = unsigned(value, 256)
    return { slot: word.encode(number) as Hash, written: toQuantity(number) }
  },
}

/** Codec of a list with at most `max` items. */
export function listOf<T>(item: ParamCodec<T>, max: number): ParamCodec<readonly T[]> {
  return {
    doc: `list of at most ${max}: ${item.doc}`,
    schema: { type: 'array', maxItems: max, items: item.schema ?? {} },
    parse(value): readonly T[] {
      if (!Array.isArray(value)) throw wrongType(value, 'a sequence')
      if (value.length > max) throw new ParamError(`list of ${value.length} items, at most ${max} allowed`, 'senseless')
      return value.map((each: unknown, index) => within(index, () => item.parse(each)))
    },
  }
}

/** Description of a result that may be absent. */
export const describedOrNull = ({
  doc,
  schema = {},
}: Omit<ResultCodec<never>, 'encode'>): { readonly doc: string; readonly schema: JsonSchema } => ({
  doc: `${doc}; null when there is none`,
  schema: nullable(schema),
})

/** Result codec of a value that may be absent. */
export function orNull<T>(codec: ResultCodec<T>): ResultCodec<T | undefined> {
  return { ...describedOrNull(codec), encode: (value) => (value === undefined ? null : codec.encode(value)) }
}

export function resultList<T>(codec: ResultCodec<T>): ResultCodec<readonly T[]> {
  return {
    doc: `list: ${codec.doc}`,
    schema: { type: 'array', items: codec.schema ?? {} },
    encode: (values) => values.map((value) => codec.encode(value)),
  }
}

/** Result codec of a value that is JSON already. */
export function anyJson(doc: string, schema: JsonSchema): ResultCodec<Json> {
  return { doc, schema, encode: (value) => value }
}

/** Result codec of a method that returns nothing. */
export function noResult(doc: string): ResultCodec<void> {
  return { doc, schema: { type: 'null' }, encode: () => null }
}
