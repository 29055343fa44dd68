import { emptyBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { keccak256Text } from '#lib/keccak'
import { type AbiValue, encodeArguments, paramsOf, signatureOf } from './abi.ts'

/**
 * Reason of a revert. Batches (`announce`, `initCalls`) treat them differently:
 * `error`: an error of the contract; `panic`: failed arithmetic; `silent`: no data; `undecodable`: unknown selector or malformed arguments.
 */
type RevertReason = 'error' | 'panic' | 'silent' | 'undecodable'

/** Thrown to end a frame with its remaining gas. One object serves all reverts, since a stack trace costs more than a call. */
export class NativeRevert extends Error {
  data: Uint8Array = emptyBytes
  reason: RevertReason = 'error'
}

/** Thrown to end a frame that lacks gas; it loses all its gas. */
export class NativeOutOfGas extends Error {}

const theRevert = new NativeRevert('revert')
const theOutOfGas = new NativeOutOfGas('out of gas')

/** Returns the exception that reverts with data. It is valid until the next one. */
export function revert(data: Uint8Array, reason: RevertReason): NativeRevert {
  theRevert.data = data
  theRevert.reason = reason
  return theRevert
}

export function outOfGas(): NativeOutOfGas {
  return theOutOfGas
}

export const silentRevert = (): NativeRevert => revert(emptyBytes, 'silent')

const declarations = new Map<string, string>()

/** Returns the declaration of the error with a selector in hex, among the contracts that are loaded. */
export const errorDeclaration = (selector: string): string | undefined => declarations.get(selector)

/** Declares an error of a contract by its signature. @returns a function that makes the exception from the arguments */
export function contractError(declaration: string): (...values: readonly AbiValue[]) => NativeRevert {
  const selector = keccak256Text(signatureOf(declaration)).subarray(0, 4)
  const params = paramsOf(declaration)
  declarations.set(toHex(selector), declaration)
  return (...values) => revert(encodeArguments(params, values, selector), 'error')
}

const panicData = contractError('Panic(uint256)')

/** Returns the exception of Solidity's Panic(0x11): arithmetic overflow or underflow. */
export function overflow(): NativeRevert {
  return revert(panicData(0x11).data, 'panic')
}
