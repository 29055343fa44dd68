import { fromRlp, type Hex, toHex, toRlp } from 'viem'
import { demand, SpecError } from './cursor.ts'

/** RLP item as viem decodes it. */
export type Rlp = Hex | readonly Rlp[]

/** Decodes exactly one item. Throws SpecError for invalid RLP and for a non-canonical encoding. */
export function rlpOf(bytes: Uint8Array, field: string): Rlp {
  let item: Rlp
  try {
    item = fromRlp(bytes, 'hex') as Rlp
  } catch (cause) {
    throw new SpecError(`${field}: invalid RLP`, { cause })
  }
  demand(toRlp(item as Hex) === toHex(bytes), `${field}: RLP is not canonical`)
  return item
}

export function listOf(item: Rlp | undefined, length: number | 'any', field: string): readonly Rlp[] {
  if (item === undefined || typeof item === 'string') throw new SpecError(`${field}: expected a list`)
  demand(length === 'any' || item.length === length, `${field}: list of ${item.length} items, expected ${length}`)
  return item
}

export function stringOf(item: Rlp | undefined, byteCount: number | 'any', field: string): Hex {
  if (typeof item !== 'string') throw new SpecError(`${field}: expected a byte string`)
  demand(byteCount === 'any' || item.length === 2 + 2 * byteCount, `${field}: ${(item.length - 2) / 2} bytes, expected ${byteCount}`)
  return item
}

/** Decodes an integer without leading zeros. */
export function integerOf(item: Rlp | undefined, bits: number, field: string): bigint {
  const text = stringOf(item, 'any', field)
  demand(!text.startsWith('0x00'), `${field}: integer has a leading zero`)
  const value = text === '0x' ? 0n : BigInt(text)
  demand(value < 1n << BigInt(bits), `${field}: more than ${bits} bits`)
  return value
}
