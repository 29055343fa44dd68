import type { TraceEvents } from '../traceEvents.ts'

const nothing = (): void => {}

/** Callbacks that do nothing: the base of tracers that need only a few events. */
export const noEvents: TraceEvents = {
  onEnter: nothing,
  onLeave: nothing,
  onStep: nothing,
  onLog: nothing,
  onAccount: nothing,
  onNativeAccess: nothing,
}
