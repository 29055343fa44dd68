import { blockIntervalMs } from '#chainspec/blockTime'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Heads } from '#engine/port'
import type { Clock } from '#lib/clock'
import { Fault } from '#lib/fault'
import type { Log } from '#lib/log'
import { type Backoff, backoffMs, defaultBackoff, type Random, retry } from '#lib/retry'
import type { BlockId } from '#types/blockRef'
import type { Payload } from '#types/payload'
import { BranchBounds, type BranchOptions } from './branchBounds.ts'
import { consensusFault } from './faults.ts'
import { findAncestor } from './followAncestor.ts'
import { type ProofsStatus, proofsLimit } from './followProofs.ts'
import { FollowWindow, type WindowOptions } from './followWindow.ts'
import type { FollowMetrics } from './metrics.ts'
import type { L2Source, UnsafeInbox, UnsafeOutcome } from './ports.ts'
import { runUntilAborted } from './runUntilAborted.ts'
import type { Waits } from './waits.ts'

export type FollowDeps = {
  readonly source: L2Source
  readonly inbox: UnsafeInbox
  readonly waits: Pick<Waits, 'enter' | 'leave'>
  /** absent: the execution half records no proofs, or following does not wait for them */
  readonly proofs?: ProofsStatus
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: FollowMetrics
}

export type FollowOptions = WindowOptions &
  BranchOptions & {
    readonly config: RollupConfig
    /** source of the safe and finalized labels: the followed node, or derivation from L1 */
    readonly labels: 'source' | 'l1'
    /** maximum block time in seconds beyond the proofs of the execution half */
    readonly maxAheadSec: number
    /** minimum interval between polls of the source's labels; also the maximum while there is nothing else to do; above 0 */
    readonly labelPollMs: number
    /** interval between polls of the proofs while they are behind */
    readonly proofsPollMs: number
    /** gas of the blocks in one insert; other engine tasks run between two inserts */
    readonly insertGas: bigint
    readonly backoff: Backoff
  }

export const defaultFollowOptions: Omit<FollowOptions, 'config' | 'labels' | 'maxAheadSec'> = {
  batchBlocks: 32,
  batchBytes: 4 * 2 ** 20,
  ahead: 4,
  labelPollMs: 2_000,
  proofsPollMs: 1_000,
  insertGas: 60_000_000n,
  branchBlocks: 1_024,
  branchBytes: 8 * 2 ** 20,
  backoff: defaultBackoff,
}

/** Frozen snapshot of the follower. */
export type FollowStatus = {
  readonly phase: 'starting' | 'following' | 'refusing' | 'stopped'
  /** last known heads of the source */
  readonly source: { readonly latest?: BlockId; readonly safe?: BlockId; readonly finalized?: BlockId }
  /** source of this node's labels */
  readonly labels: 'source' | 'l1'
  /** last block that the proofs allow; undefined: following does not wait for proofs */
  readonly limit: number | undefined
  /** reason why the source's chain is refused */
  readonly refusal: Fault | undefined
  /** fault that stopped the follower */
  readonly fault: Fault | undefined
}

type Doing = 'source-head' | 'source-block' | 'source-proofs'

type NotInserted = Exclude<UnsafeOutcome, { kind: 'inserted' }>

/** Interval between checks for the start point that derivation has not found yet. */
const startPollMs = 50
/** Time after which a refused head is tried again: as long as invalid blocks are remembered. */
const refusedMs = 10 * 60_000
/** Number of block times, and minimum time, without a new head after which the source counts as stopped. */
const [stoppedBlocks, stoppedMs] = [5, 10_000]
/** Interval between reads of the source's head while blocks are inserted, for the status and the metrics: a sync takes hours. */
const headEveryMs = 10_000
/** minimum interval between progress log lines */
const logEveryMs = 10_000

/** Follows another node and executes every block of it. */
export class Follower {
  readonly #deps: FollowDeps
  readonly #options: FollowOptions
  readonly #branch: BranchBounds
  #phase: FollowStatus['phase'] = 'starting'
  #source: FollowStatus['source'] = {}
  #limit: number | undefined
  #refusal: Fault | undefined
  #refusals = 0
  #fault: Fault | undefined
  #headMs = 0
  #headReadMs = 0
  #labelsDueMs = 0
  /** number of this node's head when the labels were read */
  #labelledAt = 0
  #vain = 0
  #loggedMs = 0

  constructor(deps: FollowDeps, options: FollowOptions) {
    this.#deps = deps
    this.#options = options
    this.#branch = new BranchBounds(options)
  }

  status(): FollowStatus {
    const [phase, source, limit, refusal, fault] = [this.#phase, this.#source, this.#limit, this.#refusal, this.#fault]
    return Object.freeze({ phase, source, labels: this.#options.labels, limit, refusal, fault })
  }

  /**
   * Runs until the signal is aborted; may be called once.
   * @throws the fatal Fault that stopped it (SOURCE_WRONG_CHAIN, PROOFS_NOT_RECORDED); `status` keeps it
   */
  async run(signal: AbortSignal): Promise<void> {
    const run = async (): Promise<void> => {
      await this.#readLimit(signal)
      for (;;) await this.#turn(signal)
    }
    const onFault = (fault: Fault): void => {
      this.#fault = fault
    }
    await runUntilAborted(signal, run, onFault).finally(() => {
      this.#phase = 'stopped'
    })
  }

  /** Runs one turn: reads the source's head, then follows it until there is nothing to do but wait. */
  async #turn(signal: AbortSignal): Promise<void> {
    const { inbox, clock, waits } = this.#deps
    const heads = inbox.heads
    if (heads === undefined) return await clock.delay(startPollMs, signal)
    try {
      const latest = await this.#readHead(signal)
      const limit = await this.#readLimit(signal)
      const target = Math.min(latest.number, limit ?? latest.number)
      const isHeldBack = target < latest.number && target <= heads.unsafe.number
      if (!isHeldBack) waits.leave('source-proofs')
      if (latest.hash === heads.unsafe.hash || (await this.#isBehind(latest, heads, signal))) await this.#rest(latest, heads, signal)
      else if (isHeldBack) await this.#awaitProofs(signal)
      else await this.#follow(heads, latest, target, signal)
    } catch (error) {
      if (!(error instanceof Fault) || error.severity === 'fatal') throw error
      await this.#pause('source-block', error, signal)
    }
  }

  /** Pauses before the next turn; the pause grows with each turn without progress. */
  async #pause(reason: 'source-block' | 'gap', fault: Fault, signal: AbortSignal): Promise<void> {
    const { waits, clock, random, inbox } = this.#deps
    if (waits.enter(reason, fault) === 're-anchor') await inbox.giveUp(signal)
    this.#vain++
    await clock.delay(backoffMs(this.#options.backoff, this.#vain, random()), signal)
  }

  async #readHead(signal: AbortSignal): Promise<BlockId> {
    const { source, metrics, clock } = this.#deps
    const latest = await this.#try('source-head', signal, async () => {
      const head = await source.head('latest', signal)
      if (head === undefined) throw consensusFault('SOURCE_EMPTY', { number: 0, head: 0 })
      return head
    })
    metrics.sourceHead.set({ label: 'latest' }, latest.number)
    this.#headReadMs = clock.elapsedMs()
    if (latest.hash !== this.#source.latest?.hash) this.#headMs = clock.elapsedMs()
    this.#source = { ...this.#source, latest }
    return latest
  }

  /** Returns whether the source's head is in this node's chain, below its head. */
  async #isBehind(latest: BlockId, heads: Heads, signal: AbortSignal): Promise<boolean> {
    if (latest.number >= heads.unsafe.number) return false
    return (await this.#deps.inbox.canonical(latest.number, signal))?.blockHash === latest.hash
  }

  /** Waits for a new head of the source, at its head or ahead of it. */
  async #rest(latest: BlockId, heads: Heads, signal: AbortSignal): Promise<void> {
    const { source, waits, clock } = this.#deps
    this.#accept()
    if (heads.unsafe.number > this.#labelledAt + 1) this.#labelsDueMs = 0
    await this.#label(heads, signal)
    const stoodMs = clock.elapsedMs() - this.#headMs
    if (latest.number < heads.unsafe.number)
      waits.enter('source-head', consensusFault('SOURCE_BEHIND', { theirs: latest.number, ours: heads.unsafe.number }))
    else if (stoodMs > Math.max(stoppedMs, stoppedBlocks * blockIntervalMs(this.#options.config, heads.unsafe.number)))
      waits.enter('source-head', consensusFault('SOURCE_STOPPED', { number: latest.number, seconds: Math.round(stoodMs / 1_000) }))
    else waits.leave('source-head')
    await source.waitForHead(signal, this.#options.labels === 'source' ? this.#options.labelPollMs : undefined)
  }

  async #awaitProofs(signal: AbortSignal): Promise<void> {
    const { waits, clock } = this.#deps
    waits.enter('source-proofs')
    await clock.delay(this.#options.proofsPollMs, signal)
  }

  /** Moves the unsafe head to the target, or as far as the source's blocks allow. */
  async #follow(heads: Heads, latest: BlockId, target: number, signal: AbortSignal): Promise<void> {
    const { unsafe } = heads
    if (target > unsafe.number && (await this.#catchUp(unsafe, target, heads, signal)) === 'done') return
    const { source, inbox, metrics, log } = this.#deps
    metrics.reorgs.inc({})
    const keep = this.#options.labels === 'l1' ? 'safe' : 'finalized'
    const top = Math.min(unsafe.number, latest.number)
    const ancestor = await this.#try('source-block', signal, () => findAncestor({ source, inbox }, heads, keep, top, signal))
    if (ancestor.kind === 'leaves-out') {
      const { label, block } = ancestor
      return await this.#refuse(
        consensusFault('SOURCE_LEAVES_OUT', { label, number: block.number, hash: block.hash }),
        'leaves_out',
        signal,
      )
    }
    const { number } = ancestor.block
    if (target <= number) return await this.#awaitProofs(signal)
    log.warn('followed node is on another branch', { from: number + 1, ours: unsafe.number, theirs: latest.number })
    if ((await this.#catchUp(ancestor.block, target, heads, signal)) === 'forked') throw consensusFault('SOURCE_REORGED', { number })
  }

  /** Inserts the source's blocks after a block of this node, up to the target. 'forked': the source's next block is not a child of that block. */
  async #catchUp(after: BlockId, target: number, heads: Heads, signal: AbortSignal): Promise<'done' | 'forked'> {
    const { source, inbox, clock } = this.#deps
    using window = new FollowWindow(source, this.#options, { from: after.number + 1, to: target }, signal)
    let last = after
    let pending: Payload[] = []
    while (!window.isDone) {
      const payloads = await this.#try('source-block', signal, () => window.take())
      const [first, end] = [payloads[0], payloads.at(-1)]
      if (first === undefined || end === undefined) throw consensusFault('SOURCE_EMPTY', { number: last.number + 1, head: target })
      if (first.parentHash !== last.hash) {
        if (last === after) return 'forked'
        throw consensusFault('SOURCE_REORGED', { number: last.number })
      }
      last = { number: end.blockNumber, hash: end.blockHash }
      pending.push(...payloads)
      if (!this.#isEnough(pending, heads, window.isDone)) continue
      if (!(await this.#insert(pending, signal))) return 'done'
      pending = []
      this.#logProgress(last, target)
      if (clock.elapsedMs() - this.#headReadMs >= headEveryMs) await this.#readHead(signal)
      await this.#label(inbox.heads ?? heads, signal)
    }
    return 'done'
  }

  #logProgress({ number, hash }: BlockId, target: number): void {
    const { clock, log } = this.#deps
    const isLongAgo = clock.elapsedMs() - this.#loggedMs >= logEveryMs
    if (number === target || isLongAgo) log[isLongAgo ? 'info' : 'debug']('blocks followed', { number, hash, behind: target - number })
    if (isLongAgo) this.#loggedMs = clock.elapsedMs()
  }

  /**
   * Returns whether the pending blocks can be inserted. A branch replaces this node's branch in one step unless it is too large, so that readers do not
   * see a much lower head in between.
   */
  #isEnough(pending: readonly Payload[], heads: Heads, isLast: boolean): boolean {
    const reached = pending.at(-1)?.blockNumber ?? 0
    return isLast || reached > heads.unsafe.number || this.#branch.isFull(pending)
  }

  /** @returns whether all blocks were inserted */
  async #insert(payloads: readonly Payload[], signal: AbortSignal): Promise<boolean> {
    const { inbox, metrics, waits } = this.#deps
    for (const part of this.#parts(payloads)) {
      const outcome = await inbox.insert(part, signal)
      if (outcome.kind !== 'inserted') {
        await this.#onOutcome(outcome, part, signal)
        return false
      }
      metrics.followed.inc({}, part.length)
      waits.leave('source-head')
      this.#accept()
    }
    return true
  }

  /** Splits payloads into parts by gas. Blocks up to this node's head stay in one part. */
  *#parts(payloads: readonly Payload[]): Generator<readonly Payload[]> {
    const head = this.#deps.inbox.heads?.unsafe.number ?? 0
    let [part, gas]: [Payload[], bigint] = [[], 0n]
    for (const payload of payloads) {
      part.push(payload)
      gas += payload.gasUsed
      if (gas < this.#options.insertGas || payload.blockNumber <= head) continue
      yield part
      part = []
      gas = 0n
    }
    if (part.length > 0) yield part
  }

  async #onOutcome(outcome: NotInserted, part: readonly Payload[], signal: AbortSignal): Promise<void> {
    if (outcome.kind === 'gap' && this.#branch.shrink(outcome.missing, part))
      return this.#deps.log.warn('execution half dropped blocks of an insert, inserting fewer at once', outcome.missing)
    if (outcome.kind === 'gap') return await this.#pause('gap', consensusFault('SOURCE_GAP', outcome.missing), signal)
    if (outcome.kind === 'invalid') return await this.#refuse(consensusFault('SOURCE_INVALID_BLOCK', outcome), 'invalid', signal)
    await this.#refuse(consensusFault('SOURCE_REFUSED_HERE', { reason: outcome.reason }), 'other', signal)
  }

  /** Refuses the source's chain until its head changes, with a growing pause. The same head is tried again after a longer time. */
  async #refuse(fault: Fault, why: 'leaves_out' | 'invalid' | 'other', signal: AbortSignal): Promise<void> {
    const { waits, metrics, log, clock, random, source } = this.#deps
    // after an L1 reorg, the followed node replaces its blocks too
    const level = why === 'other' ? 'warn' : 'error'
    if (this.#refusal?.message !== fault.message)
      log[level]('followed chain refused', { code: fault.code, reason: fault.message, fix: fault.fix })
    this.#phase = 'refusing'
    this.#refusal = fault
    this.#refusals++
    metrics.refusals.inc({ why })
    waits.enter('source-block', fault)
    await clock.delay(backoffMs(this.#options.backoff, this.#refusals, random()), signal)
    const refused = this.#source.latest
    const untilMs = clock.elapsedMs() + refusedMs
    for (;;) {
      const latest = await this.#readHead(signal)
      if (latest.hash !== refused?.hash || clock.elapsedMs() >= untilMs) return
      waits.enter('source-block', fault)
      await source.waitForHead(signal)
    }
  }

  /** Ends a refusal, because this node's chain is the source's. */
  #accept(): void {
    this.#phase = 'following'
    this.#refusal = undefined
    this.#refusals = 0
    this.#vain = 0
    this.#branch.reset()
    for (const reason of ['source-block', 'gap'] as const) this.#deps.waits.leave(reason)
  }

  /**
   * Applies the source's labels to this node's blocks. A label above this node's head becomes the head if the source has it. That check follows the
   * read of the labels, because the source may have had a reorg.
   */
  async #label({ unsafe }: Heads, signal: AbortSignal): Promise<void> {
    const { source, inbox, clock, metrics } = this.#deps
    if (this.#options.labels !== 'source' || clock.elapsedMs() < this.#labelsDueMs) return
    this.#labelsDueMs = clock.elapsedMs() + this.#options.labelPollMs
    this.#labelledAt = unsafe.number
    const [safe, finalized] = await this.#try('source-head', signal, () =>
      Promise.all([source.head('safe', signal), source.head('finalized', signal)]),
    )
    if (safe) metrics.sourceHead.set({ label: 'safe' }, safe.number)
    if (finalized) metrics.sourceHead.set({ label: 'finalized' }, finalized.number)
    this.#source = { ...this.#source, ...(safe && { safe }), ...(finalized && { finalized }) }
    const isAbove = (label: BlockId | undefined): boolean => label !== undefined && label.number > unsafe.number
    const top = (isAbove(safe) || isAbove(finalized)) && (await this.#hasAtSource(unsafe, signal)) ? unsafe : undefined
    await inbox.label({ safe: isAbove(safe) ? top : safe, finalized: isAbove(finalized) ? top : finalized }, signal)
  }

  async #hasAtSource({ number, hash }: BlockId, signal: AbortSignal): Promise<boolean> {
    const [theirs] = await this.#try('source-block', signal, () => this.#deps.source.payloads(number, 1, signal))
    return theirs?.blockHash === hash
  }

  async #readLimit(signal: AbortSignal): Promise<number | undefined> {
    const { proofs } = this.#deps
    if (proofs === undefined) return undefined
    const { latest } = await this.#try('source-proofs', signal, () => proofs(signal))
    this.#limit = proofsLimit(this.#options.config, latest, this.#options.maxAheadSec)
    return this.#limit
  }

  /** Retries until success, as a wait with a reason. The wait for proofs ends only when they are far enough. */
  async #try<T>(doing: Doing, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    const { clock, random, waits, metrics, log } = this.#deps
    let hasFailed = false
    const onFailure = ({ failures, delayMs, error }: { failures: number; delayMs: number; error: unknown }): void => {
      hasFailed = true
      metrics.sourceFailures.inc({ doing })
      log[failures === 1 ? 'warn' : 'debug']('request to the followed node failed, retrying', { doing, failures, delayMs, error })
      const step = waits.enter(doing, error)
      if (doing === 'source-block' && step !== 'retry') throw error // the next turn reads the source's head again, because its chain may have changed
    }
    const result = await retry({ clock, random }, { backoff: this.#options.backoff, signal, onFailure }, run)
    if (hasFailed && doing !== 'source-proofs') waits.leave(doing)
    return result
  }
}
