import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { keccak256Text } from '#lib/keccak'
import { encodeArguments as encodeParams, type AbiValue as KitValue, type Param, paramsOf, signatureOf } from '#nativeContracts/kit/abi'
import { Args, callDataOf, layoutOf } from '#nativeContracts/kit/args'
import { bigintOf, bytesOf, type Word } from '#nativeContracts/kit/word'
import { type Hash, hashFromBytes } from '#types/ids'

/** Argument of a contract call. An address or a hash is its hex text, bytes are an array of bytes, and a list is an array. */
export type AbiValue = bigint | number | boolean | string | Uint8Array | readonly AbiValue[]

/** Decoded value: addresses, hashes and texts are strings. */
export type DecodedValue = bigint | boolean | string | Uint8Array | readonly DecodedValue[]

/** Returns the lowest value above those of a type of one word. */
function boundOf(param: Param): bigint {
  if (param.kind === 'enum') return BigInt(param.limit)
  return 2n ** BigInt(param.kind === 'bool' ? 1 : param.kind === 'number' ? param.bits : 256)
}

/** @throws RangeError when the type cannot hold the value */
function kitValue(param: Param, value: AbiValue): KitValue {
  if (param.kind === 'array') return (value as readonly AbiValue[]).map((element) => kitValue(param.element, element))
  if (param.kind === 'text') return new TextEncoder().encode(value as string)
  if (param.kind === 'blob' || param.kind === 'blobs') return value as KitValue
  if (param.kind === 'fixed') throw new RangeError(`the ABI type ${param.name}`)
  const number = BigInt(value as bigint | number | boolean | string)
  if (number < 0n || number >= boundOf(param)) throw new RangeError(`${number} is not a value of the ABI type ${param.name}`)
  return number
}

function encode(params: readonly Param[], values: readonly AbiValue[], prefix?: Uint8Array): Uint8Array {
  if (params.length !== values.length) throw new RangeError(`${values.length} values for ${params.length} parameters`)
  const converted = params.map((param, i) => kitValue(param, values[i] as AbiValue))
  return encodeParams(params, converted, prefix)
}

/** Encodes arguments in the contract ABI. @param types such as `(address,uint256)` @throws RangeError for a value outside its type */
export const encodeArguments = (types: string, values: readonly AbiValue[]): Uint8Array => encode(paramsOf(types), values)

/** Encodes a struct with dynamic members as the only argument: an offset, then the members. */
export const encodeStruct = (types: string, values: readonly AbiValue[]): Uint8Array =>
  concatBytes(bytesFromBigint(32n, 32), encodeArguments(types, values))

/** Encodes the calldata of a function by its signature: `transfer(address,uint256)`. */
export function encodeCall(signature: string, values: readonly AbiValue[]): Uint8Array {
  return encode(paramsOf(signature), values, keccak256Text(signatureOf(signature)).subarray(0, 4))
}

function wordValue({ kind, name }: Param, word: Word): DecodedValue {
  if (name === 'address') return toHex(bytesOf(word).subarray(12))
  if (name === 'bytes32') return toHex(bytesOf(word))
  return kind === 'bool' ? bigintOf(word) !== 0n : bigintOf(word)
}

function decodedValue(param: Param, args: Args, index: number): DecodedValue {
  if (param.kind === 'array') return args.elements(index).map((word) => wordValue(param.element, word))
  if (param.kind === 'text') return new TextDecoder().decode(args.bytes(index))
  if (param.kind === 'blob') return args.bytes(index)
  if (param.kind === 'fixed' || param.kind === 'blobs') throw new RangeError(`the ABI type ${param.name}`)
  return wordValue(param, args.word(index))
}

/** Decodes values; undefined: the bytes do not have these types. @param types such as `(address,uint256)` */
export function decodeArguments(types: string, bytes: Uint8Array): readonly DecodedValue[] | undefined {
  const params = paramsOf(types)
  const args = new Args(params, callDataOf(bytes), 0, layoutOf(params))
  return args.failure === undefined ? params.map((param, i) => decodedValue(param, args, i)) : undefined
}

/** Returns the first topic of an event by its signature. */
export const eventTopic = (signature: string): Hash => hashFromBytes(keccak256Text(signature))
