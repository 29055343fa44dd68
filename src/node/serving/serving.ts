import { blockIntervalMs } from '#chainspec/blockTime'
import type { ForkSchedule } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { ForkGate } from '#consensus/forkGate'
import { progressOf } from '#consensus/status'
import { createEngineApi } from '#engine/engineApi'
import { headerOfPayload } from '#engine/payloadHeader'
import type { Engine } from '#engine/port'
import { methodVersionsAt, newPayloadRefusal } from '#engine/versions'
import type { ExecutionWorker } from '#executionThread/executionThread'
import type { PendingFeed } from '#rpc/pendingPorts'
import type { AdminNode, HeadFeed, Operator, SyncProgress } from '#rpc/ports'
import type { ForwardState } from '#rpc/submitPorts'
import type { AncestorSource } from '#types/ancestorSource'
import type { ExecutionPeerNetwork } from '#types/executionPeer'
import { hashHeader } from '#types/header'
import type { Payload } from '#types/payload'
import type { NodeMemory } from '../memory/nodeMemory.ts'
import { answerBytesOf, maxAnswerBytesOf } from '../memory/serverLimits.ts'
import type { ForwardMetrics } from '../metrics.ts'
import type { PartDeps } from '../nodeDeps.ts'
import { hasPendingBlocks, type NodeOptions } from '../nodeOptions.ts'
import type { ConsensusHalf } from '../parts/consensusHalf.ts'
import type { EngineSilence } from '../parts/engineSilence.ts'
import { createEngineWatch, type EngineWatch } from '../parts/engineWatch.ts'
import { createSequencerLink } from '../parts/sequencerLink.ts'
import { adminSequencer } from '../parts/sequencerPart.ts'
import type { TrustPart } from '../parts/trustPart.ts'
import type { SendersBy, Tracing } from '../tracing/tracing.ts'
import { createEthContext } from './ethContext.ts'
import { createRollupNode } from './rollupNode.ts'
import type { EthParts, RollupParts } from './servers.ts'
import { followSyncOf, syncProgressOf } from './syncing.ts'

/** Seconds of block time that a head may be behind the followed head and still count as synced. */
const followLagSec = 10

/** Returns the progress for `eth_syncing`, by the half that moves the chain. */
function syncOf(
  config: RollupConfig,
  execution: ExecutionWorker,
  consensus: ConsensusHalf | undefined,
  watch: EngineWatch | undefined,
): () => SyncProgress | undefined {
  const head = (): number => execution.published.heads.unsafe.number
  const starting = head()
  return () => {
    const followed = consensus?.follow?.status()
    if (followed) return followSyncOf(followed, head(), starting, Math.ceil((followLagSec * 1_000) / blockIntervalMs(config, head())))
    return consensus ? syncProgressOf(progressOf(config, consensus.status()), starting) : watch?.sync()
  }
}

/** Disposing ends the link to the sequencer. `failed`: rejects with a fatal fault in a call of the Engine API; never resolves. */
export type EthServing = Disposable & { readonly parts: EthParts; readonly watch: EngineWatch | undefined; readonly failed: Promise<never> }

/** Creates the served parts of the execution half: JSON-RPC, and the Engine API if another half drives it. */
export function ethServing(
  deps: Omit<PartDeps, 'registry'> & {
    readonly execution: ExecutionWorker
    readonly memory: Pick<NodeMemory, 'caches' | 'guard'>
    readonly consensus: ConsensusHalf | undefined
    readonly executionPeers: (AncestorSource & { readonly network: ExecutionPeerNetwork }) | undefined
    /** ends the fetches of blocks */
    readonly stop: AbortSignal
    readonly forwarding: ForwardMetrics
    readonly heads: HeadFeed
    readonly preconfirmed: PendingFeed
    /** absent: no other half drives this one */
    readonly silence: EngineSilence | undefined
    readonly tracing?: Tracing | undefined
    readonly senders: () => SendersBy
  },
  options: NodeOptions,
): EthServing {
  const { config, version, jwtSecret, listen, sequencerUrl, callTimeoutMs, pendingFallback, rpcThreads = 0 } = options
  const { execution, consensus, executionPeers, clock, heads, preconfirmed, silence, forwarding, memory, tracing } = deps
  const { promise: failed, reject: onFailed } = Promise.withResolvers<never>()
  failed.catch(() => {})
  const api =
    consensus === undefined
      ? createEngineApi({
          onFailed,
          engine: tracing?.engine(execution, 'engine-api', deps.senders) ?? execution,
          config,
          clock,
          peers: executionPeers && { source: executionPeers, log: deps.log.child('engine'), signal: deps.stop },
        })
      : undefined
  const watch = api && createEngineWatch({ api, clock, onCall: () => silence?.called() }, () => execution.published.heads.unsafe.number)
  if (watch) silence?.follow(watch.silentMs)
  const sync = syncOf(config, execution, consensus, watch)
  const { pool } = execution
  const onCount = (state: ForwardState, transactions: number): void => forwarding.transactions.set({ state }, transactions)
  const sequencer = sequencerUrl === undefined ? undefined : createSequencerLink({ ...deps, pool, onCount }, sequencerUrl)
  const context = createEthContext({
    ...{
      execution,
      config,
      clock,
      heads,
      pool,
      sequencer,
      peers: executionPeers?.network,
      version,
      sync,
      callTimeoutMs,
      pendingFallback,
    },
    preconfirmed: hasPendingBlocks(options) ? preconfirmed : undefined,
    ...{ caches: memory.caches, maxAnswerBytes: maxAnswerBytesOf(answerBytesOf(memory.guard.maxBytes, rpcThreads)) },
  })
  const engine = watch &&
    jwtSecret &&
    listen.engine && {
      api: watch.api,
      jwtSecret,
      onRefused: (reason: string): void => silence?.refused(reason),
      ...(tracing && { onCall: (): void => tracing.engineCall() }),
      context: { ...context, chain: watch.heard(context.chain) },
    }
  return { parts: { context, heads, ...(engine && { engine }) }, watch, failed, [Symbol.dispose]: () => sequencer?.[Symbol.dispose]() }
}

/** Creates the served parts of the consensus half. */
export function rollupServing(
  deps: {
    readonly engine: Engine
    readonly consensus: ConsensusHalf
    readonly trust: TrustPart | undefined
    readonly problems: () => readonly string[]
    readonly operator: Operator
    readonly signal: AbortSignal
  },
  { config, version, isAdminOn }: NodeOptions,
): RollupParts {
  const { engine, consensus, trust, problems } = deps
  const { store } = consensus
  const rollup = createRollupNode({ config, status: () => consensus.status(), trust: () => trust?.record(), engine, store, problems })
  return {
    rollup,
    version: `v${version}`,
    peers: consensus.p2p?.network,
    ...(isAdminOn && { admin: { admin: adminNode({ ...deps, config }), operator: deps.operator } }),
  }
}

/**
 * Returns why a posted payload is refused, or undefined. The inbox remembers refused payloads by hash, so the hash must be the payload's own, and only
 * a payload with the fields of its fork can be hashed.
 */
function mismatchOf(schedule: ForkSchedule, forks: Pick<ForkGate, 'faultAt'>, payload: Payload): string | undefined {
  const { timestamp, blockHash } = payload
  const stop = forks.faultAt(timestamp)
  if (stop) return stop.message
  const refusal = newPayloadRefusal(schedule, methodVersionsAt(schedule, timestamp).newPayload, payload)
  if (refusal) return refusal.reason
  return hashHeader(headerOfPayload(schedule, payload)) === blockHash ? undefined : `the payload does not hash to ${blockHash}`
}

function adminNode({
  config,
  consensus: { inbox, sequencer, forks },
  signal,
}: {
  readonly config: RollupConfig
  readonly consensus: Pick<ConsensusHalf, 'inbox' | 'sequencer' | 'forks'>
  readonly signal: AbortSignal
}): AdminNode {
  return {
    async postUnsafePayload(payload): Promise<Awaited<ReturnType<AdminNode['postUnsafePayload']>>> {
      const mismatch = mismatchOf(config.schedule, forks, payload)
      if (mismatch !== undefined) return { kind: 'refused', reason: mismatch }
      const outcome = await inbox.insert([payload], signal)
      switch (outcome.kind) {
        case 'inserted':
          return { kind: 'inserted' }
        case 'gap':
          return { kind: 'refused', reason: `its parent, block ${outcome.missing.number} ${outcome.missing.hash}, is not known` }
        case 'invalid':
        case 'refused':
          return { kind: 'refused', reason: outcome.reason }
      }
    },
    sequencer: sequencer && adminSequencer(sequencer),
  }
}
