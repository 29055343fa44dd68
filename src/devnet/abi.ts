import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { keccak256Text } from '#lib/keccak'
import { type Address, type Hash, hashFromBytes } from '#types/ids'

/** Argument of a contract call, of the types that the devnet uses. */
export type AbiValue = bigint | boolean | Address | Uint8Array

const word = (value: bigint): Uint8Array => bytesFromBigint(value, 32)
const wordBytes = 32

function tail(bytes: Uint8Array): Uint8Array {
  const padding = new Uint8Array((wordBytes - (bytes.length % wordBytes)) % wordBytes)
  return concatBytes(word(BigInt(bytes.length)), bytes, padding)
}

/** Encodes arguments in the contract ABI: numbers, booleans and addresses as words, bytes after them. */
export function encodeArguments(values: readonly AbiValue[]): Uint8Array {
  let offset = values.length * wordBytes
  const heads: Uint8Array[] = []
  const tails: Uint8Array[] = []
  for (const value of values) {
    if (!(value instanceof Uint8Array)) {
      heads.push(word(BigInt(value)))
      continue
    }
    const bytes = tail(value)
    heads.push(word(BigInt(offset)))
    tails.push(bytes)
    offset += bytes.length
  }
  return concatBytes(...heads, ...tails)
}

/** Encodes the calldata of a function by its signature: `transfer(address,uint256)`. */
export function encodeCall(signature: string, values: readonly AbiValue[]): Uint8Array {
  return concatBytes(keccak256Text(signature).subarray(0, 4), encodeArguments(values))
}

/** Returns the first topic of an event by its signature. */
export const eventTopic = (signature: string): Hash => hashFromBytes(keccak256Text(signature))
