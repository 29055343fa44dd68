import { isActive } from '#chainspec/forks'
import { l2RefOf, systemConfigOf } from '#chainspec/l2Ref'
import type { DerivedAttributes, Pipeline, StartPoint, Step, Want } from '#derive/ports'
import type { Engine, Heads } from '#engine/port'
import type { Clock } from '#lib/clock'
import { Fault, isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import { type Backoff, defaultBackoff, type FailedTry, type Random, retry } from '#lib/retry'
import type { L1Ref } from '#types/blockRef'
import { anchorUnsafe } from './anchorUnsafe.ts'
import { EngineQueue } from './engineQueue.ts'
import { consensusFault } from './faults.ts'
import { findFinalized } from './finality.ts'
import { ForkGate, type ForkGateOptions } from './forkGate.ts'
import { createL1Watch, type L1Watch, type L1WatchOptions } from './l1Watch.ts'
import type { ConsensusMetrics } from './metrics.ts'
import type { L1Source, SafeHeadStore, UnsafeInbox } from './ports.ts'
import { type ResetBy, Resets } from './resets.ts'
import { runUntilAborted } from './runUntilAborted.ts'
import { SafeChain } from './safeChain.ts'
import { findStart, type Start } from './startPoint.ts'
import { type DriverStatus, mainWait } from './status.ts'
import type { SequencedChain } from './tasks/seal.ts'
import type { Escalation } from './waitLadders.ts'
import { Waits } from './waits.ts'

export type DriverDeps = {
  readonly engine: Engine
  /** called once, with the first start point; later start points are passed to its `reset` */
  readonly createPipeline: (start: StartPoint) => Pipeline
  readonly l1: L1Source
  readonly store: SafeHeadStore
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: ConsensusMetrics
}

export type DriverOptions = L1WatchOptions &
  ForkGateOptions & {
    /** number of derived blocks after which they become the safe head */
    readonly commitBlocks: number
    /** time after which derived blocks become the safe head; they also do before each wait of the driver */
    readonly commitMs: number
    readonly backoff: Backoff
  }

export const defaultDriverOptions: Omit<DriverOptions, 'config'> = {
  headPollMs: 4_000,
  labelPollMs: 60_000,
  commitBlocks: 256,
  commitMs: 500,
  backoff: defaultBackoff,
}

type Running = { readonly chain: SafeChain; readonly start: Start; readonly pipeline: Pipeline }
/** Operation on L1 that is retried. */
type Try = 'l1-poll' | 'l1-block' | 'l1-blobs' | 'start-point'

/** Maximum time before other tasks of the thread run. */
const breathMs = 20

/** Derives the safe chain from L1 and moves the execution half's heads to it. */
export class Driver {
  readonly waits: Waits
  /** inbox for blocks that L1 does not confirm yet */
  readonly inbox: UnsafeInbox
  /** chain on which a sequencer builds */
  readonly sequenced: SequencedChain
  readonly forks: ForkGate
  readonly #deps: DriverDeps
  readonly #options: DriverOptions
  readonly #watch: L1Watch
  readonly #queue: EngineQueue
  readonly #resets: Resets
  #running: Running | undefined
  #phase: DriverStatus['phase'] = 'starting'
  #fault: Fault | undefined
  #committedMs = 0
  #breathedMs = 0

  constructor(deps: DriverDeps, options: DriverOptions) {
    this.#deps = deps
    this.#options = options
    this.#watch = createL1Watch(deps, options)
    this.forks = new ForkGate(deps, options)
    this.waits = new Waits(deps)
    this.#resets = new Resets({ ...deps, waits: this.waits }, options.backoff)
    this.#queue = new EngineQueue({ ...deps, waits: this.waits, forks: this.forks }, { ...options, labels: 'l1' })
    this.inbox = this.#queue
    this.sequenced = this.#queue.sequenced
  }

  status(): DriverStatus {
    const waits = this.waits.current
    return Object.freeze({
      phase: this.#phase,
      l1: this.#watch.heads,
      origin: this.#running?.pipeline.origin,
      heads: this.#queue.heads,
      labels: 'l1',
      wait: mainWait(waits),
      waits,
      resets: this.#resets.count,
      fault: this.#fault,
    })
  }

  /**
   * Runs until the signal is aborted; may be called once.
   * @throws the fatal Fault that stopped it (UNSUPPORTED_FORK, L1_CHAIN_MISMATCH, DEPOSITS_INVALID, those of the ports); `status` keeps it
   */
  async run(signal: AbortSignal): Promise<void> {
    const run = async (): Promise<void> => {
      for (;;) await this.#turn(signal)
    }
    const onFault = (fault: Fault): void => {
      this.#fault = fault
    }
    await runUntilAborted(signal, run, onFault).finally(() => {
      this.#phase = 'stopped'
    })
  }

  /** Runs one step of derivation, or the poll or start that must precede it. */
  async #turn(signal: AbortSignal): Promise<void> {
    try {
      signal.throwIfAborted()
      if (this.#watch.dueInMs() === 0) await this.#poll(signal)
      if (this.#queue.lost && !this.#resets.wanted) this.#resets.want('engine', this.#queue.lost.message)
      const running = this.#resets.wanted ? undefined : this.#running
      if (running === undefined) return await this.#begin(signal)
      await this.#breathe(signal)
      await this.#act(running, running.pipeline.step(running.chain.tip), signal)
    } catch (error) {
      if (!(error instanceof Fault) || error.severity !== 'reset') throw error
      this.#resets.want(isFault(error, 'WAIT_EXPIRED') ? 'wait' : 'engine', error.message)
    }
  }

  async #act(running: Running, step: Step<DerivedAttributes>, signal: AbortSignal): Promise<void> {
    const { chain, start, pipeline } = running
    const isPastSettled = step.kind === 'need' && step.want.kind === 'l1-block' && step.want.number > start.derivedFrom.number
    if (isPastSettled && chain.tip.ref.number < start.settled.number) return this.#distrust(start)
    switch (step.kind) {
      case 'item':
        return this.#derive(running, step.item, signal)
      case 'need':
        return this.#answer(running, step.want, signal)
      case 'wait':
        return this.#awaitL1(running, pipeline.origin.number + 1, signal)
      case 'reset':
        this.#resets.want('pipeline', step.reason)
    }
  }

  /** Finds a start point and moves to it, at the start and after each reset. */
  async #begin(signal: AbortSignal): Promise<void> {
    const { store, log } = this.#deps
    const { config } = this.#options
    const wanted = this.#resets.wanted
    if (wanted?.by === 'engine') this.sequenced.settle(false)
    if (wanted) await this.#settlePending(wanted.by, signal)
    const step = wanted ? await this.#resets.pause(signal) : 'retry'
    const { heads, start } = await this.#try('start-point', signal, () => this.#findStart(step, wanted?.by, signal))
    const chain = new SafeChain({ queue: this.#queue, store, config }, start)
    await chain.restart(start, heads, signal)
    const pipeline = this.#running?.pipeline
    pipeline?.reset(start.point)
    this.#queue.trail.clear()
    this.#running = { chain, start, pipeline: pipeline ?? this.#deps.createPipeline(start.point) }
    this.#resets.done()
    this.#phase = 'deriving'
    this.#committedMs = this.#deps.clock.elapsedMs()
    const { ref } = start.point.safe
    log[wanted && this.#resets.isAgain ? 'debug' : 'info']('derivation started', {
      l2Block: ref.number,
      hash: ref.hash,
      l1Block: start.point.l1.number,
      unsafe: start.unsafe.number,
      ...(wanted && { after: wanted.reason }),
    })
  }

  /** @param step 're-anchor': repeats derivation from the finalized head; if the engine caused the resets, drops the unsafe chain too */
  async #findStart(
    step: Escalation,
    by: ResetBy | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly heads: Heads; readonly start: Start }> {
    const heads = await this.#queue.load(signal)
    const { config } = this.#options
    const kept = step === 're-anchor' && by === 'engine' ? { ...heads, unsafe: heads.safe } : heads
    const from = step === 're-anchor' ? 'finalized' : 'settled'
    return { heads, start: await findStart({ ...this.#deps, engine: this.#queue.reader(signal), config }, kept, signal, from) }
  }

  /** Drops the last record and resets, because repeated derivation did not produce the recorded safe head, which another version derived. */
  #distrust({ entry, settled, derivedFrom }: Start): void {
    const { store, log } = this.#deps
    log.error('recorded safe head differs from derivation', { number: settled.number, hash: settled.hash, l1Block: derivedFrom.number })
    if (entry) store.dropAfter(store.atOrBelow(entry.l1.number - 1))
    this.#resets.want('records', 'the recorded safe head differs from derivation')
  }

  /** Before a reset, labels the derived blocks if their L1 block is still canonical, and drops them otherwise. */
  async #settlePending(by: ResetBy, signal: AbortSignal): Promise<void> {
    const chain = this.#running?.chain
    const from = chain?.pendingFrom
    if (chain === undefined || from === undefined) return
    const l1 = by === 'engine' ? undefined : await this.#try('start-point', signal, () => this.#deps.l1.ref(from.number, signal))
    if (l1?.hash === from.hash) await this.#commit(signal)
    chain.dropPending()
  }

  async #derive({ chain, start, pipeline }: Running, item: DerivedAttributes, signal: AbortSignal): Promise<void> {
    const { metrics, log, clock } = this.#deps
    const { config, commitBlocks, commitMs } = this.#options
    const isHolocene = isActive(config.schedule, 'holocene', item.derivedFrom.timestamp)
    const isReadAgain = item.derivedFrom.number < start.derivedFrom.number
    await this.#refuseUnsupportedFork(chain, item, signal)
    const isSettled = item.parent.number < chain.safeNumber
    const derived = isSettled ? await this.#queue.recall(item, signal) : await this.#queue.confirm(item, signal)
    if (!isSettled) metrics.blocks.inc({ outcome: derived.kind })
    if (derived.kind === 'replaced' || derived.kind === 'dropped')
      log.warn('derived block invalid', { number: item.parent.number + 1, outcome: derived.kind, reason: derived.reason })
    if (derived.kind === 'dropped') return chain.dropIncomplete()
    if (derived.kind === 'replaced') pipeline.flushChannel()
    chain.extend({
      safe: { ref: l2RefOf(config, derived.payload), systemConfig: systemConfigOf(config, derived.payload) },
      derivedFrom: isReadAgain ? start.derivedFrom : item.derivedFrom,
      isFinal: item.isLastInSpan || isHolocene,
    })
    const leavesUnsafe = derived.kind !== 'consolidated' && (this.#queue.heads?.unsafe.number ?? 0) > item.parent.number
    const isDue = chain.pendingBlocks >= commitBlocks || clock.elapsedMs() - this.#committedMs >= commitMs
    if (isDue || leavesUnsafe) await this.#commit(signal)
  }

  async #refuseUnsupportedFork(chain: SafeChain, { attributes }: DerivedAttributes, signal: AbortSignal): Promise<void> {
    const fault = this.forks.faultAt(attributes.timestamp)
    if (fault === undefined) return
    if (chain.pendingBlocks > 0) await this.#commit(signal)
    throw fault
  }

  async #answer(running: Running, want: Want, signal: AbortSignal): Promise<void> {
    const { chain, pipeline } = running
    const { l1, metrics } = this.#deps
    switch (want.kind) {
      case 'l1-block': {
        if ((this.#watch.heads.latest?.number ?? -1) < want.number) return this.#awaitL1(running, want.number, signal)
        const block = await this.#try('l1-block', signal, () => l1.block(want.number, signal))
        if (block === undefined) return this.#pauseForBlock(signal)
        pipeline.provide({ kind: 'l1-block', block })
        if (pipeline.origin.hash === block.ref.hash) await this.#follow(block.ref, signal)
        return metrics.l1Heads.set({ label: 'derived' }, pipeline.origin.number)
      }
      case 'blobs': {
        const blobs = await this.#try('l1-blobs', signal, () => l1.blobs(want.block, want.hashes, signal))
        return pipeline.provide({ kind: 'blobs', blobs })
      }
      case 'l2-block': {
        const at = chain.pendingAt(want.number)?.hash ?? want.number
        const payload = await this.#queue.payload(at, signal)
        const block = payload && { ref: l2RefOf(this.#options.config, payload), transactions: payload.transactions }
        return pipeline.provide({ kind: 'l2-block', number: want.number, block })
      }
    }
  }

  /** Drops unsafe blocks whose L1 origin differs from the L1 block just read. */
  async #follow(ref: L1Ref, signal: AbortSignal): Promise<void> {
    const { heads, trail } = this.#queue
    trail.add(ref)
    if (heads === undefined || !trail.contradicts(heads.unsafe.l1Origin)) return
    const deps = { ...this.#deps, engine: this.#queue.reader(signal), config: this.#options.config }
    const kept = await this.#try('start-point', signal, () => anchorUnsafe(deps, heads.safe, heads.unsafe, signal))
    if (kept.hash !== heads.unsafe.hash) await this.#queue.cutUnsafe(kept, signal)
  }

  /** Polls L1 again after it announced a head but returned no block: another endpoint responded, or a reorg shortened the chain. */
  async #pauseForBlock(signal: AbortSignal): Promise<void> {
    await this.#commit(signal)
    const step = this.waits.enter('l1-block')
    await this.#deps.clock.delay(Math.max(1, this.#watch.dueInMs()), signal)
    await this.#poll(signal)
    await this.#escalate('l1-block', step, signal)
  }

  /** Waits at the tip until L1 has the next block or has replaced the last one. Labels the derived blocks first. */
  async #awaitL1({ pipeline }: Running, number: number, signal: AbortSignal): Promise<void> {
    await this.#commit(signal)
    await this.#finalize(signal)
    for (const reason of ['l1-block', 'l1-blobs', 'reset'] as const) this.waits.leave(reason)
    if (this.#watch.heads.latest && !this.#queue.lost) this.sequenced.settle(true)
    while ((this.#watch.heads.latest?.number ?? -1) < number) {
      await this.#queue.check(signal)
      if (this.#queue.lost) return
      this.waits.enter('l1-head')
      await this.#deps.clock.delay(Math.max(1, Math.min(this.#watch.dueInMs(), this.#queue.checkInMs)), signal)
      if (this.#watch.dueInMs() === 0) await this.#poll(signal)
      const { latest } = this.#watch.heads
      const { origin } = pipeline
      if (latest?.number === origin.number && latest.hash !== origin.hash) return this.#resets.want('l1-head', 'L1 head was replaced')
    }
    this.waits.leave('l1-head')
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const before = this.#watch.heads.finalized
    await this.#try('l1-poll', signal, () => this.#watch.poll(signal))
    for (const label of ['latest', 'safe', 'finalized'] as const) {
      const ref = this.#watch.heads[label]
      if (ref) this.#deps.metrics.l1Heads.set({ label }, ref.number)
    }
    this.forks.report()
    if (this.#watch.heads.finalized?.hash !== before?.hash) await this.#finalize(signal)
  }

  /** Labels derived blocks safe. Called before every wait, so that blocks do not stay unlabelled. */
  async #commit(signal: AbortSignal): Promise<void> {
    const { clock, metrics, log } = this.#deps
    this.#committedMs = clock.elapsedMs()
    if (this.#running === undefined) return
    const { chain, pipeline } = this.#running
    const safe = await chain.commit(signal)
    if (safe === undefined) return
    this.#resets.progressed()
    metrics.commits.inc({})
    const { number, hash, timestamp } = safe
    log.info('safe head updated', { number, hash, timestamp, l1Block: pipeline.origin.number })
  }

  async #finalize(signal: AbortSignal): Promise<void> {
    const heads = this.#queue.heads
    const finalizedL1 = this.#watch.heads.finalized
    if (this.#running === undefined || heads === undefined || finalizedL1 === undefined || this.#resets.wanted) return
    const deps = { ...this.#deps, engine: this.#queue.reader(signal), config: this.#options.config }
    const found = await this.#try('l1-poll', signal, () => findFinalized(deps, heads, finalizedL1, signal))
    if (found === undefined) return
    // an engine in another process has moved its head to the built blocks; setting older labels would move it back
    await this.#commit(signal)
    await this.#queue.finalize(found, signal)
    this.#deps.log.info('finalized head updated', { number: found.number, hash: found.hash, l1Block: finalizedL1.number })
  }

  /**
   * Retries an operation on L1 with back-off; errors that are not retryable are rethrown. While it fails, derived blocks are labelled first, the
   * status shows the wait's reason, and its escalation steps run.
   */
  async #try<T>(doing: Try, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    const { clock, random, log, metrics } = this.#deps
    const onFailure = async ({ failures, delayMs, error }: FailedTry): Promise<void> => {
      metrics.failures.inc({ doing })
      // l1 logs the failures of each endpoint
      log.debug('operation failed, retrying', { doing, failures, delayMs, error })
      if (doing === 'l1-block' || doing === 'l1-blobs') await this.#commit(signal)
      await this.#escalate(doing, this.waits.enter(doing, error), signal)
    }
    const result = await retry({ clock, random }, { backoff: this.#options.backoff, signal, onFailure }, run)
    if (doing !== 'l1-block' || result !== undefined) this.waits.leave(doing)
    return result
  }

  /**
   * Runs a step of a wait: `back-fill` polls the heads and checks the last L1 block read; `reset` searches the start point again.
   * @throws Fault WAIT_EXPIRED (reset)
   */
  async #escalate(doing: Try, step: Escalation, signal: AbortSignal): Promise<void> {
    if (step === 'retry') return
    const origin = this.#running?.pipeline.origin
    if (step !== 'back-fill' || origin === undefined) throw consensusFault('WAIT_EXPIRED', { reason: doing })
    await this.#poll(signal)
    const now = await this.#try('l1-poll', signal, () => this.#deps.l1.ref(origin.number, signal))
    if (now !== undefined && now.hash !== origin.hash) throw consensusFault('WAIT_EXPIRED', { reason: doing })
  }

  async #breathe(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    const nowMs = clock.elapsedMs()
    if (nowMs - this.#breathedMs < breathMs) return
    await clock.delay(0, signal)
    this.#breathedMs = clock.elapsedMs()
  }
}
