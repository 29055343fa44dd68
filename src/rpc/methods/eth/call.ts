import { toHex } from '#lib/hex'
import type { BlockId } from '#types/blockRef'
import { zeroAddress } from '#types/ids'
import { type BlockParam, blockId, latest } from '../../codecs/blockId.ts'
import { type CallRequest, callRequest } from '../../codecs/callRequest.ts'
import { absent, bytes } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { invalidInput, prunedHistory, RpcError, transactionRejected, unsupported } from '../../errors.ts'
import type { CallMessage, CallOutcome, CallRefusal } from '../../ports.ts'
import { optionalParam, param } from '../../registry.ts'
import { ethMethod } from '../define.ts'
import { requireBlock } from './atBlock.ts'
import { insufficientFunds, planCall } from './planCall.ts'
import { revertReason } from './revertReason.ts'

/** The names that Base's execution client gives to what ends a frame, by the interpreter's reason; others are the reason in one word. */
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
  }
}

function revertError(output: Uint8Array): RpcError {
  const reason = revertReason(output)
  return new RpcError(3, reason === undefined ? 'execution reverted' : `execution reverted: ${reason}`, toHex(output))
}

/** Return data, or the RpcError that says why there is none. */
function outputOf(outcome: CallOutcome, message: CallMessage): Uint8Array {
  switch (outcome.kind) {
    case 'success':
      return outcome.output
    case 'revert':
      throw revertError(outcome.output)
    case 'halt':
      throw haltError(outcome.reason, message)
    case 'refused':
      throw refusalError(outcome.refusal)
  }
}

function prepare(context: EthContext, request: CallRequest, at: BlockParam): { block: BlockId; message: CallMessage } {
  using view = context.chain.view()
  const block = requireBlock(view, at)
  const state = view.state(block)
  if (state === undefined) throw prunedHistory()
  const basis = {
    baseFee: view.header(block.hash)?.baseFeePerGas ?? 0n,
    balance: state.account(request.from ?? zeroAddress)?.balance ?? 0n,
    gasCap: context.limits.callGas,
  }
  return { block, message: planCall(request, basis) }
}

export const call = ethMethod({
  name: 'eth_call',
  doc: 'Runs a message on the state after a block, in the environment of that block, and changes nothing. A revert is error 3 with its data.',
  params: [
    param('transaction', callRequest),
    optionalParam('block', blockId, latest, 'latest'),
    optionalParam('stateOverrides', absent('state overrides', unsupported), undefined, 'none'),
    optionalParam('blockOverrides', absent('block overrides', unsupported), undefined, 'none'),
  ],
  result: bytes,
  cost: 'execution',
  example: { params: [{ to: '0x4200000000000000000000000000000000000015', input: '0x8381f58a' }, 'latest'], result: '0x2a' },
  run(context, request, at): Uint8Array {
    const { block, message } = prepare(context, request, at)
    const outcome = context.executor.call(block, message)
    if (outcome === undefined) throw prunedHistory()
    return outputOf(outcome, message)
  },
})
