import { blockIntervalMs, numberAt } from '#chainspec/blockTime'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { L2Source } from '#consensus/ports'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { Backoff, Random } from '#lib/retry'
import type { L2Metrics } from './metrics.ts'
import { createNewHeadsSubscription } from './newHeadsSubscription.ts'
import { createSourceRpc, type SourceRpc } from './rpc.ts'
import { createSocketRpc } from './socketRpc.ts'
import { createSourceBlocks } from './sourceBlocks.ts'
import { isSocket, parseSourceUrl } from './sourceUrl.ts'

export type L2SourceDeps = {
  readonly fetch: typeof fetch
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: L2Metrics
}

export type L2SourceOptions = {
  /** HTTP URL, optionally a comma and the WebSocket URL of the same node; or a WebSocket URL alone */
  readonly url: string
  readonly config: RollupConfig
  /** interval between polls of the head without a subscription; absent: half the time of a block that is due, at most 500 ms */
  readonly pollMs?: number
  readonly timeoutMs: number
  /** limit of one response body */
  readonly maxBodyBytes: number
  readonly maxConcurrent: number
  /** maximum time without a head by WebSocket, after which the head is polled */
  readonly idleMs: number
  readonly backoff: Backoff
}

/** Returns the time of the block that is due. */
const dueBlockMs = (config: RollupConfig, nowMs: number): number =>
  blockIntervalMs(config, numberAt(config, nowMs) ?? config.genesis.l2.number)

/** Returns the default options at a time. */
export function defaultL2SourceOptions(config: RollupConfig, nowMs: number): Omit<L2SourceOptions, 'url' | 'config'> {
  const blockMs = dueBlockMs(config, nowMs)
  return {
    timeoutMs: 20_000,
    maxBodyBytes: 64 * 1_048_576,
    maxConcurrent: 4,
    idleMs: Math.max(10_000, 5 * blockMs),
    backoff: { baseMs: 500, maxMs: 10_000, jitter: 0.5 },
  }
}

/** Followed node over JSON-RPC. */
export type SourceNode = L2Source & Disposable & { readonly endpoint: string; readonly transport: 'websocket' | 'poll' }

const connectTimeoutMs = 10_000
/** Limit of a message with a header, its bloom, and fields that a node adds. */
const maxSocketMessageBytes = 1_048_576

/**
 * Creates the source: another L2 node over HTTP, and over WebSocket for its heads. Every block is verified against its hash; only execution can prove
 * that it is valid. Dispose it to close the WebSocket.
 * @throws Fault SOURCE_URL_INVALID (fatal)
 */
export function createL2Source(deps: L2SourceDeps, options: L2SourceOptions): SourceNode {
  const { clock } = deps
  const { config, idleMs, backoff } = options
  // the time of blocks changes at Denim
  const pollMs = (): number => options.pollMs ?? Math.min(500, dueBlockMs(config, clock.nowMs()) / 2)
  const { rpc: endpoint, socket: socketEndpoint } = parseSourceUrl(options.url)
  const rpc: SourceRpc & Partial<Disposable> = (isSocket(endpoint) ? createSocketRpc : createSourceRpc)(deps, options, endpoint)
  const blocks = createSourceBlocks({ ...deps, rpc }, { endpoint: endpoint.name, config })
  /** true after a new head, or a change of the subscription, that no `waitForHead` has returned yet */
  let isNews = false
  let wake: (() => void) | undefined

  const socket =
    socketEndpoint &&
    createNewHeadsSubscription(
      deps,
      { endpoint: socketEndpoint, idleMs, connectTimeoutMs, maxMessageBytes: maxSocketMessageBytes, backoff },
      () => {
        isNews = true
        wake?.()
      },
    )

  async function waitForHead(signal: AbortSignal, withinMs = Number.POSITIVE_INFINITY): Promise<void> {
    signal.throwIfAborted()
    if (!isNews) {
      const waited = Promise.withResolvers<void>()
      const stop = (): void => waited.reject(signal.reason)
      wake = waited.resolve
      signal.addEventListener('abort', stop, { once: true })
      using _timer = clock.after(Math.min(withinMs, socket?.isUp ? idleMs : pollMs()), waited.resolve)
      try {
        await waited.promise
      } finally {
        signal.removeEventListener('abort', stop)
        wake = undefined
      }
    }
    isNews = false
  }

  return {
    endpoint: endpoint.name,
    get transport(): 'websocket' | 'poll' {
      return socket?.isUp ? 'websocket' : 'poll'
    },
    head: (label, signal) => blocks.head(label, signal),
    payloads: (from, count, signal) => blocks.payloads(from, count, signal),
    payload: (hash, signal) => blocks.payload(hash, signal),
    waitForHead,
    [Symbol.dispose](): void {
      socket?.[Symbol.dispose]()
      rpc[Symbol.dispose]?.()
    },
  }
}
