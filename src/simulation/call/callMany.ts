import type { ParentBlock } from '#block/execution/executeBlock'
import type { CallBundle, CallMessage, CallOutcome, RunTimer, StateOverrides } from '#rpc/callPorts'
import { push, type StateStack, viewAbove } from '#state/stateStack'
import { type CallDeps, callContext } from './callExecutor.ts'
import { maxOutputBytes, OutputBound } from './outputBound.ts'
import { overriddenEnv, overriddenView } from './overriddenView.ts'
import { type MessageContext, measureMessage } from './runMessage.ts'

/** Whether an outcome ends the request. */
const isEnd = (outcome: CallOutcome | undefined): boolean => outcome?.kind === 'timeout' || outcome?.kind === 'too-big'

/** Runs messages in order on one session. Stops after a message that timed out or returned too much data. */
function runAll(place: MessageContext, messages: readonly CallMessage[], timer: RunTimer | undefined, bound: OutputBound): CallOutcome[] {
  const { session } = place
  const outcomes: CallOutcome[] = []
  for (const message of messages) {
    const { outcome } = measureMessage(place, message, timer)
    outcomes.push(bound.take(outcome) ? outcome : { kind: 'too-big', maxBytes: maxOutputBytes })
    if (isEnd(outcomes.at(-1))) break
    if (outcome.kind !== 'refused') session.endTransaction()
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
  const bound = new OutputBound()
  let stack: StateStack = []
  for (const { messages, block } of bundles) {
    const env = overriddenEnv(first.env, block)
    const view = overriddenView(viewAbove(first.view, stack), undefined, block.blockHashes)
    using session = deps.evm.open(view, env, rules)
    const outcomes = runAll({ session, env, rules }, messages, deps.timer, bound)
    all.push(outcomes)
    if (isEnd(outcomes.at(-1))) break
    stack = push(stack, { diff: session.diff() })
  }
  return all
}
