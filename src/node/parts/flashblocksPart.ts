import type { HeadRecord } from '#blockchain/heads/headRecord'
import { type ForkSchedule, isActive } from '#chainspec/forks'
import type { ExecutionWorker } from '#executionThread/executionThread'
import type { Shown } from '#flashblocks/consumer'
import { createFeed, defaultFeedOptions, type Feed, type FeedOptions, parseFeedUrls } from '#flashblocks/feed'
import { type FlashblocksMetrics, flashblocksMetrics } from '#flashblocks/metrics'
import type { SyncProgress } from '#rpc/ports'
import { withPeersNames } from '../metrics/flashblocksCompat.ts'
import type { PartDeps } from '../nodeDeps.ts'
import type { NodeOptions } from '../nodeOptions.ts'
import { pendingChanges } from '../serving/pendingFeed.ts'

type Followed = Pick<ExecutionWorker, 'published' | 'pending'>

export type FlashblocksPartDeps = Omit<PartDeps, 'fetch'> & {
  /** absent: the node has no execution half */
  readonly execution: Followed | undefined
  /** undefined: not syncing */
  readonly sync: () => SyncProgress | undefined
}

/** The flashblocks of a node, followed once the node is synced, while its head is before Denim. */
export interface FlashblocksPart extends Disposable {
  /** Called with each record of heads after it can be read. */
  publish(record: HeadRecord): void
  /** Returns why there is no fresh pending block, for the operator; empty while there is one, or before the node is synced. */
  problems(): readonly string[]
  /** Updates the gauges; called before each read of the metrics. */
  collect(): void
}

/** Time for which a synced node counts as synced: it falls a block behind now and then. */
const syncedForMs = 60_000
const lookAgainMs = 500

/** The part of a node that follows no flashblocks. */
export const noFlashblocks: FlashblocksPart = {
  publish(): void {},
  problems: () => [],
  collect(): void {},
  [Symbol.dispose](): void {},
}

/** @throws Fault FEED_URL_INVALID (fatal) */
export function openFlashblocks(
  deps: FlashblocksPartDeps,
  { config, flashblocks }: Pick<NodeOptions, 'config' | 'flashblocks'>,
): FlashblocksPart {
  const { execution } = deps
  if (execution === undefined || flashblocks === undefined) return noFlashblocks
  const { urls, maxAgeMs = 2_000 * config.blockTimeSec } = flashblocks
  return follow({ ...deps, execution }, config.schedule, { ...defaultFeedOptions, endpoints: parseFeedUrls(urls), maxAgeMs })
}

/** Counts the fate of pending blocks that are gone. */
function countChanges({ clears, reverted }: FlashblocksMetrics, before: HeadRecord, now: HeadRecord): void {
  if (before.pending === undefined || before.pending.blocks === now.pending?.blocks) return
  const dropped = pendingChanges(before, now).filter((change) => change.kind === 'dropped')
  for (const change of dropped) reverted.inc({}, change.pending.executed.length - change.first)
  if (dropped.length > 0) clears.inc({ why: dropped.some(({ replacedBy }) => replacedBy !== undefined) ? 'reorg' : 'given-up' })
  else if (now.pending === undefined) clears.inc({ why: 'catch-up' })
}

function follow(
  deps: FlashblocksPartDeps & { readonly execution: Followed },
  schedule: ForkSchedule,
  options: FeedOptions,
): FlashblocksPart {
  const { clock, registry, execution, sync } = deps
  const metrics = withPeersNames(registry, flashblocksMetrics.register(registry))
  const log = deps.log.child('flashblocks')
  let syncedMs = Number.NEGATIVE_INFINITY
  let feed: Feed | undefined
  let timer: Disposable | undefined
  let last = execution.published
  let isDenim = false
  let isDisposed = false

  const isHeadOfDenim = (): boolean => isActive(schedule, 'denim', execution.published.heads.unsafe.timestamp)

  function isSynced(): boolean {
    if (sync() === undefined) syncedMs = clock.elapsedMs()
    return clock.elapsedMs() - syncedMs < syncedForMs
  }

  function shown(): Shown {
    const { heads, pending } = execution.published
    return { head: heads.unsafe, executed: pending?.blocks.at(-1) }
  }

  function begin(): void {
    if (isHeadOfDenim()) return
    if (isSynced()) feed = createFeed({ ...deps, log, metrics, pending: execution.pending, shown, isSynced }, options)
    else timer = clock.after(lookAgainMs, begin)
  }

  function end(): void {
    timer?.[Symbol.dispose]()
    feed?.[Symbol.dispose]()
    feed = undefined
  }

  /** Denim blocks have no flashblocks; pending blocks are gone with their last block. A reorg below Denim opens the feed again. */
  function headMoved(): void {
    const wasDenim = isDenim
    isDenim = isHeadOfDenim()
    if (isDenim === wasDenim || isDisposed) return
    log.info(isDenim ? 'flashblocks end with Denim, feed closed' : 'head is before Denim again, following flashblocks')
    if (isDenim) end()
    else begin()
  }

  headMoved()
  begin()
  return {
    publish(record): void {
      countChanges(metrics, last, record)
      last = record
      headMoved()
      feed?.headsChanged()
    },
    problems: () => feed?.problems() ?? [],
    collect: () => feed?.collect(),
    [Symbol.dispose](): void {
      isDisposed = true
      end()
    },
  }
}
