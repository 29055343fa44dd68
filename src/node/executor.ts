import { evmRulesAt } from '#chain/opRules'
import type { RollupConfig } from '#chain/rollupConfig'
import type { BlockEnv, Evm, StateView } from '#evm/ports'
import type { ParentBlock } from '#execution/executeBlock'
import type { CallOverrides } from '#rpc/callPorts'
import type { CallMessage, CallOutcome, MeasuredCall, RunTimer } from '#rpc/ports'
import { overriddenEnv, overriddenView, withBlockHashes } from './overriddenView.ts'
import { endedLate, inTime, type MessagePlace, measuredOf, runMessage } from './runMessage.ts'

export type CallDeps = {
  readonly evm: Evm
  readonly config: RollupConfig
  /** ends messages by throwing OutOfTime; absent: they run to their end */
  readonly timer?: RunTimer
}

/**
 * Runs a message in the environment of a block on the state after it. No nonce, sender-code, L1 fee and block-gas-limit checks; the sender
 * pays for gas only when the message has a price. Nothing is kept.
 */
export function runCall(deps: CallDeps, at: ParentBlock, message: CallMessage, overrides: CallOverrides = {}): CallOutcome {
  return measureCall(deps, at, message, overrides).outcome
}

/** As `runCall`, with the gas that a transaction of this message would be charged for. */
export function measureCall(deps: CallDeps, at: ParentBlock, message: CallMessage, overrides: CallOverrides = {}): MeasuredCall {
  return inTime(() => measure(deps, at, message, overrides), endedLate)
}

function measure(deps: CallDeps, at: ParentBlock, message: CallMessage, overrides: CallOverrides): MeasuredCall {
  const { view, env, rules } = callPlace(deps.config, at, overrides)
  using session = deps.evm.open(view, env, rules)
  return measuredOf(session, runMessage({ session, env, rules }, message, deps.timer?.()))
}

/** Where messages run that are asked at a block. The rules are those of the block, whatever time is asked for instead of its own. */
export function callPlace(
  config: RollupConfig,
  { header, state }: ParentBlock,
  overrides: CallOverrides,
): Omit<MessagePlace, 'session'> & { readonly view: StateView } {
  const { state: accounts, block = {} } = overrides
  return {
    view: withBlockHashes(accounts === undefined ? state.view : overriddenView(state.view, accounts), block.blockHashes),
    env: overriddenEnv(blockEnv(config, header), block),
    rules: evmRulesAt(config.schedule, header.timestamp),
  }
}

function blockEnv({ l2ChainId }: RollupConfig, header: ParentBlock['header']): BlockEnv {
  return {
    chainId: BigInt(l2ChainId),
    number: header.number,
    timestamp: header.timestamp,
    beneficiary: header.beneficiary,
    prevRandao: header.mixHash,
    gasLimit: header.gasLimit,
    baseFee: header.baseFeePerGas ?? 0n,
    blobBaseFee: 1n,
  }
}
