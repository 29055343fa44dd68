import type { Clock } from '#lib/clock'

/** Blocks of the last minute as they arrived from the sequencer. */
export type BlockTimes = {
  readonly perSec: number
  /** 99th percentile of the time between two blocks, in milliseconds; undefined: fewer than two blocks */
  readonly intervalP99Ms: number | undefined
}

export interface BlockIntervals {
  /** Records the arrival of sealed blocks. */
  sealed(count: number): void
  read(): BlockTimes
}

const windowMs = 60_000
/** Maximum number of recorded arrivals, three times those of a minute at 200 ms. Blocks that catch up exceed it; the window is then shorter. */
const maxArrivals = 1_000

/** Returns the value that `part` of the sorted values do not exceed, by the nearest rank. */
const percentile = (sorted: readonly number[], part: number): number | undefined => sorted[Math.ceil(part * sorted.length) - 1]

export function createBlockIntervals(clock: Pick<Clock, 'elapsedMs'>): BlockIntervals {
  let arrivals: number[] = []

  function forgetOld(nowMs: number): void {
    arrivals = arrivals.filter((atMs) => nowMs - atMs < windowMs).slice(-maxArrivals)
  }

  return {
    sealed(count): void {
      const nowMs = clock.elapsedMs()
      for (let i = Math.max(0, count - maxArrivals); i < count; i++) arrivals.push(nowMs)
      if (arrivals.length > 2 * maxArrivals) forgetOld(nowMs)
    },
    read(): BlockTimes {
      const nowMs = clock.elapsedMs()
      forgetOld(nowMs)
      const intervals = arrivals.slice(1).map((atMs, i) => atMs - (arrivals[i] as number))
      const spanSec = (nowMs - (arrivals[0] ?? nowMs)) / 1_000
      return {
        perSec: spanSec > 0 ? intervals.length / spanSec : 0,
        intervalP99Ms: percentile(
          intervals.toSorted((a, b) => a - b),
          0.99,
        ),
      }
    },
  }
}
