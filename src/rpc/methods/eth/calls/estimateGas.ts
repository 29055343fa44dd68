import { setImmediate as nextTurn } from 'node:timers/promises'
import { transactionGasCap } from '#chainspec/evmRules'
import { evmRulesAt } from '#chainspec/opRules'
import type { CallMessage, CallOverrides, CallPlace, CallRequest, MeasuredCall } from '../../../callPorts.ts'
import type { BlockParam } from '../../../codecs/blockId.ts'
import { quantity } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import { invalidInput, timedOut, transactionRejected } from '../../../errors.ts'
import { ethMethod } from '../../define.ts'
import { prunedStateNow } from '../atBlock.ts'
import { atCallPlace, messageParams } from './callBasis.ts'
import { outOfTime, outputOf } from './callErrors.ts'
import { planEstimate } from './planCall.ts'
import { searchGas } from './searchGas.ts'

/** Gas of a transaction without data and code. */
const transferGas = 21_000n
/** Gas to execute before yielding to the event loop. */
const sliceGas = 5_000_000n

type Plan = {
  readonly block: CallPlace
  readonly overrides: CallOverrides
  /** with the maximum possible gas */
  readonly message: CallMessage
  readonly gasCap: bigint
  /** no code runs: value goes to an account without code */
  readonly isTransfer: boolean
}

function leastOf(...caps: readonly [bigint, ...(bigint | undefined)[]]): bigint {
  return caps.reduce((least: bigint, cap) => (cap !== undefined && cap < least ? cap : least), caps[0])
}

function plan(context: EthContext, request: CallRequest, at: BlockParam, overrides: CallOverrides): Plan {
  return atCallPlace(context, at, ({ block, header, basis, hasCode }) => {
    const gasCap = leastOf(
      overrides.block?.gasLimit ?? header.gasLimit,
      context.limits.callGas,
      transactionGasCap(evmRulesAt(context.forks.schedule, header.timestamp)),
    )
    const message = planEstimate(request, basis(request, overrides, gasCap))
    const isTransfer = message.to !== null && message.data.length === 0 && !hasCode(message.to, overrides)
    return { block, overrides, message, gasCap, isTransfer }
  })
}

/** Runs of one message with different gas limits, within the time of one request. */
type Runs = {
  now(gasLimit: bigint): MeasuredCall
  /** Yields to the event loop before a run when earlier runs used much gas, and returns a promise only then. */
  inTurn(gasLimit: bigint): MeasuredCall | Promise<MeasuredCall>
}

function createRuns(context: EthContext, { block, overrides, message }: Plan): Runs {
  const timer = context.executor.timer()
  let unsliced = 0n
  function now(gasLimit: bigint): MeasuredCall {
    if (context.cancellation.isCancelled) throw timedOut()
    const measured = context.executor.call(block, { ...message, gasLimit }, timer, overrides)
    if (measured === undefined) throw prunedStateNow(context)
    if (measured.outcome.kind === 'timeout') throw outOfTime(measured.outcome.timeoutMs)
    unsliced += measured.gasUsed
    return measured
  }
  return {
    now,
    inTurn(gasLimit): MeasuredCall | Promise<MeasuredCall> {
      if (unsliced <= sliceGas) return now(gasLimit)
      unsliced = 0n
      return nextTurn().then(() => now(gasLimit))
    },
  }
}

const isShortOfGas = ({ outcome }: MeasuredCall): boolean =>
  outcome.kind === 'revert' || (outcome.kind === 'halt' && outcome.reason === 'out of gas')

/** @throws RpcError of a message that fails with the maximum gas; names the gas limit as the reason when a higher one would be enough */
async function refuse(failed: MeasuredCall, { message, gasCap }: Plan, run: Runs['inTurn']): Promise<never> {
  const { outcome } = failed
  if (outcome.kind === 'refused' && outcome.refusal.kind === 'intrinsic-gas')
    throw invalidInput(`gas required exceeds allowance (${message.gasLimit})`)
  const isLimited = message.gasLimit < gasCap && message.gasPrice === 0n
  if (isLimited && isShortOfGas(failed) && (await run(gasCap)).outcome.kind === 'success')
    throw transactionRejected(`out of gas: gas required exceeds: ${message.gasLimit}`)
  outputOf(outcome, message)
  throw new RangeError('refuse called for a successful message')
}

function search(planned: Plan, { now, inTurn }: Runs): bigint | Promise<bigint> {
  const { gasLimit } = planned.message
  const first = now(gasLimit)
  return first.outcome.kind === 'success' ? searchGas(first, gasLimit, inTurn) : refuse(first, planned, inTurn)
}

export const estimateGas = ethMethod({
  name: 'eth_estimateGas',
  doc: 'Gas limit with which a message succeeds on the state after a block: the minimum, or up to 1.5 % more. A revert is error 3 with the revert data. L1 and operator fees are not part of the gas, and are not checked.',
  params: messageParams,
  result: quantity,
  cost: 'execution',
  example: { params: [{ to: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8', value: '0x1' }, 'latest'] },
  run(context, request, at, state, block): bigint | Promise<bigint> {
    const planned = plan(context, request, at, { state, block })
    const { message, isTransfer } = planned
    const runs = createRuns(context, planned)
    if (isTransfer && message.gasLimit >= transferGas && runs.now(transferGas).outcome.kind === 'success') return transferGas
    return search(planned, runs)
  },
})
