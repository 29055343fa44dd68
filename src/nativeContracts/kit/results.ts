import { Buffer } from 'node:buffer'
import { encodeArguments, paramsOf } from './abi.ts'
import { bytesOf, newWord, setBigint, type Word } from './word.ts'

// Outputs of functions. Callers copy them before they can change.

const zeroOutput = new Uint8Array(32)
/** The output of functions that return true, as transfers do. */
export const trueOutput: Uint8Array = new Uint8Array(32)
trueOutput[31] = 1

export const asWord = (word: Word): Uint8Array => bytesOf(word)
export const asFlag = (value: boolean): Uint8Array => (value ? trueOutput : zeroOutput)
export const asNumber = (value: bigint | number): Uint8Array => bytesOf(setBigint(newWord(), BigInt(value)))

const textParams = paramsOf('f(string)')
export const asText = (text: Uint8Array): Uint8Array => encodeArguments(textParams, [text])

const listParams = paramsOf('f(uint256[])')
export const asList = (values: readonly (bigint | number)[]): Uint8Array => encodeArguments(listParams, [values])

export const textBytes = (text: string): Uint8Array => Buffer.from(text, 'utf8')
