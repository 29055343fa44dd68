import { join } from 'node:path'
import { forkScheduleContractOf } from '#chainspec/networks'
import { type Consensus, type ConsensusDeps, createConsensus, type Feed } from '#consensus/consensus'
import { defaultDriverOptions } from '#consensus/driver'
import { isForkStop } from '#consensus/forkGate'
import { consensusMetrics } from '#consensus/metrics'
import type { SafeHeadStore } from '#consensus/ports'
import { createSafeHeadStore } from '#consensus/safeHeadStore'
import type { SequencerControl } from '#consensus/sequencer'
import { createPipeline } from '#derive/pipeline'
import type { Engine } from '#engine/port'
import type { ProtocolVersionsWatch } from '#l1/protocolVersionsWatch'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { P2p } from '#p2p/p2p'
import { openLmdbKv } from '#store/lmdbKv'
import type { Kv } from '#store/ports'
import { agreeOnSchema, consensusSchema } from '#store/schema'
import { consensusTables } from '#store/tables'
import type { L1Witness } from '#trust/ports'
import type { AncestorSource } from '#types/ancestorSource'
import type { Payload } from '#types/payload'
import type { NodeMemory } from '../memory/nodeMemory.ts'
import type { NodeDeps, PartDeps } from '../nodeDeps.ts'
import type { EngineEndpoint, NodeOptions } from '../nodeOptions.ts'
import { safeHeadTable } from '../storage/safeHeadTable.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { type ExpectedBlocks, type Follow, openFollow } from './followPart.ts'
import { checkL1, openL1 } from './l1Part.ts'
import { openP2p } from './p2pPart.ts'
import { openSequencer } from './sequencerPart.ts'

export type ConsensusHalfDeps = PartDeps &
  Pick<NodeDeps, 'kzg'> & {
    readonly engine: Engine
    readonly memory: Pick<NodeMemory, 'caches'>
    readonly tracing?: Tracing | undefined
    /** Announces a block of the followed node that will be executed; absent: the execution half is in another process. */
    readonly expected?: ExpectedBlocks
    /** fills gaps of the unsafe chain by hash; absent: nothing does */
    readonly ancestors?: AncestorSource
  }

/** Options: L1, a source, or both; a sequencer needs L1. `endpoint`: the execution half, if it is in another process. */
export type ConsensusHalfOptions = Pick<
  NodeOptions,
  'config' | 'datadir' | 'l1' | 'source' | 'sequencer' | 'forksFromL1' | 'p2p' | 'version'
> & {
  readonly endpoint?: EngineEndpoint
  /** as of the follow part */
  readonly recorded?: () => number | undefined
}

/** The consensus half of this process, before it runs. */
export interface ConsensusHalf extends AsyncDisposable, Pick<Consensus, 'status' | 'inbox' | 'waits' | 'forks'> {
  readonly store: SafeHeadStore
  /** L1 endpoints, each alone; empty without L1 */
  readonly witnesses: readonly L1Witness[]
  /** absent: no other node is followed */
  readonly follow: Pick<Follow, 'status'> | undefined
  /** absent: no block is built here */
  readonly sequencer: SequencerControl | undefined
  /** absent: there are no peers */
  readonly p2p: P2p | undefined
  /**
   * Runs until the signal is aborted; callable once. A stop before a fork ends derivation, not the node.
   * @throws Fault that a running node cannot report itself (fatal)
   */
  run(signal: AbortSignal): Promise<void>
}

/** Polls of the head between two polls of the safe and finalized blocks, which move once in minutes. */
const labelPolls = 4

/** Runs consensus. After a stop before a fork the node continues to serve its chain and is not ready; any other fatal fault ends it. */
async function runConsensus(consensus: Consensus, log: Log, signal: AbortSignal): Promise<void> {
  try {
    await consensus.run(signal)
  } catch (error) {
    if (!isForkStop(error)) throw error
    log.error('derivation stopped', { code: error.code, reason: error.message, fix: error.fix })
  }
}

/** Longest wait for the published fork schedule at a start. Without it, a node that stopped before a fork would continue over it. */
const maxScheduleWaitMs = 5_000

async function firstOrLate({ first }: Pick<ProtocolVersionsWatch, 'first'>, clock: Clock, signal: AbortSignal): Promise<void> {
  const done = new AbortController()
  const late = clock.delay(maxScheduleWaitMs, AbortSignal.any([signal, done.signal])).catch(() => {})
  await Promise.race([first, late])
  done.abort()
}

/** Waits until all parts have ended. When one fails, stops the others and throws its error at the end. */
async function allEnded(parts: readonly Promise<void>[], stop: AbortController): Promise<void> {
  for (const part of parts) part.catch(() => stop.abort())
  await Promise.allSettled(parts)
  await Promise.all(parts)
}

/** Returns a feed that runs all feeds. When one fails, the others end and its error is thrown. */
function feedsTogether(feeds: readonly (Feed | undefined)[]): Feed {
  return {
    async run(signal): Promise<void> {
      const failed = new AbortController()
      const until = AbortSignal.any([signal, failed.signal])
      await allEnded(
        feeds.filter((feed) => feed !== undefined).map((feed) => feed.run(until)),
        failed,
      )
    },
  }
}

/** @throws Fault of the store, SOURCE_URL_INVALID, P2P_PORT, P2P_PEER, P2P_KEY (fatal) */
export async function openConsensusHalf(deps: ConsensusHalfDeps, options: ConsensusHalfOptions): Promise<ConsensusHalf> {
  const { log, registry, clock, ancestors } = deps
  const { config, datadir, l1: l1Options, source, sequencer: sequencerOptions, forksFromL1, p2p: p2pOptions } = options
  await using opening = new AsyncDisposableStack()
  const kv: Kv = opening.use(openLmdbKv(join(datadir, 'consensus'), Object.values(consensusTables)))
  agreeOnSchema(kv, consensusSchema)
  const store = createSafeHeadStore(safeHeadTable(kv, consensusTables.safeHeads.id))
  const l1 = l1Options && opening.use(openL1({ ...deps, kv }, { config, l1: l1Options }))
  const follow = source && opening.use(openFollow(deps, { ...options, source }))
  const p2p = p2pOptions && opening.use(await openP2p(deps, { ...options, p2p: p2pOptions }))
  const onSealed = p2p && ((payload: Payload): void => void p2p.publish(payload))
  const sequencer = sequencerOptions && openSequencer({ ...deps, ...(onSealed && { onSealed }) }, { ...sequencerOptions, config })
  const consensusDeps: ConsensusDeps = {
    ...deps,
    log: log.child('consensus'),
    metrics: consensusMetrics.register(registry),
    ...(l1 && { l1: { source: l1, store, createPipeline: (start) => createPipeline(config, start, log.child('derive')) } }),
    ...((follow || p2p) && {
      createFeed: (parts) => feedsTogether([follow?.createFeed(parts), p2p?.createFeed({ ...parts, ...(ancestors && { ancestors }) })]),
    }),
    ...(sequencer && { createSequencer: (parts) => sequencer.create(parts) }),
  }
  const polls = l1Options && { headPollMs: l1Options.pollMs, labelPollMs: labelPolls * l1Options.pollMs }
  const consensus = createConsensus(consensusDeps, {
    ...{ ...defaultDriverOptions, ...polls, config },
    ...(forksFromL1 !== undefined && { stopsOnDifference: forksFromL1 }),
  })
  const open = opening.move()
  return {
    store,
    witnesses: l1?.witnesses ?? [],
    follow,
    p2p,
    sequencer: sequencer?.control(),
    inbox: consensus.inbox,
    waits: consensus.waits,
    forks: consensus.forks,
    status: () => consensus.status(),
    async run(signal): Promise<void> {
      const failed = new AbortController()
      const until = AbortSignal.any([signal, failed.signal])
      using _watch = l1?.watchBlobSchedule()
      const contract = forkScheduleContractOf(config)
      using _signer = p2p && l1?.watchUnsafeSigner({ contract: config.l1SystemConfig, onSigner: (signer) => p2p.setSigner(signer) })
      using versions = contract && l1?.watchProtocolVersions({ contract, onPublished: (schedule) => consensus.forks.publish(schedule) })
      const run = async (): Promise<void> => {
        if (versions) await firstOrLate(versions, clock, until)
        await runConsensus(consensus, log, until)
      }
      await allEnded([run(), ...(l1 ? [checkL1(l1, until)] : [])], failed)
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}
