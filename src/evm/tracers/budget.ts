import { evmFault } from '../faults.ts'

/** Maximum JSON size of one result in bytes. Exceeding it ends the traced transaction. */
export type Budget = {
  /** Consumes bytes. @throws Fault TRACE_TOO_LARGE when the budget is used up */
  take(bytes: number): void
}

/** Creates a budget shared by all tracers of one transaction. @param tracer name in the request */
export function createBudget(tracer: string, maxBytes: number): Budget {
  let left = maxBytes
  return {
    take(bytes): void {
      left -= bytes
      if (left < 0) throw evmFault('TRACE_TOO_LARGE', { tracer, maxBytes })
    },
  }
}
