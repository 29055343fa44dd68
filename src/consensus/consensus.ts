import type { Pipeline, StartPoint } from '#derive/ports'
import { Fault, isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import { createDriver, type DriverDeps, type DriverOptions } from './driver.ts'
import { checkEveryMs, EngineQueue, type EngineQueueDeps } from './engineQueue.ts'
import type { L1Source, SafeHeadStore, UnsafeInbox } from './ports.ts'
import type { SequencerDeps } from './sequencer.ts'
import { type DriverStatus, mainWait } from './status.ts'
import { Waits } from './waits.ts'

/** What runs beside derivation: follow mode, a sequencer. */
export type Feed = { run(signal: AbortSignal): Promise<void> }

export type ConsensusDeps = Omit<EngineQueueDeps, 'waits'> & {
  /** absent: nothing is derived, safe and finalized are what the followed node says */
  readonly l1?: { readonly source: L1Source; readonly store: SafeHeadStore; readonly createPipeline: (start: StartPoint) => Pipeline }
  /** absent: nothing is followed but L1 */
  readonly createFeed?: (parts: { readonly inbox: UnsafeInbox; readonly waits: Waits }) => Feed
  /** absent: no block is made here; with L1 only */
  readonly createSequencer?: (parts: Pick<SequencerDeps, 'chain' | 'l1' | 'l1Head' | 'waits'>) => Feed
}

/** The consensus half: derivation from L1, a node that is followed, a sequencer beside derivation; over one engine queue. */
export interface Consensus {
  /** Runs until the signal is aborted; once. @throws the fatal Fault that stopped a part; the other part is stopped first */
  run(signal: AbortSignal): Promise<void>
  status(): DriverStatus
  readonly inbox: UnsafeInbox
  readonly waits: Waits
}

type Part = Omit<Consensus, 'run'> & Feed

/** @throws RangeError when there is neither L1 nor anything to follow, or a sequencer without L1 */
export function createConsensus(deps: ConsensusDeps, options: DriverOptions): Consensus {
  const { l1, createFeed, createSequencer } = deps
  if (l1 === undefined && createFeed === undefined) throw new RangeError('neither L1 nor a source to follow')
  if (l1 === undefined && createSequencer) throw new RangeError('a sequencer without L1')
  const driverDeps: DriverDeps | undefined = l1 && { ...deps, ...l1, l1: l1.source }
  const driver = driverDeps && createDriver(driverDeps, options)
  const part = driver ?? createUnderived(deps, options)
  const feeds: Feed[] = []
  if (createFeed) feeds.push(createFeed(part))
  if (createSequencer && driver && l1) {
    const { sequenced: chain, waits } = driver
    feeds.push(createSequencer({ chain, waits, l1: l1.source, l1Head: () => driver.status().l1.latest }))
  }
  return {
    inbox: part.inbox,
    waits: part.waits,
    status: () => part.status(),
    run: (signal) => runTogether([part, ...feeds], deps.log, signal),
  }
}

/** Without L1: the heads are those of the engine, moved by the feed alone. */
function createUnderived(deps: ConsensusDeps, options: DriverOptions): Part {
  const waits = new Waits(deps)
  const queue = new EngineQueue({ ...deps, waits }, { ...options, labels: 'source' })
  let phase: DriverStatus['phase'] = 'starting'
  let fault: Fault | undefined
  return {
    inbox: queue,
    waits,
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

/** Again after each reset: without derivation there is nothing more to reset than what is done again. */
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
 * Runs parts until the signal is aborted or one fails: the others are stopped then. One that comes to a fork without rules ends alone: what is
 * followed or sequenced gets there before derivation, which goes on to the last block before it.
 */
async function runTogether(parts: readonly Feed[], log: Log, signal: AbortSignal): Promise<void> {
  const control = new AbortController()
  const stop = AbortSignal.any([signal, control.signal])
  const results = await Promise.allSettled(
    parts.map(async (part) => {
      try {
        await part.run(stop)
      } catch (error) {
        if (!isFault(error, 'UNSUPPORTED_FORK')) control.abort(error)
        else if (parts.length > 1) log.error('a fork that this version does not support was reached', { code: error.code, fix: error.fix })
        throw error
      }
    }),
  )
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}
