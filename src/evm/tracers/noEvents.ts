import type { TraceEvents } from '../traceEvents.ts'

const nothing = (): void => {}

/** Events that nobody looks at: the base of tracers that want a few of them. */
export const noEvents: TraceEvents = { onEnter: nothing, onLeave: nothing, onStep: nothing, onLog: nothing, onAccount: nothing }
