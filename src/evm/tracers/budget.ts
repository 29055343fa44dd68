import { evmFault } from '../faults.ts'

/** The bytes of JSON that one result may have; what goes beyond ends the transaction that is traced. */
export type Budget = {
  /** @throws Fault TRACE_TOO_LARGE when it is used up */
  take(bytes: number): void
}

/** A budget shared by all tracers of one transaction. @param tracer as it was asked for */
export function createBudget(tracer: string, maxBytes: number): Budget {
  let left = maxBytes
  return {
    take(bytes): void {
      left -= bytes
      if (left < 0) throw evmFault('TRACE_TOO_LARGE', { tracer, maxBytes })
    },
  }
}
