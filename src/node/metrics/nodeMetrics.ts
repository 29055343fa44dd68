import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Registry } from 'prom-client'
import { forks } from '#chainspec/forks'
import { latestFork } from '#chainspec/opRules'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { DriverStatus } from '#consensus/status'
import type { Heads } from '#engine/port'
import type { Clock } from '#lib/clock'
import { countingFaults } from '#lib/faultCount'
import type { Log } from '#lib/log'
import { createLoopLagMeter } from '#lib/loopLag'
import { anonymousBytes } from '#lib/processMemory'
import { freeIn } from '../health/health.ts'
import { reasonOf } from '../health/readinessReasons.ts'
import { faultCodes, nodeMetrics, reasonCodes } from '../metrics.ts'
import type { NodeMode } from '../nodeOptions.ts'
import { createCompatMetrics } from './compatMetrics.ts'

export type NodeMetricsDeps = { readonly registry: Registry; readonly clock: Clock }
export type NodeMetricsOptions = {
  readonly mode: NodeMode
  readonly datadir: string
  readonly config: Pick<RollupConfig, 'schedule'>
}

/** State of the node at a scrape; undefined: not in this mode, or not yet known. */
export type NodeFacts = {
  readonly status: DriverStatus | undefined
  readonly heads: Heads | undefined
  /** why `/readyz` is 503; empty: it is 200 */
  readonly problems: readonly string[]
}

/** Metrics of the whole process. Disposing ends the measurement of the event loop. */
export interface NodeMetricsMeter extends Disposable {
  /** Returns the same log; fault codes in it are counted. */
  counting(log: Log): Log
  /** Updates the gauges; call it before each scrape. */
  collect(facts: NodeFacts): void
}

/** Returns the bytes that the files of a folder and its subfolders take on disk; 0 when there is no folder. */
export function folderBytes(path: string): number {
  try {
    return readdirSync(path, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).blocks * 512, 0)
  } catch {
    return 0 // no folder yet, or a file was removed during the scan; a gauge must not fail a scrape
  }
}

export function createNodeMetrics({ registry, clock }: NodeMetricsDeps, { mode, datadir, config }: NodeMetricsOptions): NodeMetricsMeter {
  const metrics = nodeMetrics.register(registry)
  const compat = mode === 'execution' ? undefined : createCompatMetrics(registry)
  const lag = createLoopLagMeter()
  const known = new Set(faultCodes)
  metrics.info.set({ mode }, 1)
  metrics.start.set({}, clock.nowMs() / 1000)

  function collectAges({ status, heads = status?.heads }: NodeFacts, nowMs: number): void {
    const refs = { l1: status?.l1.latest, l1_derived: status?.origin, ...heads }
    for (const head of ['l1', 'l1_derived', 'unsafe', 'safe', 'finalized'] as const) {
      const ref = refs[head]
      if (ref) metrics.ages.set({ head }, nowMs / 1000 - ref.timestamp)
    }
  }

  function collectFork({ status, heads = status?.heads }: NodeFacts): void {
    if (heads === undefined) return
    const active = latestFork(config.schedule, heads.unsafe.timestamp)
    for (const fork of forks) metrics.fork.set({ fork }, fork === active ? 1 : 0)
  }

  return {
    counting: (log) => countingFaults(log, (code) => metrics.faults.inc({ code: known.has(code) ? code : 'other' })),
    collect(facts): void {
      const nowMs = clock.nowMs()
      const { medianSec, p99Sec, maxSec } = lag.read()
      metrics.loopLag.set({ quantile: '0.5' }, medianSec)
      metrics.loopLag.set({ quantile: '0.99' }, p99Sec)
      metrics.loopLag.set({ quantile: '1' }, maxSec)
      for (const store of ['chain', 'consensus'] as const) metrics.stores.set({ store }, folderBytes(join(datadir, store)))
      const free = freeIn(datadir)
      if (free !== undefined) metrics.diskFree.set({}, free)
      const { rss, heapUsed, external } = process.memoryUsage()
      metrics.memory.set({ kind: 'resident' }, rss)
      metrics.memory.set({ kind: 'anonymous' }, anonymousBytes())
      metrics.memory.set({ kind: 'heap' }, heapUsed)
      metrics.memory.set({ kind: 'external' }, external)
      collectAges(facts, nowMs)
      collectFork(facts)
      const reasons = new Set(facts.problems.map((problem) => reasonOf(problem)?.code ?? 'other'))
      for (const reason of reasonCodes) metrics.unready.set({ reason }, reasons.has(reason) ? 1 : 0)
      if (facts.status) compat?.(facts.status, nowMs)
    },
    [Symbol.dispose]: () => lag[Symbol.dispose](),
  }
}
