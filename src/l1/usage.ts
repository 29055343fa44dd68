import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { L1Method, L1Metrics, L1Outcome } from './metrics.ts'

type Api = 'rpc' | 'beacon'

/** Counter of calls to L1. */
export interface Usage {
  /** Counts one call with its outcome. */
  count(api: Api, method: L1Method, outcome: L1Outcome): void
  /** Counts new L1 blocks. Reports at intervals. */
  moved(blocks: number): void
}

const reportEveryMs = 600_000

/** Returns the outcome of a failed call; undefined when it was aborted here. */
export function outcomeOf(error: unknown): L1Outcome | undefined {
  if (!isFault(error)) return undefined
  if (error.code === 'L1_RATE_LIMITED') return 'rate_limited'
  return error.code === 'L1_UNREACHABLE' ? 'unreachable' : 'wrong_answer'
}

/** Creates a counter that logs the calls per new L1 block every ten minutes and sets the gauge. */
export function createUsage(deps: {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<L1Metrics, 'requests' | 'perBlock'>
}): Usage {
  const { clock, log, metrics } = deps
  let calls = new Map<L1Method, number>()
  let byApi = { rpc: 0, beacon: 0 }
  let blocks = 0
  let sinceMs = clock.elapsedMs()

  function report(): void {
    const perBlock = (count: number): number => Math.round((count / blocks) * 100) / 100
    metrics.perBlock.set({ api: 'rpc' }, byApi.rpc / blocks)
    metrics.perBlock.set({ api: 'beacon' }, byApi.beacon / blocks)
    log.info('L1 calls per new L1 block', {
      blocks,
      seconds: Math.round((clock.elapsedMs() - sinceMs) / 1_000),
      rpc: perBlock(byApi.rpc),
      beacon: perBlock(byApi.beacon),
      byMethod: Object.fromEntries([...calls].map(([method, count]) => [method, perBlock(count)])),
    })
    calls = new Map()
    byApi = { rpc: 0, beacon: 0 }
    blocks = 0
    sinceMs = clock.elapsedMs()
  }

  return {
    count(api, method, outcome): void {
      metrics.requests.inc({ api, method, outcome })
      calls.set(method, (calls.get(method) ?? 0) + 1)
      byApi[api]++
    },
    moved(by): void {
      blocks += by
      if (clock.elapsedMs() - sinceMs >= reportEveryMs) report()
    },
  }
}
