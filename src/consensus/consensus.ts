import type { Pipeline, StartPoint } from '#derive/ports'
import { Fault } from '#lib/fault'
import type { Log } from '#lib/log'
import { Driver, type DriverDeps, type DriverOptions } from './driver.ts'
import { checkEveryMs, EngineQueue, type EngineQueueDeps } from './engineQueue.ts'
import { ForkGate, isForkStop } from './forkGate.ts'
import type { L1Source, SafeHeadStore, UnsafeInbox } from './ports.ts'
import type { SequencerDeps } from './sequencer.ts'
import { type DriverStatus, mainWait } from './status.ts'
import { Waits } from './waits.ts'

/** Task that runs next to derivation: follow mode or a sequencer. */
export type Feed = { run(signal: AbortSignal): Promise<void> }

export type ConsensusDeps = Omit<EngineQueueDeps, 'waits' | 'forks'> & {
  /** absent: there is no derivation; the followed node decides which blocks are safe and finalized */
  readonly l1?: { readonly source: L1Source; readonly store: SafeHeadStore; readonly createPipeline: (start: StartPoint) => Pipeline }
  /** absent: no other node is followed */
  readonly createFeed?: (parts: { readonly inbox: UnsafeInbox; readonly waits: Waits }) => Feed
  /** absent: no blocks are sequenced; requires L1 */
  readonly createSequencer?: (parts: Pick<SequencerDeps, 'chain' | 'l1' | 'l1Head' | 'waits' | 'forks'>) => Feed
}

/** Consensus half: derivation from L1, a followed node, a sequencer, over one engine queue. */
export interface Consensus {
  /**
   * Runs until the signal is aborted; may be called once.
   * @throws the fatal Fault that stopped a part, after the other parts have stopped
   */
  run(signal: AbortSignal): Promise<void>
  status(): DriverStatus
  readonly inbox: UnsafeInbox
  readonly waits: Waits
  /** takes the schedule that L1 publishes */
  readonly forks: ForkGate
}

type Part = Omit<Consensus, 'run'> & Feed

/**
 * Creates the consensus half.
 * @throws RangeError when there is neither L1 nor a node to follow, or a sequencer without L1
 */
export function createConsensus(deps: ConsensusDeps, options: DriverOptions): Consensus {
  const { l1, createFeed, createSequencer } = deps
  if (l1 === undefined && createFeed === undefined) throw new RangeError('neither L1 nor a source to follow is configured')
  if (l1 === undefined && createSequencer) throw new RangeError('a sequencer requires L1')
  const driverDeps: DriverDeps | undefined = l1 && { ...deps, ...l1, l1: l1.source }
  const driver = driverDeps && new Driver(driverDeps, options)
  const part = driver ?? createUnderived(deps, options)
  const feeds: Feed[] = []
  if (createFeed) feeds.push(createFeed(part))
  if (createSequencer && driver && l1) {
    const { sequenced: chain, waits, forks } = driver
    feeds.push(createSequencer({ chain, waits, forks, l1: l1.source, l1Head: () => driver.status().l1.latest }))
  }
  return {
    inbox: part.inbox,
    waits: part.waits,
    forks: part.forks,
    status: () => part.status(),
    run: (signal) => runTogether([part, ...feeds], deps.log, signal),
  }
}

/** Creates the part without L1: the heads are the engine's, and only the feed moves them. */
function createUnderived(deps: ConsensusDeps, options: DriverOptions): Part {
  const waits = new Waits(deps)
  const forks = new ForkGate(deps, options)
  const queue = new EngineQueue({ ...deps, waits, forks }, { ...options, labels: 'source' })
  let phase: DriverStatus['phase'] = 'starting'
  let fault: Fault | undefined
  return {
    inbox: queue,
    waits,
    forks,
    status: () =>
      Object.freeze({
        phase,
        l1: { latest: undefined, safe: undefined, finalized: undefined },
        origin: undefined,
        heads: queue.heads,
        labels: 'source',
        wait: mainWait(waits.current),
        waits: waits.current,
        resets: 0,
        fault,
      }),
    async run(signal): Promise<void> {
      try {
        await untilSound(() => queue.load(signal))
        phase = 'deriving'
        for (;;) {
          await deps.clock.delay(checkEveryMs, signal)
          await untilSound(() => queue.check(signal))
        }
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof Fault) fault = error
        throw error
      } finally {
        phase = 'stopped'
      }
    },
  }
}

/** Repeats the task after each reset. Without derivation, repeating it is all that a reset requires. */
async function untilSound(run: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await run()
      return
    } catch (error) {
      if (!(error instanceof Fault) || error.severity !== 'reset') throw error
    }
  }
}

/**
 * Runs the parts until the signal is aborted or one fails; the others are then stopped. A part that reaches an unsupported fork ends alone: a
 * followed or sequenced chain reaches it before derivation, which continues up to the last block before the fork.
 */
async function runTogether(parts: readonly Feed[], log: Log, signal: AbortSignal): Promise<void> {
  const control = new AbortController()
  const stop = AbortSignal.any([signal, control.signal])
  const results = await Promise.allSettled(
    parts.map(async (part) => {
      try {
        await part.run(stop)
      } catch (error) {
        if (!isForkStop(error)) control.abort(error)
        else if (parts.length > 1) log.error('unsupported fork reached', { code: error.code, fix: error.fix })
        throw error
      }
    }),
  )
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}
