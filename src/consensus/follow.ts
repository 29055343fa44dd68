import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Heads } from '#engine/port'
import type { Clock } from '#lib/clock'
import { Fault } from '#lib/fault'
import type { Log } from '#lib/log'
import { type Backoff, backoffMs, defaultBackoff, type Random, retry } from '#lib/retry'
import type { BlockId } from '#types/blockRef'
import type { Payload } from '#types/payload'
import { consensusFault } from './faults.ts'
import { findAncestor } from './followAncestor.ts'
import { type ProofsStatus, proofsLimit } from './followProofs.ts'
import { FollowWindow, payloadBytes, type WindowOptions } from './followWindow.ts'
import type { FollowMetrics } from './metrics.ts'
import type { L2Source, UnsafeInbox, UnsafeOutcome } from './ports.ts'
import { runUntilAborted } from './runUntilAborted.ts'
import type { Waits } from './waits.ts'

export type FollowDeps = {
  readonly source: L2Source
  readonly inbox: UnsafeInbox
  readonly waits: Pick<Waits, 'enter' | 'leave'>
  /** absent: the execution half records no proofs, or nobody waits for them */
  readonly proofs?: ProofsStatus
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: FollowMetrics
}

export type FollowOptions = WindowOptions & {
  readonly config: RollupConfig
  /** who says what is safe and finalized: the source, or derivation from L1 */
  readonly labels: 'source' | 'l1'
  /** of block time, beyond the proofs of the execution half */
  readonly maxAheadSec: number
  /** how often the source's labels are asked for at most; and at least, while nothing else is to be done: above 0 */
  readonly labelPollMs: number
  /** how often the proofs are asked for while they are behind */
  readonly proofsPollMs: number
  /** gas of the blocks of one insert: others get their turn at the engine between two */
  readonly insertGas: bigint
  /** bytes of the blocks of one insert, whatever a reorg asks for */
  readonly insertBytes: number
  readonly backoff: Backoff
}

export const defaultFollowOptions: Omit<FollowOptions, 'config' | 'labels' | 'maxAheadSec'> = {
  batchBlocks: 32,
  batchBytes: 4 * 2 ** 20,
  ahead: 4,
  labelPollMs: 2_000,
  proofsPollMs: 1_000,
  insertGas: 60_000_000n,
  insertBytes: 64 * 2 ** 20,
  backoff: defaultBackoff,
}

/** A frozen picture of the follower. */
export type FollowStatus = {
  readonly phase: 'starting' | 'following' | 'refusing' | 'stopped'
  /** heads of the source as last seen */
  readonly source: { readonly latest?: BlockId; readonly safe?: BlockId; readonly finalized?: BlockId }
  /** whose labels ours are */
  readonly labels: 'source' | 'l1'
  /** the last block that the proofs allow; undefined: they are not waited for */
  readonly limit: number | undefined
  /** why the source's chain is not ours */
  readonly refusal: Fault | undefined
  /** why it stopped */
  readonly fault: Fault | undefined
}

/** Follows another node: every block of it is executed here. */
export interface Follower {
  /**
   * Runs until the signal is aborted; once.
   * @throws the fatal Fault that stopped it (SOURCE_WRONG_CHAIN, PROOFS_NOT_RECORDED); `status` keeps it
   */
  run(signal: AbortSignal): Promise<void>
  status(): FollowStatus
}

export function createFollower(deps: FollowDeps, options: FollowOptions): Follower {
  return new SourceFollower(deps, options)
}

type Doing = 'source-head' | 'source-block' | 'source-proofs'

type NotInserted = Exclude<UnsafeOutcome, { kind: 'inserted' }>

/** How often a start point is looked for that derivation has not found yet. */
const startPollMs = 50
/** A head that was refused is tried once more after this, as long as a block is remembered as invalid. */
const refusedMs = 10 * 60_000
/** A source whose head has not moved for so many block times, and at least so long, has stopped. */
const [stoppedBlocks, stoppedMs] = [5, 10_000]
/** between two lines about progress */
const logEveryMs = 10_000

class SourceFollower implements Follower {
  readonly #deps: FollowDeps
  readonly #options: FollowOptions
  #phase: FollowStatus['phase'] = 'starting'
  #source: FollowStatus['source'] = {}
  #limit: number | undefined
  #refusal: Fault | undefined
  #refusals = 0
  #fault: Fault | undefined
  #headMs = 0
  #labelsDueMs = 0
  /** number of our head when the labels were read */
  #labelledAt = 0
  #vain = 0
  #loggedMs = 0

  constructor(deps: FollowDeps, options: FollowOptions) {
    this.#deps = deps
    this.#options = options
  }

  status(): FollowStatus {
    const [phase, source, limit, refusal, fault] = [this.#phase, this.#source, this.#limit, this.#refusal, this.#fault]
    return Object.freeze({ phase, source, labels: this.#options.labels, limit, refusal, fault })
  }

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

  /** From the source's head, seen anew, to where nothing is left to do but wait. */
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

  /** Before the next turn, which begins at the source's head; longer each time that nothing came of one. */
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
    if (latest.hash !== this.#source.latest?.hash) this.#headMs = clock.elapsedMs()
    this.#source = { ...this.#source, latest }
    return latest
  }

  /** Whether the source is on our chain, only not as far. */
  async #isBehind(latest: BlockId, heads: Heads, signal: AbortSignal): Promise<boolean> {
    if (latest.number >= heads.unsafe.number) return false
    return (await this.#deps.inbox.canonical(latest.number, signal))?.blockHash === latest.hash
  }

  /** At the source's head, or ahead of it: waits for it to move. */
  async #rest(latest: BlockId, heads: Heads, signal: AbortSignal): Promise<void> {
    const { source, waits, clock } = this.#deps
    this.#accept()
    if (heads.unsafe.number > this.#labelledAt + 1) this.#labelsDueMs = 0
    await this.#label(heads, signal)
    const stoodMs = clock.elapsedMs() - this.#headMs
    if (latest.number < heads.unsafe.number)
      waits.enter('source-head', consensusFault('SOURCE_BEHIND', { theirs: latest.number, ours: heads.unsafe.number }))
    else if (stoodMs > Math.max(stoppedMs, stoppedBlocks * this.#options.config.blockTimeSec * 1_000))
      waits.enter('source-head', consensusFault('SOURCE_STOPPED', { number: latest.number, seconds: Math.round(stoodMs / 1_000) }))
    else waits.leave('source-head')
    await source.waitForHead(signal, this.#options.labels === 'source' ? this.#options.labelPollMs : undefined)
  }

  async #awaitProofs(signal: AbortSignal): Promise<void> {
    const { waits, clock } = this.#deps
    waits.enter('source-proofs')
    await clock.delay(this.#options.proofsPollMs, signal)
  }

  /** Brings the unsafe head to the target, or as far as the source lets it. */
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
    log.warn('the node that is followed is on another branch', { from: number + 1, ours: unsafe.number, theirs: latest.number })
    if ((await this.#catchUp(ancestor.block, target, heads, signal)) === 'forked') throw consensusFault('SOURCE_REORGED', { number })
  }

  /** Inserts the source's blocks after one of ours, up to the target; 'forked': what the source has there is not its child. */
  async #catchUp(after: BlockId, target: number, heads: Heads, signal: AbortSignal): Promise<'done' | 'forked'> {
    const { source, inbox } = this.#deps
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
      await this.#label(inbox.heads ?? heads, signal)
    }
    return 'done'
  }

  #logProgress({ number, hash }: BlockId, target: number): void {
    const { clock, log } = this.#deps
    const isLongAgo = clock.elapsedMs() - this.#loggedMs >= logEveryMs
    if (number === target || isLongAgo) log[isLongAgo ? 'info' : 'debug']('follows', { number, hash, behind: target - number })
    if (isLongAgo) this.#loggedMs = clock.elapsedMs()
  }

  /** A branch replaces ours in one step, if it is not too large for that: no reader sees a head much lower in between. */
  #isEnough(pending: readonly Payload[], heads: Heads, isLast: boolean): boolean {
    const reached = pending.at(-1)?.blockNumber ?? 0
    if (isLast || reached > heads.unsafe.number) return true
    return pending.reduce((sum, each) => sum + payloadBytes(each), 0) >= this.#options.insertBytes
  }

  /** @returns whether all were inserted */
  async #insert(payloads: readonly Payload[], signal: AbortSignal): Promise<boolean> {
    const { inbox, metrics, waits } = this.#deps
    for (const part of this.#parts(payloads)) {
      const outcome = await inbox.insert(part, signal)
      if (outcome.kind !== 'inserted') {
        await this.#onOutcome(outcome, signal)
        return false
      }
      metrics.followed.inc({}, part.length)
      waits.leave('source-head')
      this.#accept()
    }
    return true
  }

  /** In pieces of some gas; those up to our head go together. */
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

  async #onOutcome(outcome: NotInserted, signal: AbortSignal): Promise<void> {
    if (outcome.kind === 'gap') return await this.#pause('gap', consensusFault('SOURCE_GAP', outcome.missing), signal)
    if (outcome.kind === 'invalid') return await this.#refuse(consensusFault('SOURCE_INVALID_BLOCK', outcome), 'invalid', signal)
    await this.#refuse(consensusFault('SOURCE_REFUSED_HERE', { reason: outcome.reason }), 'other', signal)
  }

  /** Leaves the source's chain alone until it has another head, and not at once even then; the same head is tried again much later. */
  async #refuse(fault: Fault, why: 'leaves_out' | 'invalid' | 'other', signal: AbortSignal): Promise<void> {
    const { waits, metrics, log, clock, random, source } = this.#deps
    // what L1 has replaced, the followed node gives up too
    const level = why === 'other' ? 'warn' : 'error'
    if (this.#refusal?.message !== fault.message)
      log[level]('the followed chain is refused', { code: fault.code, reason: fault.message, fix: fault.fix })
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

  /** The source's chain is ours. */
  #accept(): void {
    this.#phase = 'following'
    this.#refusal = undefined
    this.#refusals = 0
    this.#vain = 0
    for (const reason of ['source-block', 'gap'] as const) this.#deps.waits.leave(reason)
  }

  /**
   * Labels our blocks as the source does; above our head its labels stand for our head, if that is on its chain: which is asked after the
   * labels, since it may have left it meanwhile.
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

  /** Runs until it succeeds, as a wait with a reason. That for proofs ends when they are far enough. */
  async #try<T>(doing: Doing, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    const { clock, random, waits, metrics, log } = this.#deps
    let hasFailed = false
    const onFailure = ({ failures, delayMs, error }: { failures: number; delayMs: number; error: unknown }): void => {
      hasFailed = true
      metrics.sourceFailures.inc({ doing })
      log[failures === 1 ? 'warn' : 'debug']('failed, will try again', { doing, failures, delayMs, error })
      const step = waits.enter(doing, error)
      if (doing === 'source-block' && step !== 'retry') throw error // from the source's head again: its chain may be another one
    }
    const result = await retry({ clock, random }, { backoff: this.#options.backoff, signal, onFailure }, run)
    if (hasFailed && doing !== 'source-proofs') waits.leave(doing)
    return result
  }
}
