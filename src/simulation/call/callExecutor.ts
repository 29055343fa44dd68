import { blockEnvOf } from '#block/execution/blockEnv'
import type { ParentBlock } from '#block/execution/executeBlock'
import type { EvmRules } from '#chainspec/evmRules'
import { evmRulesAt } from '#chainspec/opRules'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { BlockEnv, Evm, StateView } from '#evm/ports'
import type { BlockOverrides, CallMessage, CallOverrides, CallRefusal, Executor, MeasuredCall, RunTimer } from '#rpc/callPorts'
import type { SimulationDeps } from '../simulationDeps.ts'
import { createCallTimer } from './callTimer.ts'
import { placeOf } from './nextSlot.ts'
import { overriddenRules } from './overriddenPrecompiles.ts'
import { overriddenEnv, overriddenView } from './overriddenView.ts'
import { measureMessage, notRun } from './runMessage.ts'

export type CallDeps = {
  readonly evm: Evm
  readonly config: RollupConfig
  /** ends messages by throwing OutOfTime; absent: they run to completion */
  readonly timer?: RunTimer
}

/**
 * Runs a message in the environment of a block, on the state after it. Does not check nonce, sender code, L1 fee or block gas limit. The sender
 * pays for gas only when the message has a price. Changes are discarded.
 */
export function runCall(deps: CallDeps, at: ParentBlock, message: CallMessage, overrides: CallOverrides = {}): MeasuredCall {
  const place = callContext(deps.config, at, overrides)
  if (place.kind === 'refused') return notRun(place.refusal)
  const { view, rules } = place
  const env = envFor(place.env, message, overrides.block)
  using session = deps.evm.open(view, env, rules)
  return measureMessage({ session, env, rules }, message, deps.timer)
}

/**
 * Creates the executor of single messages over views of the chain.
 * @param timeoutMs time that one request has for running code; 0: no limit
 */
export function createCallExecutor({ execution, evm, config, clock }: Omit<SimulationDeps, 'traced'>, timeoutMs: number): Executor {
  return {
    timer: () => createCallTimer(clock, timeoutMs),
    call(at, message, timer, overrides): MeasuredCall | undefined {
      using view = execution.view()
      const parent = placeOf(view, config, at)
      return parent && runCall({ evm, config, timer }, parent, message, overrides)
    },
  }
}

/** Environment of a message, or why an override is refused. */
export type CallEnvironment =
  | { readonly kind: 'place'; readonly view: StateView; readonly env: BlockEnv; readonly rules: EvmRules }
  | { readonly kind: 'refused'; readonly refusal: CallRefusal }

/** Returns the environment of messages at a block. The rules are those of the block's own time, even when the time is overridden. */
export function callContext(config: RollupConfig, { header, state }: ParentBlock, overrides: CallOverrides): CallEnvironment {
  const { state: accounts, block = {} } = overrides
  const plain = evmRulesAt(config.schedule, header.timestamp)
  const overridden = accounts === undefined ? ({ kind: 'rules', rules: plain } as const) : overriddenRules(plain, accounts)
  if (overridden.kind === 'refused') return { kind: 'refused', refusal: { kind: 'override', reason: overridden.reason } }
  return {
    kind: 'place',
    view: overriddenView(state.view, accounts, block.blockHashes),
    env: overriddenEnv(blockEnvOf(config, header), block),
    rules: overridden.rules,
  }
}

/**
 * Returns the environment for one message. A message without a gas price has a base fee of zero, unless that is overridden: contracts expect GASPRICE to be at
 * least BASEFEE. go-ethereum and reth do the same.
 */
export function envFor(env: BlockEnv, { gasPrice }: Pick<CallMessage, 'gasPrice'>, overrides: BlockOverrides = {}): BlockEnv {
  return gasPrice === 0n && overrides.baseFee === undefined ? { ...env, baseFee: 0n } : env
}
