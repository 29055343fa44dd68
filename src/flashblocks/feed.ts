import type { Clock } from '#lib/clock'
import { type Endpoint, parseEndpoint } from '#lib/endpoint'
import type { Log } from '#lib/log'
import type { Backoff, Random } from '#lib/retry'
import type { PendingPort } from '#pending/pendingPort'
import { createConsumer, defaultHeldBytes, type Shown } from './consumer.ts'
import { DecodeThread } from './decodeThread.ts'
import { flashblocksFault } from './faults.ts'
import type { FlashblocksMetrics } from './metrics.ts'
import { createUpstream, type Upstream } from './upstream.ts'

export type FeedDeps = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: FlashblocksMetrics
  readonly pending: PendingPort
  /** Returns head and last executed flashblock of the published record. */
  readonly shown: () => Shown
  /** false: the head is far behind the chain, so no flashblock can fit */
  readonly isSynced: () => boolean
}

export type FeedOptions = {
  readonly endpoints: readonly Endpoint[]
  /** longest time without a fitting flashblock; then the pending blocks are dropped */
  readonly maxAgeMs: number
  readonly pingMs: number
  readonly backoff: Backoff
  readonly maxFaults: number
  readonly connectTimeoutMs: number
}

export const defaultFeedOptions = {
  pingMs: 1_500,
  backoff: { baseMs: 1_000, maxMs: 10_000, jitter: 0.5 },
  maxFaults: 8,
  connectTimeoutMs: 10_000,
} as const

const maxUpstreams = 8
/** Shortest silence after which a connection is replaced; publishers pause. The limit is twice the maximum age if that is longer. */
const leastIdleMs = 5_000

/**
 * Parses the publishers' URLs of `--flashblocks.url`.
 * @throws Fault FEED_URL_INVALID (fatal), which does not quote the URL
 */
export function parseFeedUrls(urls: readonly string[]): readonly Endpoint[] {
  if (urls.length > maxUpstreams) throw flashblocksFault('FEED_URL_INVALID', { reason: `at most ${maxUpstreams} URLs expected` })
  return urls.map((url) => {
    const endpoint = parseEndpoint(url, ['ws:', 'wss:'])
    if (endpoint === undefined) throw flashblocksFault('FEED_URL_INVALID', { reason: 'ws or wss URLs expected' })
    return endpoint
  })
}

/** A followed feed. Disposing closes its connections, after which no gauge shows a feed; pending blocks stay until they are stale. */
export interface Feed extends Disposable {
  /** Called after each new record of heads. */
  headsChanged(): void
  /** Returns why there is no fresh pending block, for the operator; empty while pending blocks follow the feed. */
  problems(): readonly string[]
  /** Updates the gauges; called before each read of the metrics. */
  collect(): void
}

/**
 * Follows all publishers at once and uses each flashblock from the first that sends it, so the failure of one publisher costs no time. When all
 * publishers are unhealthy, drops the pending blocks until the next fitting flashblock.
 */
export function createFeed(deps: FeedDeps, options: FeedOptions): Feed {
  const { clock, log, metrics } = deps
  const { endpoints, maxAgeMs } = options
  const upstreams: Upstream[] = []
  const decoder = new DecodeThread()
  let wasTrusted = true
  const consumer = createConsumer(
    {
      ...deps,
      judge(from, verdict): void {
        if (verdict.kind === 'good') upstreams[from]?.praise()
        else upstreams[from]?.accuse(verdict.text)
      },
    },
    { maxAgeMs, maxHeldBytes: defaultHeldBytes, upstreams: endpoints.length },
  )

  function upstreamChanged(): void {
    const unhealthy = upstreams.filter(({ isHealthy }) => !isHealthy).length
    metrics.upstreams.set({ health: 'up' }, upstreams.filter(({ isUp }) => isUp).length)
    metrics.upstreams.set({ health: 'unhealthy' }, unhealthy)
    const isTrusted = unhealthy < upstreams.length
    if (wasTrusted && !isTrusted) consumer.distrust('all publishers are unhealthy')
    wasTrusted = isTrusted
  }

  for (const [from, endpoint] of endpoints.entries()) {
    upstreams.push(
      createUpstream(
        { ...deps, decoder, onFlashblock: (flashblock) => consumer.take(flashblock, from), onChange: upstreamChanged },
        { ...options, endpoint, idleMs: Math.max(leastIdleMs, 2 * maxAgeMs) },
      ),
    )
  }
  log.info('following flashblocks', { upstreams: endpoints.map(({ name }) => name) })

  function problems(): readonly string[] {
    const fault = consumer.staleness()
    if (fault === undefined) return []
    const down = upstreams.filter(({ isUp }) => !isUp).map(({ name }) => name)
    return [`no fresh pending block: ${fault.message}${down.length > 0 ? `; not connected: ${down.join(', ')}` : ''}`]
  }

  return {
    headsChanged: () => consumer.headsChanged(),
    problems,
    collect(): void {
      const heardMs = Math.max(...upstreams.map((upstream) => upstream.heardMs ?? Number.NEGATIVE_INFINITY))
      if (Number.isFinite(heardMs)) metrics.lastMessage.set({}, (clock.elapsedMs() - heardMs) / 1_000)
      consumer.collect()
    },
    [Symbol.dispose](): void {
      consumer[Symbol.dispose]()
      for (const upstream of upstreams) upstream[Symbol.dispose]()
      decoder[Symbol.dispose]()
      showNoFeed(metrics)
    },
  }
}

/** Sets the gauges to the values without a feed: they are read after its end too. */
function showNoFeed({ upstreams, state, pendingNumber, pendingFlashblocks, held, age, parentLag, lastMessage }: FlashblocksMetrics): void {
  for (const health of ['up', 'unhealthy'] as const) upstreams.set({ health }, 0)
  for (const gauge of [state, pendingNumber, pendingFlashblocks, held]) gauge.set({}, 0)
  for (const gauge of [age, parentLag, lastMessage]) gauge.set({}, Number.NaN)
}
