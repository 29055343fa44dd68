import { blockIntervalMs, timeOf } from '#chainspec/blockTime'
import { l2RefOf, systemConfigOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { L1Block, SafeHead } from '#derive/ports'
import { sequencedAttributes } from '#derive/sequencing'
import type { Heads } from '#engine/port'
import { abortable } from '#lib/abortable'
import type { Clock } from '#lib/clock'
import { Fault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { L1Ref, L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import { consensusFault } from './faults.ts'
import type { ForkGate } from './forkGate.ts'
import type { SequencerMetrics } from './metrics.ts'
import type { L1Source } from './ports.ts'
import { runUntilAborted } from './runUntilAborted.ts'
import { Origins } from './sequencer/origins.ts'
import { isWindowEnding, planOrigin } from './sequencer/planOrigin.ts'
import { SealMargin } from './sequencer/sealMargin.ts'
import { createSealTime } from './sequencer/sealTime.ts'
import type { SequencedChain } from './tasks/seal.ts'
import type { Waits } from './waits.ts'

export type SequencerDeps = {
  readonly chain: SequencedChain
  readonly l1: Pick<L1Source, 'ref' | 'block'>
  /** returns the L1 head that derivation last saw */
  readonly l1Head: () => L1Ref | undefined
  readonly waits: Pick<Waits, 'enter' | 'leave'>
  readonly forks: Pick<ForkGate, 'refuse'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: SequencerMetrics
  /** called with each block that became the head */
  readonly onSealed?: (payload: Payload) => void
}

export type SequencerOptions = {
  readonly config: RollupConfig
  /** number of L1 blocks on top of an L1 block before it can be an origin */
  readonly l1ConfirmationBlocks: number
  /** true: sequencing waits for `start` */
  readonly isStopped: boolean
  /** maximum block time in seconds of the unsafe head before the safe head, at which building pauses; absent: no limit */
  readonly maxSafeLagSec?: number
}

/** Frozen snapshot of the sequencer. */
export type SequencerStatus = {
  readonly isActive: boolean
  /** `waiting`: for derivation to read L1, for L1, or for the safe head; `idle`: until the next block is due */
  readonly phase: 'stopped' | 'waiting' | 'idle' | 'building' | 'sealing'
  /** last block that became the head, its number of transactions including deposits, and its delay after its timestamp (below 0: before it) */
  readonly last: { readonly block: L2Ref; readonly transactions: number; readonly lateMs: number } | undefined
  readonly sealedBlocks: number
}

/** Controls of the sequencer for an operator. */
export interface SequencerControl {
  isActive(): boolean
  /**
   * Starts sequencing.
   * @throws Fault SEQUENCER_STATE (retry) when it is active already, or when the hash is not that of the unsafe head
   */
  start(unsafe: Hash): Promise<void>
  /**
   * Stops sequencing. A block being built is dropped; a block being sealed becomes the head.
   * @returns the hash of the unsafe head, which this node no longer moves
   * @throws Fault SEQUENCER_STATE (retry) when it is not active
   */
  stop(): Promise<Hash>
  status(): SequencerStatus
}

/** Maximum sleep, because the wall clock may be set while the sequencer waits for a time. */
const longestSleepMs = 1_000
/** Pause before L1 is queried again when no block can be built without it. */
const originPauseMs = 250

/** Block being built; `control` is aborted when it is no longer needed. */
type Work = { readonly parent: L2Ref; readonly control: AbortController }
type Plan = { readonly attributes: PayloadAttributes; readonly origin: L1Ref } | { readonly reason: string }

/** `sealAtMs`: time at which its seal was due, in elapsed time; undefined: the block was late and did not wait for more transactions */
type Built = { readonly payload: Payload; readonly sealAtMs: number | undefined }

export class Sequencer implements SequencerControl {
  readonly #deps: SequencerDeps
  readonly #options: SequencerOptions
  readonly #margin = new SealMargin()
  readonly #ended = new AbortController()
  readonly #origins: Origins
  #isActive: boolean
  #phase: SequencerStatus['phase'] = 'waiting'
  #last: SequencerStatus['last']
  #sealedBlocks = 0
  #head: SafeHead | undefined
  #work: Work | undefined
  #sealing: Promise<unknown> = Promise.resolve()
  #ring: () => void = () => {}

  constructor(deps: SequencerDeps, options: SequencerOptions) {
    this.#deps = deps
    this.#options = options
    this.#origins = new Origins({ ...deps, trail: deps.chain.trail }, this.#ended.signal)
    this.#isActive = !options.isStopped
    deps.chain.listen((): void => this.#onChanged())
    deps.metrics.active.set({}, this.#isActive ? 1 : 0)
  }

  isActive(): boolean {
    return this.#isActive
  }

  status(): SequencerStatus {
    const phase = this.#isActive ? this.#phase : 'stopped'
    return Object.freeze({ isActive: this.#isActive, phase, last: this.#last, sealedBlocks: this.#sealedBlocks })
  }

  async start(unsafe: Hash): Promise<void> {
    const head = this.#deps.chain.heads?.unsafe.hash
    if (this.#ended.signal.aborted) throw stateFault('sequencer has ended, restart the node')
    if (this.#isActive) throw stateFault('sequencer already running')
    if (head === undefined) throw stateFault(`no prestate, cannot determine if sequencer start at ${unsafe} is safe`)
    if (head !== unsafe) throw stateFault(`block hash does not match: head ${head}, received ${unsafe}`)
    this.#activate(true)
  }

  async stop(): Promise<Hash> {
    if (!this.#isActive) throw stateFault('sequencer not running')
    this.#activate(false)
    this.#work?.control.abort()
    await this.#sealing.catch(() => {})
    const head = this.#deps.chain.heads
    if (head === undefined) throw stateFault('sequencer is stopped, but the unsafe head is unknown')
    return head.unsafe.hash
  }

  #activate(isActive: boolean): void {
    const { metrics, log, waits, chain } = this.#deps
    this.#isActive = isActive
    metrics.active.set({}, isActive ? 1 : 0)
    if (!isActive) leaveWaits(waits)
    log.info(isActive ? 'sequencer started' : 'sequencer stopped', { head: chain.heads?.unsafe.number })
    this.#ring()
  }

  /**
   * Runs until the signal is aborted; may be called once.
   * @throws Fault DEPOSITS_INVALID, UNSUPPORTED_FORK, and those of L1 and the engine (fatal)
   */
  async run(signal: AbortSignal): Promise<void> {
    const run = async (): Promise<void> => {
      for (;;) await this.#turn(signal)
    }
    const onAbort = (): void => this.#work?.control.abort(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await runUntilAborted(signal, run, () => {})
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#isActive = false
      this.#deps.metrics.active.set({}, 0)
      leaveWaits(this.#deps.waits)
      this.#ended.abort(new Error('the sequencer has ended'))
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    try {
      signal.throwIfAborted()
      const { chain, clock } = this.#deps
      this.#phase = 'waiting'
      const { heads } = chain
      if (!this.#isActive || heads === undefined || !chain.isSettled) return await this.#pause(undefined, signal)
      if (this.#isTooFarAhead(heads)) return await this.#pause(longestSleepMs, signal)
      const { config } = this.#options
      const dueMs = timeOf(config, heads.unsafe.number + 1)
      const earlyMs = dueMs - blockIntervalMs(config, heads.unsafe.number) - clock.nowMs()
      this.#phase = 'idle'
      if (earlyMs > 0) return await this.#pause(Math.min(earlyMs, longestSleepMs), signal)
      this.#deps.forks.refuse(Math.floor(dueMs / 1_000))
      await this.#sequence(heads.unsafe, dueMs, signal)
    } catch (error) {
      if (!(error instanceof Fault) || error.severity !== 'reset') throw error
      await this.#deps.chain.lost(error, signal)
    }
  }

  /** Sequences one block, from its plan until it is the head. */
  async #sequence(parent: L2Ref, dueMs: number, signal: AbortSignal): Promise<void> {
    const { chain, clock, metrics, waits } = this.#deps
    const begunMs = clock.elapsedMs()
    const work = { parent, control: new AbortController() }
    const until = work.control.signal
    this.#work = work
    this.#phase = 'building'
    try {
      const plan = await this.#plan(parent, signal)
      if (until.aborted) return
      if ('reason' in plan) return await this.#awaitOrigin(parent, plan.reason, signal)
      waits.leave('sequencer-origin')
      const built = await this.#build(work, plan.attributes, dueMs, until)
      // includes a block that was complete just before the head moved
      if (built === undefined || until.aborted) return void metrics.blocks.inc({ outcome: 'moved' })
      const { payload, sealAtMs } = built
      metrics.building.observe({}, ((sealAtMs ?? clock.elapsedMs()) - begunMs) / 1_000)
      this.#work = undefined
      this.#phase = 'sealing'
      const sealing = chain.seal(payload, signal)
      this.#sealing = sealing
      const block = await sealing
      if (block) this.#onSealed(block, payload, { dueMs, sealAtMs, origin: plan.origin })
      else metrics.blocks.inc({ outcome: 'dropped' })
    } catch (error) {
      if (!until.aborted || signal.aborted) throw error
      metrics.blocks.inc({ outcome: 'moved' })
    } finally {
      this.#work = undefined
      // ends the engine's build in any case
      work.control.abort()
    }
    // behind schedule there is no pause between blocks; this lets other tasks of the thread run
    await clock.delay(0, signal)
  }

  /** @returns undefined when the head has moved */
  async #build(work: Work, attributes: PayloadAttributes, dueMs: number, until: AbortSignal): Promise<Built | undefined> {
    const { chain, clock } = this.#deps
    const { parent } = work
    const leftMs = dueMs - this.#margin.ms(blockIntervalMs(this.#options.config, parent.number)) - clock.nowMs()
    using seal = leftMs > 0 ? createSealTime(clock, leftMs, work.control.signal) : undefined
    const built = await abortable(chain.build(parent, attributes, seal?.signal, until), until)
    if (built === 'moved') return undefined
    if (built.kind === 'invalid') {
      throw consensusFault('DEPOSITS_INVALID', { number: parent.number + 1, parent: parent.hash, reason: built.reason })
    }
    await seal?.reached(until)
    return { payload: built.payload, sealAtMs: seal?.atMs }
  }

  async #plan(parent: L2Ref, signal: AbortSignal): Promise<Plan> {
    const { chain, l1Head, clock, log } = this.#deps
    const { config, l1ConfirmationBlocks } = this.#options
    if (chain.trail.contradicts(parent.l1Origin))
      return { reason: `L1 has replaced block ${parent.l1Origin.number}, its parent's L1 origin` }
    const waitMs = blockIntervalMs(config, parent.number) / 2
    const untilMs = clock.elapsedMs() + waitMs
    const current = await this.#origins.current(parent.l1Origin, waitMs)
    if (current === undefined) return { reason: `L1 does not return block ${parent.l1Origin.number}, its parent's L1 origin` }
    const head = l1Head()
    const next = await this.#origins.next(current, (head?.number ?? 0) - l1ConfirmationBlocks, untilMs - clock.elapsedMs())
    const plan = planOrigin(config, parent, current.ref, next?.ref)
    if (plan.kind === 'none') return plan
    const origin: L1Block = plan.kind === 'next' && next ? next : current
    const attributes = sequencedAttributes(config, await this.#headAt(parent, signal), origin, current)
    if (typeof attributes === 'string') return { reason: attributes }
    const noTxPool = attributes.noTxPool || isWindowEnding(config, origin.ref, head)
    log.debug('block building started', { number: parent.number + 1, l1Block: origin.ref.number, noTxPool })
    return { attributes: { ...attributes, noTxPool }, origin: origin.ref }
  }

  /** Returns the head with its system config, which is read from its payload. */
  async #headAt(ref: L2Ref, signal: AbortSignal): Promise<SafeHead> {
    if (this.#head?.ref.hash === ref.hash) return this.#head
    const payload = await this.#deps.chain.payload(ref.hash, signal)
    if (payload === undefined) throw consensusFault('HEAD_LOST', ref)
    return { ref, systemConfig: systemConfigOf(this.#options.config, payload) }
  }

  async #awaitOrigin({ number }: L2Ref, reason: string, signal: AbortSignal): Promise<void> {
    this.#phase = 'waiting'
    this.#deps.waits.enter('sequencer-origin', consensusFault('SEQUENCER_NO_ORIGIN', { number: number + 1, reason }))
    await this.#pause(originPauseMs, signal)
  }

  #isTooFarAhead({ unsafe, safe }: Heads): boolean {
    const { waits } = this.#deps
    const { maxSafeLagSec: maxSec } = this.#options
    const lagSec = unsafe.timestamp - safe.timestamp
    if (maxSec === undefined || lagSec < maxSec) {
      waits.leave('sequencer-lag')
      return false
    }
    waits.enter('sequencer-lag', consensusFault('SEQUENCER_TOO_FAR_AHEAD', { lagSec, maxSec }))
    return true
  }

  #onSealed(
    block: L2Ref,
    payload: Payload,
    at: { readonly dueMs: number; readonly sealAtMs: number | undefined; readonly origin: L1Ref },
  ): void {
    const { clock, metrics, log } = this.#deps
    const { config } = this.#options
    const tookMs = at.sealAtMs === undefined ? undefined : clock.elapsedMs() - at.sealAtMs
    const lateMs = clock.nowMs() - at.dueMs
    const transactions = payload.transactions.length
    if (tookMs !== undefined) this.#margin.took(tookMs)
    this.#head = { ref: l2RefOf(config, payload), systemConfig: systemConfigOf(config, payload) }
    this.#sealedBlocks++
    this.#last = { block, transactions, lateMs }
    this.#deps.onSealed?.(payload)
    metrics.blocks.inc({ outcome: 'sealed' })
    metrics.transactions.inc({}, transactions)
    if (tookMs !== undefined) metrics.sealing.observe({}, tookMs / 1_000)
    metrics.originLag.set({}, block.timestamp - at.origin.timestamp)
    if (lateMs > 0) metrics.late.inc({})
    log.info('block sealed', {
      number: block.number,
      hash: block.hash,
      txs: transactions,
      l1Block: at.origin.number,
      lateMs: Math.round(lateMs),
    })
  }

  #onChanged(): void {
    if (this.#work && this.#deps.chain.heads?.unsafe.hash !== this.#work.parent.hash) this.#work.control.abort()
    this.#ring()
  }

  /**
   * Waits until the heads or the state may have changed.
   * @param ms maximum time; undefined: no limit
   */
  async #pause(ms: number | undefined, signal: AbortSignal): Promise<void> {
    const rung = new AbortController()
    this.#ring = (): void => rung.abort()
    const never = new Promise<void>(() => {})
    const over = ms === undefined ? abortable(never, rung.signal) : this.#deps.clock.delay(ms, rung.signal)
    try {
      await abortable(
        over.catch(() => {}),
        signal,
      )
    } finally {
      rung.abort()
    }
  }
}

function leaveWaits(waits: SequencerDeps['waits']): void {
  for (const reason of ['sequencer-origin', 'sequencer-lag'] as const) waits.leave(reason)
}

const stateFault = (reason: string): Fault => consensusFault('SEQUENCER_STATE', { reason })
