import { toQuantity } from '#lib/hex'
import type { FrameEnd, FrameStart, TracedEnd, TracedTransaction, TraceJson, Tracer } from '../traceEvents.ts'
import type { Budget } from './budget.ts'
import { type CallFrame, FrameTree } from './callFrames.ts'
import { errorOf, parityErrorOf, revertedText } from './frameErrors.ts'
import { noEvents } from './noEvents.ts'
import { switchesOf } from './tracerConfig.ts'

/** Characters of one number of a `traceAddress`; about. */
const pathBytes = 3

/** What every trace of a transaction says of where it stands. */
type Place = Pick<TracedTransaction, 'blockHash' | 'blockNumber' | 'hash' | 'index'>

type Told = { readonly type: string; readonly action: TraceJson; readonly result: TraceJson | undefined }

function createOf(frame: CallFrame): Told {
  const { kind, from, gas, value, input, gasUsed, to, output } = frame
  const address = errorOf(frame.end) === undefined ? to : undefined
  return {
    type: 'create',
    action: { creationMethod: kind.toLowerCase(), from, gas: toQuantity(gas), init: input, value: toQuantity(value ?? 0n) },
    result: { ...(address !== undefined && { address }), code: output, gasUsed: toQuantity(gasUsed) },
  }
}

function callOf({ kind, from, to, gas, value, input, gasUsed, output }: CallFrame): Told {
  const callType = kind.toLowerCase()
  return {
    type: 'call',
    action: { callType, from, gas: toQuantity(gas), input, ...(to !== undefined && { to }), value: toQuantity(value ?? 0n) },
    result: { gasUsed: toQuantity(gasUsed), output },
  }
}

/** OpenEthereum's word for it. */
function selfdestructOf({ from, to, value }: CallFrame): Told {
  return {
    type: 'suicide',
    action: { address: from, balance: toQuantity(value ?? 0n), ...(to !== undefined && { refundAddress: to }) },
    result: undefined,
  }
}

function toldOf(frame: CallFrame): Told {
  if (frame.kind === 'SELFDESTRUCT') return selfdestructOf(frame)
  return frame.kind === 'CREATE' || frame.kind === 'CREATE2' ? createOf(frame) : callOf(frame)
}

/** A frame and all below it, in the order of their beginnings. A failed frame has no result, but a reverted one has what it returned. */
function flatten(frame: CallFrame, place: Place, textOf: typeof errorOf, traceAddress: readonly number[]): TraceJson[] {
  const { type, action, result } = toldOf(frame)
  const error = textOf(frame.end)
  const reason = errorOf(frame.end)
  const hasResult = result !== undefined && (reason === undefined || reason === revertedText)
  const own = {
    action,
    blockHash: place.blockHash ?? null,
    blockNumber: place.blockNumber,
    ...(error !== undefined && { error }),
    ...(hasResult && { result }),
    subtraces: frame.calls.length,
    traceAddress,
    transactionHash: place.hash ?? null,
    transactionPosition: place.index,
    type,
  }
  return [own, ...frame.calls.flatMap((call, i) => flatten(call, place, textOf, [...traceAddress, i]))]
}

/**
 * The calls of a transaction as a list, in the format of OpenEthereum's trace module: each says by `traceAddress` where it stands in the tree.
 * @param config `convertParityErrors`: errors in OpenEthereum's words; `includePrecompiles`: calls of precompiles too
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
      answer = flatten(tree.end(end, transaction), transaction, convertParityErrors ? parityErrorOf : errorOf, [])
    },
    result: () => answer,
  }
}
