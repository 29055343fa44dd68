import type { Clock } from '#lib/clock'
import { type Endpoint, parseEndpoint } from '#lib/endpoint'
import type { Log } from '#lib/log'
import type { Backoff, Random } from '#lib/retry'
import type { PendingPort } from '#pending/pendingPort'
import { createConsumer, defaultHeldBytes, type Shown } from './consumer.ts'
import type { DecodedMessage } from './decode.ts'
import { FrameThread } from './decodeThread.ts'
import { flashblocksFault } from './faults.ts'
import type { FlashblocksMetrics } from './metrics.ts'
import { createUpstream, type Upstream } from './upstream.ts'

export type FeedDeps = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: FlashblocksMetrics
  readonly pending: PendingPort
  readonly shown: () => Shown
  /** false: the head is far behind, and no flashblock can fit */
  readonly isSynced: () => boolean
}

export type FeedOptions = {
  readonly endpoints: readonly Endpoint[]
  /** without a flashblock that fits: then nothing is pending */
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
/** A publisher may pause: one that is silent for longer, and for two ages of what is pending, is connected to anew. */
const leastIdleMs = 5_000

/**
 * The publishers in the value of `--flashblocks.url`.
 * @throws Fault FEED_URL_INVALID (fatal); the URL itself is not shown
 */
export function parseFeedUrls(urls: readonly string[]): readonly Endpoint[] {
  if (urls.length > maxUpstreams) throw flashblocksFault('FEED_URL_INVALID', { reason: `at most ${maxUpstreams} URLs expected` })
  return urls.map((url) => {
    const endpoint = parseEndpoint(url, ['ws:', 'wss:'])
    if (endpoint === undefined) throw flashblocksFault('FEED_URL_INVALID', { reason: 'ws or wss URLs expected' })
    return endpoint
  })
}

/** A feed that is followed. Disposing of it closes its connections; what is pending stays until it is stale. */
export interface Feed extends Disposable {
  /** Told after each new record of heads. */
  headsChanged(): void
  /** Why pending is what is sealed, in words for an operator; none: it follows the feed. */
  problems(): readonly string[]
  /** Before metrics are read. */
  collect(): void
}

/**
 * Listens to all publishers at once: the first one that has a flashblock counts, so one that fails costs nothing. When none of them is healthy nothing is
 * pending, until a flashblock comes that fits.
 */
export function createFeed(deps: FeedDeps, options: FeedOptions): Feed {
  const { clock, log, metrics } = deps
  const { endpoints, maxAgeMs } = options
  const upstreams: Upstream[] = []
  const thread = new FrameThread()
  const decode = (message: Uint8Array): Promise<DecodedMessage> => thread.decode(message)
  let wasTrusted = true
  const consumer = createConsumer(
    {
      ...deps,
      judge(from, verdict): void {
        if (verdict.kind === 'good') upstreams[from]?.praise()
        else upstreams[from]?.accuse(verdict.text)
      },
    },
    { maxAgeMs, maxHeldBytes: defaultHeldBytes },
  )

  function upstreamChanged(): void {
    const unhealthy = upstreams.filter(({ isHealthy }) => !isHealthy).length
    metrics.upstreams.set({ health: 'up' }, upstreams.filter(({ isUp }) => isUp).length)
    metrics.upstreams.set({ health: 'unhealthy' }, unhealthy)
    const isTrusted = unhealthy < upstreams.length
    if (wasTrusted && !isTrusted) consumer.distrust('every feed is unhealthy')
    wasTrusted = isTrusted
  }

  for (const [from, endpoint] of endpoints.entries()) {
    upstreams.push(
      createUpstream(
        { ...deps, decode, onFrame: (frame) => consumer.take(frame, from), onChange: upstreamChanged },
        { ...options, endpoint, idleMs: Math.max(leastIdleMs, 2 * maxAgeMs) },
      ),
    )
  }
  log.info('a feed of unsealed blocks is followed', { upstreams: endpoints.map(({ name }) => name) })

  function problems(): readonly string[] {
    const fault = consumer.staleness()
    if (fault === undefined) return []
    const down = upstreams.filter(({ isUp }) => !isUp).map(({ name }) => name)
    return [`pending is what is sealed: ${fault.message}${down.length > 0 ? `; not connected: ${down.join(', ')}` : ''}`]
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
      thread[Symbol.dispose]()
    },
  }
}
