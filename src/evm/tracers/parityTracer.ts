import type { FrameEnd, FrameStart, TracedEnd, TracedTransaction, TraceJson, Tracer, TraceStep } from '../traceEvents.ts'
import type { Budget } from './budget.ts'
import { type CallFrame, FrameTree } from './callFrames.ts'
import { type FlatCall, flatCalls } from './flatCalls.ts'
import { parityErrorOf } from './frameErrors.ts'
import { noEvents } from './noEvents.ts'
import { stateDiffOf } from './stateDiff.ts'
import { Touched, touchingOps } from './touched.ts'
import { switchesOf } from './tracerConfig.ts'

/** Approximate size of one number of a `traceAddress`, in characters. */
const pathBytes = 3

const isHidden = ({ kind, isPrecompile }: CallFrame): boolean => isPrecompile && (kind === 'CALL' || kind === 'STATICCALL')

function callJson({ action, error, result, subtraces, traceAddress, type }: FlatCall): TraceJson {
  return { action, ...(error !== undefined && { error }), result: result ?? null, subtraces, traceAddress, type }
}

/**
 * Creates the tracer of `trace_replayTransaction`: output, calls as a list, and state changes. The gas of the first call is the gas of its frame,
 * without the intrinsic gas.
 * @param config `stateDiff`: also returns the state changes
 * @throws Fault INVALID_TRACER_CONFIG
 * @see OpenEthereum documentation, "trace module"
 */
export function createParityTracer(config: unknown, budget: Budget): Tracer {
  const { stateDiff } = switchesOf('parityTracer', config, ['stateDiff'])
  const tree = new FrameTree('all', budget)
  const touched = new Touched(budget)
  let transaction: TracedTransaction | undefined
  let frame = { gas: 0, gasUsed: 0 }
  let answer: TraceJson = null
  return {
    ...noEvents,
    needs: {
      ...{ frames: true, logs: false, accounts: stateDiff },
      steps: stateDiff ? { ops: touchingOps, stackWords: 2, memory: false, returnData: false } : undefined,
    },
    begin(given): void {
      transaction = given
      tree.begin(given)
      if (stateDiff) touched.account(given.from)
    },
    onEnter(start: FrameStart): void {
      budget.take(start.depth * pathBytes)
      tree.enter(start)
      if (stateDiff) touched.enter(start)
      if (start.depth === 0) frame = { gas: start.gas, gasUsed: 0 }
    },
    onLeave(end: FrameEnd): void {
      const left = tree.leave(end)
      if (end.depth === 0) frame = { ...frame, gasUsed: end.gasUsed }
      else if (left !== undefined && isHidden(left)) tree.dropLast()
    },
    onStep: (step: TraceStep) => touched.step(step),
    onAccount: (address) => touched.account(address),
    onNativeAccess: (address, slot) => touched.access(address, slot),
    end(end: TracedEnd, before, after): void {
      if (transaction === undefined) throw new RangeError('a transaction ends that did not begin')
      const root = { ...tree.end(end, transaction), ...frame }
      answer = {
        output: root.output,
        stateDiff: stateDiff ? stateDiffOf(touched, before, after) : null,
        trace: flatCalls(root, parityErrorOf).map(callJson),
        vmTrace: null,
      }
    },
    result: () => answer,
  }
}
