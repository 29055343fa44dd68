import type { ParentBlock } from '#block/execution/executeBlock'
import type { EvmSession } from '#evm/ports'
import type { CallBundle, CallMessage, CallOutcome, RunTimer, StateOverrides } from '#rpc/callPorts'
import { push, type StateStack, viewAbove } from '#state/stateStack'
import { type CallDeps, callContext } from './callExecutor.ts'
import { overriddenEnv, overriddenView } from './overriddenView.ts'
import { type MessageContext, measureMessage } from './runMessage.ts'

/** Ends a message's transaction and returns its unused gas. No account receives the gas fee. */
function endMessage(session: EvmSession, message: CallMessage, gasUsed: bigint): void {
  session.addBalance(message.from, (message.gasLimit - gasUsed) * message.gasPrice)
  session.endTransaction()
}

/** Runs messages in order on one session. Stops after a message that timed out. */
function runAll(place: MessageContext, messages: readonly CallMessage[], timer: RunTimer | undefined): CallOutcome[] {
  const { session } = place
  const outcomes: CallOutcome[] = []
  for (const message of messages) {
    const measured = measureMessage(place, message, timer)
    outcomes.push(measured.outcome)
    if (measured.outcome.kind === 'timeout') break
    if (measured.outcome.kind !== 'refused') endMessage(session, message, measured.gasUsed)
  }
  return outcomes
}

/** Runs bundles of messages in the environment of a block. Each message runs on the state after the previous one. */
export function callMany(
  deps: CallDeps,
  at: ParentBlock,
  bundles: readonly CallBundle[],
  state: StateOverrides | undefined,
): readonly (readonly CallOutcome[])[] {
  const all: CallOutcome[][] = []
  const first = callContext(deps.config, at, { state })
  if (first.kind === 'refused') return bundles.map(({ messages }) => messages.map(() => first))
  const { rules } = first
  let stack: StateStack = []
  for (const { messages, block } of bundles) {
    const env = overriddenEnv(first.env, block)
    const view = overriddenView(viewAbove(first.view, stack), undefined, block.blockHashes)
    using session = deps.evm.open(view, env, rules)
    const outcomes = runAll({ session, env, rules }, messages, deps.timer)
    all.push(outcomes)
    if (outcomes.at(-1)?.kind === 'timeout') break
    stack = push(stack, { diff: session.diff() })
  }
  return all
}
