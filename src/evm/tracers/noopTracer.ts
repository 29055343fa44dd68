import type { Tracer } from '../traceEvents.ts'
import { noEvents } from './noEvents.ts'

/** Creates a tracer that needs no events, to measure the cost of a traced run itself. */
export function createNoopTracer(): Tracer {
  return {
    ...noEvents,
    needs: { frames: false, logs: false, accounts: false, steps: undefined },
    begin(): void {},
    end(): void {},
    result: () => ({}),
  }
}
