import type { Clock } from '#lib/clock'

type Sample = { readonly atMs: number; readonly count: number }

/** Transactions per second over a recent window. */
export interface TransactionRate {
  add(count: number): void
  read(): number
}

/** long enough for several blocks, short enough to be recent */
const windowMs = 10_000

export function createTransactionRate(clock: Pick<Clock, 'elapsedMs'>): TransactionRate {
  const startMs = clock.elapsedMs()
  let samples: Sample[] = []
  return {
    add(count): void {
      samples.push({ atMs: clock.elapsedMs(), count })
    },
    read(): number {
      const nowMs = clock.elapsedMs()
      samples = samples.filter(({ atMs }) => nowMs - atMs < windowMs)
      const seconds = Math.max(1_000, Math.min(windowMs, nowMs - startMs)) / 1_000
      return samples.reduce((sum, { count }) => sum + count, 0) / seconds
    },
  }
}
