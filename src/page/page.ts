import type { Heads } from '#engine/port'
import type { Clock } from '#lib/clock'
import { toQuantity } from '#lib/hex'
import { parseMetrics } from '#monitor/metricText'
import type { CallAnswer, Readings } from '#monitor/readings'
import { type NodeSample, sampleOf } from '#monitor/sample'
import type { PendingFeed } from '#rpc/pendingPorts'
import type { Page, PageHandler, Pages } from '#rpc/server/healthPages'
import { pageFiles } from './files.ts'
import { rowOf, SampleHistory } from './history.ts'
import type { DevnetState, PageState } from './state.ts'
import { BlockStream, type StreamFeeds } from './stream.ts'

/** The node as its page shows it. */
export type PageSource = {
  readonly clock: Clock
  /** text of `/metrics` */
  readonly scrape: () => Promise<string>
  /** returns why the node is not ready */
  readonly problems: () => readonly string[]
  readonly version: string
  readonly chainId: number
  /** absent: consensus knows the heads, and its metrics have them */
  readonly heads: (() => Heads | undefined) | undefined
  /** undefined: there is no execution half */
  readonly isSyncing: () => boolean | undefined
  /** absent in consensus mode */
  readonly feeds: StreamFeeds | undefined
}

/** A devnet that the node belongs to. */
export type DevnetPart = {
  readonly state: () => DevnetState
  /** flashblocks of another node, in place of the node's own */
  readonly preconfirmed: PendingFeed | undefined
}

/** The local page of a node. Disposing ends its samples. */
export interface LocalPage extends Disposable {
  /** Makes the pages of a server. */
  pages(devnet?: DevnetPart): Pages
}

/** Interval of the history, and its length: six hours in 240 kB. */
const everySec = 10
const capacity = (6 * 3_600) / everySec
/** A sample is used by all viewers for this time. */
const liveMs = 900

type Answers = Readonly<Record<string, CallAnswer>>

/** Returns the answers to JSON-RPC calls that the facts of a node need besides its metrics. */
function answersOf({ heads, isSyncing }: PageSource): Answers {
  const answer = (result: unknown): CallAnswer => ({ kind: 'result', result })
  const [now, syncing] = [heads?.(), isSyncing()]
  const blockOf = ({ number, hash, timestamp }: Heads['safe']): CallAnswer =>
    answer({ number: toQuantity(number), hash, timestamp: toQuantity(timestamp) })
  return {
    ...(now && { latest: blockOf(now.unsafe), safe: blockOf(now.safe), finalized: blockOf(now.finalized) }),
    ...(syncing !== undefined && { eth_syncing: answer(syncing) }),
  }
}

/** Returns samples of the node, whose rates are those since the previous call. */
function sampler(source: PageSource): () => Promise<NodeSample> {
  const { clock, scrape, problems, chainId } = source
  let before: Readings | undefined
  return async () => {
    const reasons = problems()
    const readings: Readings = {
      rpc: { kind: 'reached', value: answersOf(source) },
      metrics: { kind: 'reached', value: parseMetrics(await scrape()) },
      ready: { kind: 'reached', value: { ready: reasons.length === 0, problems: reasons } },
      rollupConfig: { l2_chain_id: chainId },
      nowMs: clock.nowMs(),
      elapsedMs: clock.elapsedMs(),
    }
    const sample = sampleOf(readings, before)
    before = readings
    return sample
  }
}

const numberIn = (query: URLSearchParams, name: string): number => {
  const value = Number(query.get(name) ?? '0')
  return Number.isSafeInteger(value) && value >= 0 ? value : 0
}

/**
 * Creates the page of a node. It samples the node for its charts; the rest of its work is done for viewers only.
 * @param onFailure called when a sample failed; the next one is tried as usual
 */
export function createLocalPage(source: PageSource, onFailure: (error: unknown) => void): LocalPage {
  const { clock, feeds, version } = source
  const history = new SampleHistory(capacity)
  const sampleForHistory = sampler(source)
  const sampleForViewers = sampler(source)
  const streams = new DisposableStack()
  const startedMs = clock.nowMs()
  let live: { readonly atMs: number; readonly sample: Promise<NodeSample> } | undefined
  let timer: Disposable | undefined

  function next(): void {
    timer = clock.after(everySec * 1_000, () => {
      sampleForHistory().then((sample) => history.add(rowOf(sample)), onFailure)
      next()
    })
  }
  next()

  function liveSample(): Promise<NodeSample> {
    if (live === undefined || clock.elapsedMs() - live.atMs >= liveMs) live = { atMs: clock.elapsedMs(), sample: sampleForViewers() }
    return live.sample
  }

  return {
    pages(devnet): Pages {
      const preconfirmed = devnet ? devnet.preconfirmed : feeds?.preconfirmed
      const stream = feeds && streams.use(new BlockStream(clock, { heads: feeds.heads, preconfirmed }))
      const answer = async (query: URLSearchParams): Promise<Page> => {
        const { from, rows } = history.since(numberIn(query, 'row'))
        const state: PageState = {
          ...{ version, startedMs, hasBlocks: feeds !== undefined },
          sample: await liveSample(),
          history: { everySec, from, rows },
          stream: stream?.since(numberIn(query, 'entry')) ?? [],
          ...(devnet && { devnet: devnet.state() }),
        }
        return { status: 200, content: JSON.stringify(state), type: 'application/json', headers: { 'cache-control': 'no-store' } }
      }
      return new Map<string, PageHandler>([...pageFiles(), ['/page/state', answer]])
    },
    [Symbol.dispose](): void {
      timer?.[Symbol.dispose]()
      streams.dispose()
    },
  }
}
