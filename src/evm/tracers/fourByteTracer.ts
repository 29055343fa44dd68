import { toHex } from '#lib/hex'
import type { FrameKind, FrameStart, Tracer } from '../traceEvents.ts'
import { noEvents } from './noEvents.ts'

const selectorBytes = 4
const calls: ReadonlySet<FrameKind> = new Set(['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL'])

/**
 * Creates a tracer that counts calls per function: `0xselector-bytes of arguments` → number of calls, without precompiles.
 * @see go-ethereum documentation, "Built-in tracers", 4byteTracer
 */
export function createFourByteTracer(): Tracer {
  const counts = new Map<string, number>()
  return {
    ...noEvents,
    needs: { frames: true, logs: false, accounts: false, steps: undefined },
    begin(): void {},
    onEnter({ kind, input, isPrecompile }: FrameStart): void {
      if (input.length < selectorBytes || isPrecompile || !calls.has(kind)) return
      const key = `${toHex(input.subarray(0, selectorBytes))}-${input.length - selectorBytes}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    },
    end(): void {},
    result: () => Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}
