import { fromRlp, type Hex, toHex, toRlp } from 'viem'
import { demand, SpecError } from './cursor.ts'

/** `rlp` as viem reads it. */
export type Rlp = Hex | readonly Rlp[]

/** The one item that these bytes are; a SpecError when they are none, or not in the one form an encoder may write. */
export function rlpOf(bytes: Uint8Array, field: string): Rlp {
  let item: Rlp
  try {
    item = fromRlp(bytes, 'hex') as Rlp
  } catch (cause) {
    throw new SpecError(`${field}: no RLP`, { cause })
  }
  demand(toRlp(item as Hex) === toHex(bytes), `${field}: RLP in another form than the canonical one`)
  return item
}

export function listOf(item: Rlp | undefined, length: number | 'any', field: string): readonly Rlp[] {
  if (item === undefined || typeof item === 'string') throw new SpecError(`${field}: a list was expected`)
  demand(length === 'any' || item.length === length, `${field}: a list of ${item.length}, ${length} expected`)
  return item
}

export function stringOf(item: Rlp | undefined, byteCount: number | 'any', field: string): Hex {
  if (typeof item !== 'string') throw new SpecError(`${field}: a byte string was expected`)
  demand(byteCount === 'any' || item.length === 2 + 2 * byteCount, `${field}: ${(item.length - 2) / 2} bytes, ${byteCount} expected`)
  return item
}

/** An integer without leading zeros. */
export function integerOf(item: Rlp | undefined, bits: number, field: string): bigint {
  const text = stringOf(item, 'any', field)
  demand(!text.startsWith('0x00'), `${field}: an integer with a leading zero`)
  const value = text === '0x' ? 0n : BigInt(text)
  demand(value < 1n << BigInt(bits), `${field}: more than ${bits} bits`)
  return value
}
