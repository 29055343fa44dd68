import { Buffer } from 'node:buffer'
import { emptyBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { type AbiValue, encodeArguments, isDynamic, type Param, tupleName } from './abi.ts'
import type { Args, DecodeFailure } from './args.ts'

const hexDigits = (bytes: Uint8Array): string => toHex(bytes).slice(2)
const typeText = (name: string, data: Uint8Array): string => `type check failed for "${name}" with data: ${hexDigits(data)}`

/** Offset before an encoded tuple or struct with dynamic members. */
const tupleOffset = new Uint8Array(32)
tupleOffset[31] = 32

function argumentAt(args: Args, param: Param, index: number): AbiValue {
  if (param.kind === 'array') return args.elements(index)
  if (param.kind === 'blobs') return Array.from({ length: args.count(index) }, (_, position) => args.blob(index, position))
  return param.kind === 'blob' || param.kind === 'text' ? args.bytes(index) : args.word(index)
}

/**
 * Returns the text for an array of 2^58 or more elements. Its words are those of the Rust standard library of mid-2026, as the recorded reference gives
 * them. Open: for 2^27 to 2^58 elements the reference's text depends on the memory of its machine. Those arrays count as an overrun, which they are too.
 */
const allocationText = (): string => "memory allocation failed because the computed capacity exceeded the collection's maximum"

function textOf(failure: DecodeFailure, params: readonly Param[], args: Args, structName?: string): string {
  switch (failure.kind) {
    case 'overrun':
      return 'ABI decoding failed: buffer overrun while deserializing'
    case 'capacity':
      return allocationText()
    case 'offset':
      return typeText('offset (usize)', args.bytesAt(failure.at))
    case 'types': {
      const values = params.map((param, index) => argumentAt(args, param, index))
      const data = encodeArguments(params, values, params.some(isDynamic) ? tupleOffset : emptyBytes)
      return typeText(structName ?? tupleName(params), data)
    }
  }
}

/**
 * Returns the text that V1 appends to the selector when arguments do not decode: the words of the ABI library of that release, which are part of
 * consensus for the blocks of that fork.
 * @param structName set when the arguments are the members of a struct
 */
export const decodeText = (failure: DecodeFailure, params: readonly Param[], args: Args, structName?: string): Uint8Array =>
  Buffer.from(textOf(failure, params, args, structName), 'utf8')

/** Returns the text for call data below the smallest size of an interface's functions. */
export const tooShortText = (interfaceName: string, input: Uint8Array): Uint8Array => Buffer.from(typeText(interfaceName, input), 'utf8')
