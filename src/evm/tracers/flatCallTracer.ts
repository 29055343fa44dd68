import type { FrameEnd, FrameStart, TracedEnd, TracedTransaction, TraceJson, Tracer } from '../traceEvents.ts'
import type { Budget } from './budget.ts'
import { type CallFrame, FrameTree } from './callFrames.ts'
import { type FlatCall, flatCalls } from './flatCalls.ts'
import { errorOf, parityErrorOf } from './frameErrors.ts'
import { noEvents } from './noEvents.ts'
import { switchesOf } from './tracerConfig.ts'

/** Approximate size of one number of a `traceAddress`, in characters. */
const pathBytes = 3

/** Location of the transaction, which every trace carries. */
type TransactionLocation = Pick<TracedTransaction, 'blockHash' | 'blockNumber' | 'hash' | 'index'>

function localized({ type, action, error, result, subtraces, traceAddress }: FlatCall, location: TransactionLocation): TraceJson {
  return {
    action,
    blockHash: location.blockHash ?? null,
    blockNumber: location.blockNumber,
    ...(error !== undefined && { error }),
    ...(result !== undefined && { result }),
    subtraces,
    traceAddress,
    transactionHash: location.hash ?? null,
    transactionPosition: location.index,
    type,
  }
}

/**
 * Creates a tracer that returns the calls of a transaction as a list in the format of OpenEthereum's trace module; `traceAddress` is the position
 * of a call in the tree.
 * @param config `convertParityErrors`: OpenEthereum's error texts; `includePrecompiles`: also calls of precompiles
 * @throws Fault INVALID_TRACER_CONFIG
 * @see go-ethereum documentation, "Built-in tracers", flatCallTracer
 */
export function createFlatCallTracer(config: unknown, budget: Budget): Tracer {
  const { convertParityErrors, includePrecompiles } = switchesOf('flatCallTracer', config, ['convertParityErrors', 'includePrecompiles'])
  const tree = new FrameTree('all', budget)
  const isHidden = ({ kind, isPrecompile }: CallFrame): boolean =>
    !includePrecompiles && isPrecompile && (kind === 'CALL' || kind === 'STATICCALL')
  let transaction: TracedTransaction | undefined
  let answer: TraceJson = null
  return {
    ...noEvents,
    needs: { frames: true, logs: false, accounts: false, steps: undefined },
    begin(given): void {
      transaction = given
      tree.begin(given)
    },
    onEnter(start: FrameStart): void {
      budget.take(start.depth * pathBytes)
      tree.enter(start)
    },
    onLeave(end: FrameEnd): void {
      const frame = tree.leave(end)
      if (frame !== undefined && end.depth > 0 && isHidden(frame)) tree.dropLast()
    },
    end(end: TracedEnd): void {
      if (transaction === undefined) throw new RangeError('a transaction ends that did not begin')
      const location = transaction
      answer = flatCalls(tree.end(end, location), convertParityErrors ? parityErrorOf : errorOf).map((call) => localized(call, location))
    },
    result: () => answer,
  }
}
