import { toHex, toQuantity } from '#lib/hex'
import { encodedBlockSize } from '#types/block'
import type { BlockId } from '#types/blockRef'
import type { SimulatedBlock, SimulatedCall, SimulationOutcome, SimulationRefusal } from '../../../callPorts.ts'
import { type BlockParam, blockId, latest } from '../../../codecs/blockId.ts'
import { simulateRequest } from '../../../codecs/simulateRequest.ts'
import type { EthContext } from '../../../context.ts'
import { invalidInput, invalidParams, RpcError, responseTooBig } from '../../../errors.ts'
import type { Json } from '../../../json.ts'
import { refTo } from '../../../reference/schemas.ts'
import { optionalParam, param, type ResultCodec } from '../../../registry.ts'
import { blockResult, type MinedBlock } from '../../../results/block.ts'
import { logResult } from '../../../results/log.ts'
import { ethMethod } from '../../define.ts'
import { findBlock, prunedStateNow } from '../atBlock.ts'
import { outOfTime } from './callErrors.ts'
import { revertReason } from './revertReason.ts'

/** @see execution-apis, eth_simulateV1, "Errors" */
const refusalCodes: Readonly<Record<SimulationRefusal['kind'], number>> = {
  'nonce-too-low': -38010,
  'nonce-too-high': -38011,
  'fee-below-base-fee': -38012,
  'intrinsic-gas': -38013,
  'insufficient-funds': -38014,
  'block-gas-limit': -38015,
  'block-order': -38020,
  'time-order': -38021,
  'initcode-size': -38025,
  'too-many-blocks': -38026,
  'bad-request': -32602,
  override: -32000,
  impossible: -32603,
}
/** Error codes of a call that ran and failed. */
const revertedCode = { base: -32000, 'go-ethereum': 3 } as const
const haltedCode = -32015

type Simulated = Extract<SimulationOutcome, { kind: 'simulated' }>
type Answer = { readonly simulated: Simulated; readonly fullTransactions: boolean }

/** Error of a failed call. go-ethereum puts the revert data here and not into `returnData`. */
function errorOf({ outcome }: SimulatedCall, style: Simulated['style']): Json {
  if (outcome.kind === 'halt') return { code: haltedCode, message: outcome.reason }
  if (outcome.kind !== 'revert') return undefined
  const reason = revertReason(outcome.output)
  const message = reason === undefined ? 'execution reverted' : `execution reverted: ${reason}`
  return { code: revertedCode[style], message, ...(style === 'go-ethereum' && { data: toHex(outcome.output) }) }
}

function callJson({ hash, block, transactions, calls }: SimulatedBlock, index: number, style: Simulated['style']): Json {
  const call = calls[index] as SimulatedCall
  const { header } = block
  const place = {
    block: { hash, number: header.number, timestamp: header.timestamp },
    transactionHash: transactions[index]?.hash ?? hash,
    transactionIndex: index,
  }
  const { outcome } = call
  const returnsData = outcome.kind === 'success' || (outcome.kind === 'revert' && style === 'base')
  return {
    returnData: returnsData ? toHex(outcome.output) : '0x',
    logs: call.logs.map(({ log, index: logIndex }) => logResult.encode({ log, ...place, logIndex })),
    gasUsed: toQuantity(call.gasUsed),
    ...(style === 'go-ethereum' && { maxUsedGas: toQuantity(call.mostGas) }),
    status: outcome.kind === 'success' ? '0x1' : '0x0',
    error: errorOf(call, style),
  }
}

function minedBlock({ hash, block, transactions }: SimulatedBlock, fullTransactions: boolean): MinedBlock {
  const { number, baseFeePerGas = 0n, timestamp } = block.header
  const sizeBytes = encodedBlockSize(block)
  if (!fullTransactions) return { hash, block, sizeBytes, transactions: { kind: 'hashes', hashes: transactions.map((each) => each.hash) } }
  const place = { hash, number, baseFee: baseFeePerGas, timestamp }
  const full = transactions.map((each, index) => ({ ...each, block: place, index, receipt: undefined }))
  return { hash, block, sizeBytes, transactions: { kind: 'full', full } }
}

const simulatedResult: ResultCodec<Answer> = {
  doc: 'list of blocks, each with calls: [{returnData, logs, gasUsed, status, error}]',
  schema: { type: 'array', items: { allOf: [refTo('Block'), { type: 'object', required: ['calls'] }] } },
  encode: ({ simulated: { blocks, style }, fullTransactions }) =>
    blocks.map((block) => ({
      ...(blockResult.encode(minedBlock(block, fullTransactions)) as Record<string, Json>),
      calls: block.calls.map((_call, index) => callJson(block, index, style)),
    })),
}

function requireSimulated(context: EthContext, outcome: SimulationOutcome | undefined): Simulated {
  switch (outcome?.kind) {
    case undefined:
      throw prunedStateNow(context)
    case 'timeout':
      throw outOfTime(outcome.timeoutMs)
    case 'too-big':
      throw responseTooBig(outcome.maxBytes)
    case 'refused':
      throw new RpcError(refusalCodes[outcome.refusal.kind], outcome.refusal.reason)
    case 'simulated':
      return outcome
  }
}

/** Finds a block, with go-ethereum's error when it does not exist. */
function requireHeader(context: EthContext, at: BlockParam): BlockId {
  using view = context.chain.view()
  const block = findBlock(context, view, at)
  if (block === undefined) throw invalidInput('header not found')
  return block
}

export const simulateV1 = ethMethod({
  name: 'eth_simulateV1',
  doc: 'Builds blocks of unsigned calls on a block, each block on the previous one, without changing anything. With validation, nonces, base fee, L1 and operator fees apply as in a block; without it, a call without a price pays no fees. State roots are zero, because they are not computed; block hashes are those of headers with zero roots. Calls that together return more than 16 MB of data are refused.',
  params: [param('simulation', simulateRequest), optionalParam('block', blockId, latest, 'latest')],
  result: simulatedResult,
  cost: 'execution',
  example: {
    params: [{ blockStateCalls: [{ calls: [{ to: '0x4200000000000000000000000000000000000015', input: '0x8381f58a' }] }] }, 'latest'],
  },
  run(context, { request, fullTransactions }, at): Answer {
    if (request.blocks.length === 0) throw invalidParams('empty input')
    const outcome = context.calls.simulate(requireHeader(context, at), request, context.limits.callGas, context.executor.timer())
    return { simulated: requireSimulated(context, outcome), fullTransactions }
  },
})
