import { monitorEventLoopDelay } from 'node:perf_hooks'

/** How late timers of this thread ran since the last look, in seconds; 0 before the first. */
export type LoopLag = { readonly medianSec: number; readonly p99Sec: number; readonly maxSec: number }

export interface LoopLagMeter extends Disposable {
  /** Looks, and begins anew. */
  read(): LoopLag
}

/** How often the lateness of a timer is measured. */
const resolutionMs = 10

/** Watches the event loop of this thread until disposed: what holds it up delays every answer. */
export function createLoopLagMeter(): LoopLagMeter {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs })
  histogram.enable()
  /** Nanoseconds between two timers, of which one resolution is meant to be there. */
  const late = (ns: number): number => (histogram.count === 0 ? 0 : Math.max(0, ns / 1e9 - resolutionMs / 1e3))
  return {
    read(): LoopLag {
      const lag = { medianSec: late(histogram.percentile(50)), p99Sec: late(histogram.percentile(99)), maxSec: late(histogram.max) }
      histogram.reset()
      return lag
    },
    [Symbol.dispose]: () => void histogram.disable(),
  }
}
