import { toQuantity } from '#lib/hex'
import type { TraceJson } from '../traceEvents.ts'
import type { CallFrame } from './callFrames.ts'
import { errorOf, revertedText } from './frameErrors.ts'

/** A call in the format of OpenEthereum's trace module, without the location of its transaction. */
export type FlatCall = {
  readonly type: string
  readonly action: TraceJson
  readonly error: string | undefined
  /** Absent for a failed frame, except that a reverted frame has its output. */
  readonly result: TraceJson | undefined
  /** Number of direct calls. */
  readonly subtraces: number
  readonly traceAddress: readonly number[]
}

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

/** Uses OpenEthereum's term `suicide`. */
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

/** Returns a frame and all frames below it, in order of their starts. @param textOf error text of a frame's failure */
export function flatCalls(frame: CallFrame, textOf: typeof errorOf, traceAddress: readonly number[] = []): readonly FlatCall[] {
  const { type, action, result } = toldOf(frame)
  const reason = errorOf(frame.end)
  const hasResult = reason === undefined || reason === revertedText
  const own = {
    type,
    action,
    error: textOf(frame.end),
    result: hasResult ? result : undefined,
    subtraces: frame.calls.length,
    traceAddress,
  }
  return [own, ...frame.calls.flatMap((call, i) => flatCalls(call, textOf, [...traceAddress, i]))]
}
