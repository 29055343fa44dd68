import { monitorEventLoopDelay } from 'node:perf_hooks'

/** How late the timers of this thread ran since the last read, in seconds; 0 before the first measurement. */
export type LoopLag = { readonly medianSec: number; readonly p99Sec: number; readonly maxSec: number }

export interface LoopLagMeter extends Disposable {
  /** Returns the lag since the last read and starts over. */
  read(): LoopLag
}

/** Interval between measurements, in ms. */
const resolutionMs = 10

/** Measures the event loop lag of this thread until disposed. A blocked loop delays every response. */
export function createLoopLagMeter(): LoopLagMeter {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs })
  histogram.enable()
  /** Converts the interval between two timers (ns) to lateness in seconds: subtracts the planned interval. */
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
