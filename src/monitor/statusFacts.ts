import { networkNameOf } from '#chainspec/networkNames'
import { has, type Json, numberField, objectOf, ShapeError } from '#types/jsonShape'
import type { MetricValues } from './metricText.ts'
import type { CallAnswer, Readings } from './readings.ts'

export type HeadFacts = { readonly number: number; readonly hash: string | null; readonly ageSec: number | null }
export type L1Facts = {
  readonly head: number
  readonly derived: number | null
  readonly headAgeSec: number | null
  readonly behindBlocks: number | null
}
export type SyncPhase = 'starting' | 'syncing' | 'following' | 'waiting' | 'stopped' | 'unknown'
export type Wait = { readonly reason: string; readonly sec: number }

/** State of a node, as `basalt status --json` prints it. null: the node does not report it. */
export type StatusFacts = {
  readonly ready: boolean | null
  readonly problems: readonly string[]
  readonly version: string | null
  readonly mode: string | null
  readonly chainId: number | null
  readonly network: string | null
  readonly fork: string | null
  readonly nextFork: { readonly fork: string; readonly timeSec: number } | null
  readonly heads: { readonly unsafe: HeadFacts | null; readonly safe: HeadFacts | null; readonly finalized: HeadFacts | null }
  readonly l1: L1Facts | null
  readonly sync: { readonly phase: SyncPhase; readonly leftSec: number | null; readonly waits: readonly Wait[] }
  /** grade of trust in the block on which the state of the node begins */
  readonly trust: string | null
  /** fill of a state that began with a part; null: the state is whole */
  readonly fill: {
    readonly phase: string | null
    readonly ratio: number | null
    readonly leavesPerSec: number | null
    readonly leftSec: number | null
    /** part of the blocks executed since the start of which all was stored before; null: none were executed */
    readonly aheadRatio: number | null
    /** for a person */
    readonly text: string | null
  } | null
  readonly peers: number | null
  readonly flashblocks: {
    readonly isFresh: boolean
    readonly block: number
    readonly flashblocks: number
    readonly lastMessageSec: number | null
    readonly publishers: number
  } | null
  readonly proofs: {
    readonly isRecording: boolean
    readonly earliest: number
    readonly latest: number
    readonly lagBlocks: number | null
  } | null
  readonly disk: { readonly freeBytes: number; readonly storeBytes: number; readonly leftSec: number | 'never' | null } | null
  readonly memory: { readonly usedBytes: number; readonly limitBytes: number } | null
  /** parts that did not answer, with the reason */
  readonly silent: readonly { readonly part: 'rpc' | 'metrics' | 'readyz'; readonly reason: string }[]
}

const metricOf = ({ metrics }: Readings): MetricValues | undefined => (metrics.kind === 'reached' ? metrics.value : undefined)

function resultOf({ rpc }: Readings, name: string): unknown {
  const answer: CallAnswer | undefined = rpc.kind === 'reached' ? rpc.value[name] : undefined
  return answer?.kind === 'result' ? answer.result : undefined
}

/** Reads a foreign value; null: it has another form. */
function readOr<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof ShapeError) return null
    throw error
  }
}

const quantity = (value: unknown): number | null => (value === undefined ? null : readOr(() => numberField({ value }, 'value')))
/** Returns the chain id in a rollup config; null: it has none. */
function chainIdOfConfig(config: unknown): number | null {
  const id = typeof config === 'object' && config !== null && 'l2_chain_id' in config ? config.l2_chain_id : undefined
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : null
}

const secondsOr = (value: number | undefined): number | null => (value === undefined ? null : Math.max(0, Math.round(value * 10) / 10))

function headOfBlock(block: Json, nowMs: number): HeadFacts {
  const timeMs = has(block, 'timestampMs') ? numberField(block, 'timestampMs') : numberField(block, 'timestamp') * 1_000
  return { number: numberField(block, 'number'), hash: String(block['hash']).slice(0, 66), ageSec: secondsOr((nowMs - timeMs) / 1_000) }
}

/** Returns the label value whose series is 1, of a metric that has one series for each of its states. */
const oneOf = (metrics: MetricValues | undefined, name: string, label: string): string | null =>
  metrics?.series(name).find(({ value }) => value === 1)?.labels[label] ?? null

/** Returns a head by JSON-RPC, else by the metrics. */
function headOf(readings: Readings, label: 'unsafe' | 'safe' | 'finalized'): HeadFacts | null {
  const block = resultOf(readings, label === 'unsafe' ? 'latest' : label)
  const read = block == null ? null : readOr(() => headOfBlock(objectOf(block, 'block'), readings.nowMs))
  if (read) return read
  const metrics = metricOf(readings)
  const ageSec = metrics?.value('basalt_node_head_age_seconds', { head: label })
  const number = metrics?.value('basalt_consensus_l2_block_number', { label })
  return number === undefined || ageSec === undefined ? null : { number, hash: null, ageSec: secondsOr(ageSec) }
}

function l1Of(metrics: MetricValues | undefined): L1Facts | null {
  const head = metrics?.value('basalt_consensus_l1_block_number', { label: 'latest' })
  const headAgeSec = metrics?.value('basalt_node_head_age_seconds', { head: 'l1' })
  if (head === undefined || headAgeSec === undefined) return null
  const isDerived = metrics?.value('basalt_node_head_age_seconds', { head: 'l1_derived' }) !== undefined
  const derived = isDerived ? (metrics?.value('basalt_consensus_l1_block_number', { label: 'derived' }) ?? null) : null
  return { head, derived, headAgeSec: secondsOr(headAgeSec), behindBlocks: derived === null ? null : Math.max(0, head - derived) }
}

/** Waits that are worth a line: not the normal one for the next L1 block. */
const waitsOf = (metrics: MetricValues | undefined): readonly Wait[] =>
  (metrics?.series('basalt_consensus_wait_seconds') ?? [])
    .filter(({ labels, value }) => value > 0 && labels['reason'] !== 'l1-head')
    .map(({ labels, value }) => ({ reason: labels['reason'] ?? 'unknown', sec: Math.round(value) }))

function syncOf(readings: Readings, l1: L1Facts | null, problems: readonly string[]): StatusFacts['sync'] {
  const metrics = metricOf(readings)
  const left = metrics?.value('basalt_node_sync_left_seconds')
  const waits = waitsOf(metrics)
  const leftSec = left === undefined || !Number.isFinite(left) ? null : Math.round(left)
  const of = (phase: SyncPhase): StatusFacts['sync'] => ({ phase, leftSec, waits })
  if (problems.some((problem) => /^stopped:|^derivation has stopped/.test(problem))) return of('stopped')
  if (problems.some((problem) => /has not started/.test(problem))) return of('starting')
  if (left === 0) return of(waits.some(({ sec }) => sec > 60) ? 'waiting' : 'following')
  if (left === Number.POSITIVE_INFINITY) return of('waiting')
  if (left !== undefined || (l1?.behindBlocks ?? 0) > 4) return of('syncing')
  const syncing = resultOf(readings, 'eth_syncing')
  if (syncing === undefined) return of('unknown')
  return of(syncing === false ? 'following' : 'syncing')
}

function forksOf(metrics: MetricValues | undefined, nowSec: number): Pick<StatusFacts, 'fork' | 'nextFork'> {
  const fork = oneOf(metrics, 'basalt_node_fork_state', 'fork')
  const [next] = (metrics?.series('basalt_consensus_fork_activation_seconds') ?? [])
    .filter(({ labels, value }) => labels['source'] === 'built_in' && value > nowSec)
    .toSorted((a, b) => a.value - b.value)
  return { fork, nextFork: next ? { fork: next.labels['fork'] ?? 'unknown', timeSec: next.value } : null }
}

function flashblocksOf(metrics: MetricValues | undefined): StatusFacts['flashblocks'] {
  const publishers = metrics?.value('basalt_flashblocks_upstream_connections', { health: 'up' })
  const fresh = metrics?.value('basalt_flashblocks_pending_state')
  if (publishers === undefined || fresh === undefined) return null
  return {
    isFresh: fresh === 1,
    block: metrics?.value('basalt_flashblocks_pending_block_number') ?? 0,
    flashblocks: metrics?.value('basalt_flashblocks_pending_slice_entries') ?? 0,
    lastMessageSec: secondsOr(metrics?.value('basalt_flashblocks_feed_last_message_seconds')),
    publishers,
  }
}

function proofsOf(readings: Readings): StatusFacts['proofs'] {
  const metrics = metricOf(readings)
  const latest = metrics?.value('basalt_proofs_latest_block_number')
  if (latest !== undefined) {
    return {
      isRecording: metrics?.value('basalt_proofs_recording_state') === 1,
      earliest: metrics?.value('basalt_proofs_earliest_block_number') ?? 0,
      latest,
      lagBlocks: metrics?.value('basalt_proofs_lag_blocks') ?? null,
    }
  }
  const status = resultOf(readings, 'debug_proofsSyncStatus')
  if (status == null) return null
  return readOr(() => {
    const { earliest, latest: last } = objectOf(status, 'proofs')
    if (typeof earliest !== 'number' || typeof last !== 'number') throw new ShapeError('earliest and latest are not numbers')
    return { isRecording: true, earliest, latest: last, lagBlocks: null }
  })
}

function diskOf(metrics: MetricValues | undefined): StatusFacts['disk'] {
  const freeBytes = metrics?.value('basalt_node_disk_free_bytes')
  if (freeBytes === undefined) return null
  const stores = metrics?.series('basalt_node_store_bytes') ?? []
  const left = metrics?.value('basalt_node_disk_left_seconds')
  const leftSec = left === undefined ? null : left === Number.POSITIVE_INFINITY ? 'never' : Math.round(left)
  return { freeBytes, storeBytes: stores.reduce((sum, { value }) => sum + value, 0), leftSec }
}

function fillOf(metrics: MetricValues | undefined, text: string | undefined): StatusFacts['fill'] {
  const ratio = metrics?.value('basalt_state_fill_ratio')
  if (ratio === undefined && text === undefined) return null
  const left = metrics?.value('basalt_state_fill_left_seconds')
  const blocks = metrics?.series('basalt_state_source_blocks_total') ?? []
  const executed = blocks.reduce((sum, { value }) => sum + value, 0)
  const ahead = metrics?.value('basalt_state_source_blocks_total', { lacked: 'nothing' }) ?? 0
  return {
    phase: oneOf(metrics, 'basalt_state_fill_info', 'phase'),
    ratio: ratio ?? null,
    leavesPerSec: metrics?.value('basalt_state_fill_rate_entries') ?? null,
    leftSec: left === undefined || !Number.isFinite(left) ? null : Math.round(left),
    aheadRatio: executed > 0 ? ahead / executed : null,
    text: text ?? null,
  }
}

function memoryOf(metrics: MetricValues | undefined): StatusFacts['memory'] {
  const usedBytes = metrics?.value('basalt_node_memory_bytes', { kind: 'anonymous' })
  const limitBytes = metrics?.value('basalt_memory_limit_bytes')
  return usedBytes === undefined || limitBytes === undefined ? null : { usedBytes, limitBytes }
}

function silentParts({ rpc, metrics, ready }: Readings): StatusFacts['silent'] {
  return (
    [
      ['rpc', rpc],
      ['metrics', metrics],
      ['readyz', ready],
    ] as const
  ).flatMap(([part, { kind, ...rest }]) => (kind === 'silent' && 'reason' in rest ? [{ part, reason: rest.reason }] : []))
}

/** Returns the connections with peers of both networks; undefined: the metrics have none. */
function connectionsOf(metrics: MetricValues | undefined): number | undefined {
  const names = ['basalt_p2p_peer_connections', 'basalt_execution_p2p_peer_connections']
  const series = names.flatMap((name) => metrics?.series(name) ?? [])
  return series.length === 0 ? undefined : series.reduce((sum, { value }) => sum + value, 0)
}

/** Returns the state of a node from its answers. Pure. */
export function statusFacts(readings: Readings): StatusFacts {
  const metrics = metricOf(readings)
  const page = readings.ready.kind === 'reached' ? readings.ready.value : undefined
  const problems = page?.problems ?? []
  const chainId = quantity(resultOf(readings, 'eth_chainId')) ?? chainIdOfConfig(readings.rollupConfig)
  const version = resultOf(readings, 'web3_clientVersion')
  const l1 = l1Of(metrics)
  const mode = oneOf(metrics, 'basalt_node_build_info', 'mode')
  return {
    ready: page?.ready ?? null,
    problems,
    version: typeof version === 'string' ? version.slice(0, 100) : null,
    mode,
    chainId,
    network: chainId === null ? null : (networkNameOf(chainId) ?? null),
    ...forksOf(metrics, readings.nowMs / 1_000),
    heads: { unsafe: headOf(readings, 'unsafe'), safe: headOf(readings, 'safe'), finalized: headOf(readings, 'finalized') },
    l1,
    sync: syncOf(readings, l1, problems),
    trust: oneOf(metrics, 'basalt_trust_grade_info', 'grade'),
    fill: fillOf(metrics, page?.state),
    peers: connectionsOf(metrics) ?? metrics?.value('op_node_default_peer_count') ?? quantity(resultOf(readings, 'net_peerCount')),
    flashblocks: flashblocksOf(metrics),
    proofs: proofsOf(readings),
    disk: diskOf(metrics),
    memory: memoryOf(metrics),
    silent: silentParts(readings),
  }
}
