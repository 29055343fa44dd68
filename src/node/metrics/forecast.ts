import type { Registry } from 'prom-client'
import type { DriverStatus } from '#consensus/status'
import type { Clock } from '#lib/clock'
import { freeIn } from '../health/health.ts'
import { maxLagL1Sec } from '../health/readiness.ts'
import { forecastMetrics } from '../metrics.ts'
import type { NodeOptions } from '../nodeOptions.ts'
import { Trend } from './trend.ts'

const sampleEveryMs = 10_000

const minute = 60_000
const hour = 60 * minute
/** A pause of a timer must not drop its sample. */
const early = 0.9

export type ForecastDeps = {
  readonly clock: Clock
  readonly registry: Registry
  /** returns undefined in execution mode */
  readonly status: () => DriverStatus | undefined
}

/** Forecasts of a node, sampled by a timer. Disposing ends the samples. */
export interface Forecast extends Disposable {
  /** Updates the gauges; call it before each scrape. */
  collect(): void
}

/**
 * Returns how far the node is behind, in seconds: derivation in L1 time, or the age of the head of a followed chain; undefined: not known. Pure.
 */
export function lagSec({ labels, l1, origin, heads }: DriverStatus, nowMs: number): number | undefined {
  if (labels === 'source') return heads && nowMs / 1_000 - heads.unsafe.timestamp
  if (l1.latest === undefined || origin === undefined) return undefined
  // the next block, however long L1 took for it
  return l1.latest.number - origin.number <= 1 ? 0 : l1.latest.timestamp - origin.timestamp
}

export function createForecast(
  { clock, registry, status }: ForecastDeps,
  { datadir, minFreeBytes }: Pick<NodeOptions, 'datadir' | 'minFreeBytes'>,
): Forecast {
  const metrics = forecastMetrics.register(registry)
  const lag = new Trend({ windowMs: 10 * minute, leastMs: 30_000, everyMs: sampleEveryMs * early })
  const free = new Trend({ windowMs: 24 * hour, leastMs: 30 * minute, everyMs: 5 * minute * early })
  const sample = (): void => {
    const now = status()
    const behind = now && lagSec(now, clock.nowMs())
    if (behind !== undefined) lag.add(clock.elapsedMs(), behind)
    const bytes = freeIn(datadir)
    if (bytes !== undefined) free.add(clock.elapsedMs(), bytes)
    timer = clock.after(sampleEveryMs, sample)
  }
  let timer: Disposable | undefined
  sample()
  return {
    collect(): void {
      metrics.syncLeft.set({}, lag.secondsTo(maxLagL1Sec) ?? Number.NaN)
      metrics.diskLeft.set({}, free.secondsTo(minFreeBytes) ?? Number.NaN)
    },
    [Symbol.dispose]: () => timer?.[Symbol.dispose](),
  }
}
