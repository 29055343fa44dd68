import type { Tracer } from '../traceEvents.ts'
import { noEvents } from './noEvents.ts'

/** Listens to nothing: what a traced run costs without a tracer. */
export function createNoopTracer(): Tracer {
  return {
    ...noEvents,
    needs: { frames: false, logs: false, accounts: false, steps: undefined },
    begin(): void {},
    end(): void {},
    result: () => ({}),
  }
}
