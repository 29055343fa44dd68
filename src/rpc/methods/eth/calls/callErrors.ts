import { toHex } from '#lib/hex'
import type { CallMessage, CallOutcome, CallRefusal } from '../../../callPorts.ts'
import { invalidInput, RpcError, responseTooBig, transactionRejected } from '../../../errors.ts'
import { insufficientFunds } from './planCall.ts'
import { revertReason } from './revertReason.ts'

/** Names of halts in Base's execution client, by the interpreter's reason. Other reasons become one CamelCase word. */
const haltNames: Readonly<Record<string, string>> = {
  'invalid opcode': 'OpcodeNotFound',
  'write protection': 'StateChangeDuringStaticCall',
  'call depth': 'CallTooDeep',
  'insufficient balance': 'OutOfFunds',
  'address collision': 'CreateCollision',
  'invalid code': 'CreateContractStartingWithEF',
  'code size': 'CreateContractSizeLimit',
  'initcode size': 'CreateInitCodeSizeLimit',
  'return data out of bounds': 'OutOfOffset',
  'precompile failure': 'PrecompileError',
}

const inOneWord = (reason: string): string =>
  reason.replace(/(?:^|[^a-zA-Z0-9]+)([a-zA-Z0-9])/g, (_all, first: string) => first.toUpperCase())

function haltError(reason: string, message: CallMessage): RpcError {
  if (reason === 'out of gas') return transactionRejected(`out of gas: gas required exceeds: ${message.gasLimit}`)
  return transactionRejected(`EVM error: ${haltNames[reason] ?? inOneWord(reason)}`)
}

function refusalError(refusal: CallRefusal): Error {
  switch (refusal.kind) {
    case 'intrinsic-gas':
      return invalidInput('intrinsic gas too low')
    case 'insufficient-funds':
      return insufficientFunds(refusal.have, refusal.want)
    case 'nonce-overflow':
      return transactionRejected('nonce has max value')
    case 'initcode-size':
      return invalidInput('max initcode size exceeded')
    case 'transaction-type':
      return transactionRejected('transaction type not supported')
    case 'override':
      return invalidInput(refusal.reason)
  }
}

function revertError(output: Uint8Array): RpcError {
  const reason = revertReason(output)
  return new RpcError(3, reason === undefined ? 'execution reverted' : `execution reverted: ${reason}`, toHex(output))
}

/** A duration in Go's format: 500ms, 5s, 1m30s. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${ms}ms`
  const minutes = Math.floor(ms / 60_000)
  return `${minutes > 0 ? `${minutes}m` : ''}${(ms % 60_000) / 1_000}s`
}

/** Time-out error with the text of go-ethereum. */
export function outOfTime(timeoutMs: number): RpcError {
  return invalidInput(`execution aborted (timeout = ${durationText(timeoutMs)})`)
}

/** Return data of a message. @throws RpcError when it failed */
export function outputOf(outcome: CallOutcome, message: CallMessage): Uint8Array {
  switch (outcome.kind) {
    case 'success':
      return outcome.output
    case 'revert':
      throw revertError(outcome.output)
    case 'halt':
      throw haltError(outcome.reason, message)
    case 'timeout':
      throw outOfTime(outcome.timeoutMs)
    case 'too-big':
      throw responseTooBig(outcome.maxBytes)
    case 'refused':
      throw refusalError(outcome.refusal)
  }
}

/** Error text of a message that ran and failed; undefined when it succeeded. @throws RpcError when it did not run to its end */
export function failureOf(outcome: CallOutcome, message: CallMessage): string | undefined {
  try {
    outputOf(outcome, message)
    return undefined
  } catch (error) {
    if (error instanceof RpcError && (outcome.kind === 'revert' || outcome.kind === 'halt')) return error.message
    throw error
  }
}
