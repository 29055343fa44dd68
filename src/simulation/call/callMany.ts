import type { ParentBlock } from '#block/execution/executeBlock'
import type { CallBundle, CallMessage, CallOutcome, RunTimer, StateOverrides } from '#rpc/callPorts'
import { push, type StateStack, viewAbove } from '#state/stateStack'
import { type CallDeps, callContext, envFor } from './callExecutor.ts'
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

/** Divides messages into runs of consecutive ones that all have a gas price or all have none, and so have one environment. */
function runsOf(messages: readonly CallMessage[]): [CallMessage, ...CallMessage[]][] {
  const runs: [CallMessage, ...CallMessage[]][] = []
  for (const message of messages) {
    const last = runs.at(-1)
    if (last && (last[0].gasPrice === 0n) === (message.gasPrice === 0n)) last.push(message)
    else runs.push([message])
  }
  return runs
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
    const outcomes: CallOutcome[] = []
    all.push(outcomes)
    for (const run of runsOf(messages)) {
      const env = envFor(overriddenEnv(first.env, block), run[0], block)
      const view = overriddenView(viewAbove(first.view, stack), undefined, block.blockHashes)
      using session = deps.evm.open(view, env, rules)
      outcomes.push(...runAll({ session, env, rules }, run, deps.timer, bound))
      if (isEnd(outcomes.at(-1))) return all
      stack = push(stack, { diff: session.diff() })
    }
  }
  return all
}
