import { bytesFromBigint, concatBytes, padLeft } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256Text } from '#lib/keccak'

/** An argument: a number, a hex text of an address or word, a text, byte strings, or a list of numbers and addresses. */
export type Argument =
  | bigint
  | number
  | boolean
  | `0x${string}`
  | { readonly text: string }
  | readonly Uint8Array[]
  | readonly (bigint | `0x${string}`)[]

const word = (value: bigint | number | boolean | `0x${string}`): Uint8Array =>
  typeof value === 'string' ? padLeft(fromHex(value), 32) : bytesFromBigint(BigInt(value), 32)

const padded = (bytes: Uint8Array): Uint8Array => concatBytes(bytes, new Uint8Array((32 - (bytes.length % 32)) % 32))
const blob = (bytes: Uint8Array): Uint8Array => concatBytes(word(bytes.length), padded(bytes))

function blobs(list: readonly Uint8Array[]): Uint8Array {
  const tails = list.map(blob)
  const heads = tails.map((_, i) => word(32 * list.length + tails.slice(0, i).reduce((sum, { length }) => sum + length, 0)))
  return concatBytes(word(list.length), ...heads, ...tails)
}

function tailOf(value: Argument): Uint8Array | undefined {
  if (typeof value !== 'object') return undefined
  if ('text' in value) return blob(new TextEncoder().encode(value.text))
  const list = value as readonly (Uint8Array | bigint | `0x${string}`)[]
  if (list.every((each) => each instanceof Uint8Array)) return blobs(list as readonly Uint8Array[])
  return concatBytes(word(list.length), ...list.map((each) => word(each as bigint | `0x${string}`)))
}

/** Encodes arguments; an empty list counts as a list of words. */
export function encode(...values: readonly Argument[]): Uint8Array {
  const tails = values.map((value) => (Array.isArray(value) && value.length === 0 ? word(0) : tailOf(value)))
  let offset = 32 * values.length
  const heads = values.map((value, i) => {
    const tail = tails[i]
    if (tail === undefined) return word(value as bigint)
    const head = word(offset)
    offset += tail.length
    return head
  })
  return concatBytes(...heads, ...tails.flatMap((tail) => tail ?? []))
}

export const selector = (signature: string): Uint8Array => keccak256Text(signature).subarray(0, 4)
export const call = (signature: string, ...values: readonly Argument[]): Uint8Array => concatBytes(selector(signature), encode(...values))
export const nameHash = (name: string): `0x${string}` => toHex(keccak256Text(name))
export const errorData = (signature: string, ...values: readonly Argument[]): string => toHex(call(signature, ...values))
