import { toQuantity } from '#lib/hex'
import type { FrameEnd, FrameStart, TracedEnd, TracedTransaction, TraceJson, TraceLog, Tracer } from '../traceEvents.ts'
import type { Budget } from './budget.ts'
import { type CallFrame, type CallLog, FrameTree } from './callFrames.ts'
import { errorOf } from './frameErrors.ts'
import { noEvents } from './noEvents.ts'
import { switchesOf } from './tracerConfig.ts'

const emptyOutput = '0x'
const isCreation = ({ kind }: CallFrame): boolean => kind === 'CREATE' || kind === 'CREATE2'

/** Drops the logs of failed frames and of all frames below them; adds the remaining logs to `kept`. */
function keepLogs(frame: CallFrame, isLost: boolean, kept: CallLog[]): void {
  const isGone = isLost || errorOf(frame.end) !== undefined
  if (isGone) frame.logs = []
  else for (const log of frame.logs) kept.push(log)
  for (const call of frame.calls) keepLogs(call, isGone, kept)
}

/** Returns the index of each remaining log among the logs of the transaction. */
function indicesOf(root: CallFrame): ReadonlyMap<CallLog, number> {
  const kept: CallLog[] = []
  keepLogs(root, false, kept)
  return new Map(kept.toSorted((a, b) => a.sequence - b.sequence).map((log, index) => [log, index]))
}

function logJson({ address, topics, data, position }: CallLog, index: number): TraceJson {
  return { address, topics, data, position: toQuantity(position), index: toQuantity(index) }
}

function frameJson(frame: CallFrame, indices: ReadonlyMap<CallLog, number>): TraceJson {
  const error = errorOf(frame.end)
  const to = error !== undefined && isCreation(frame) ? undefined : frame.to
  return {
    from: frame.from,
    gas: toQuantity(frame.gas),
    gasUsed: toQuantity(frame.gasUsed),
    ...(to !== undefined && { to }),
    input: frame.input,
    ...(frame.output !== emptyOutput && { output: frame.output }),
    ...(error !== undefined && { error }),
    ...(frame.reason !== undefined && { revertReason: frame.reason }),
    ...(frame.calls.length > 0 && { calls: frame.calls.map((call) => frameJson(call, indices)) }),
    ...(frame.logs.length > 0 && { logs: frame.logs.map((log) => logJson(log, indices.get(log) ?? 0)) }),
    ...(frame.value !== undefined && { value: toQuantity(frame.value) }),
    ...(frame.native !== undefined && { nativeContract: frame.native }),
    type: frame.kind,
  }
}

/**
 * Creates a tracer that returns the call tree, outermost first: callers, callees, inputs, gas used and outputs. The call of a native contract has its
 * name in `nativeContract`, which other clients do not report.
 * @param config `onlyTopCall`: the message alone; `withLog`: the remaining logs, each with its position among the calls of its frame
 * @throws Fault INVALID_TRACER_CONFIG
 * @see go-ethereum documentation, "Built-in tracers", callTracer
 */
export function createCallTracer(config: unknown, budget: Budget): Tracer {
  const { onlyTopCall, withLog } = switchesOf('callTracer', config, ['onlyTopCall', 'withLog'])
  const tree = new FrameTree(onlyTopCall ? 'onlyTop' : 'all', budget)
  let transaction: TracedTransaction | undefined
  let answer: TraceJson = null
  return {
    ...noEvents,
    needs: { frames: true, logs: withLog, accounts: false, steps: undefined },
    begin(given): void {
      transaction = given
      tree.begin(given)
    },
    onEnter: (start: FrameStart) => tree.enter(start),
    onLeave(end: FrameEnd): void {
      tree.leave(end)
    },
    onLog(log: TraceLog): void {
      if (withLog) tree.log(log)
    },
    end(end: TracedEnd): void {
      if (transaction === undefined) throw new RangeError('a transaction ends that did not begin')
      const root = tree.end(end, transaction)
      answer = frameJson(root, indicesOf(root))
    },
    result: () => answer,
  }
}
