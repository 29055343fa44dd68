import { monitorEventLoopDelay } from 'node:perf_hooks'

/** How late the timers of this thread ran in the last 15 to 30 seconds, in seconds; 0 before the first measurement. */
export type LoopLag = { readonly medianSec: number; readonly p99Sec: number; readonly maxSec: number }

export interface LoopLagMeter extends Disposable {
  /** Returns the lag of the current and the previous window, so several readers see the same. */
  read(): LoopLag
}

/** Interval between measurements, in ms. */
const resolutionMs = 10
/** Measurements of a window: 15 seconds, the usual interval of Prometheus. */
const usualWindow = 1_500

const none: LoopLag = { medianSec: 0, p99Sec: 0, maxSec: 0 }

/**
 * Measures the event loop lag of this thread until disposed. A blocked loop delays every response.
 * @param windowCount measurements of a window
 */
export function createLoopLagMeter(windowCount: number = usualWindow): LoopLagMeter {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs })
  histogram.enable()
  /** Converts the interval between two timers (ns) to lateness in seconds: subtracts the planned interval. */
  const late = (ns: number): number => (histogram.count === 0 ? 0 : Math.max(0, ns / 1e9 - resolutionMs / 1e3))
  let previous = none
  return {
    read(): LoopLag {
      const lag = { medianSec: late(histogram.percentile(50)), p99Sec: late(histogram.percentile(99)), maxSec: late(histogram.max) }
      const larger = (of: keyof LoopLag): number => Math.max(lag[of], previous[of])
      const read = { medianSec: larger('medianSec'), p99Sec: larger('p99Sec'), maxSec: larger('maxSec') }
      if (histogram.count >= windowCount) {
        previous = lag
        histogram.reset()
      }
      return read
    },
    [Symbol.dispose]: () => void histogram.disable(),
  }
}
