import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { DerivedAttributes } from '#derive/ports'
import type { Engine, Heads } from '#engine/port'
import { type Fault, isFault } from '#lib/fault'
import type { Backoff } from '#lib/retry'
import type { BlockId, L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { EngineCalls, type EngineCallsDeps } from './engineCalls.ts'
import { consensusFault } from './faults.ts'
import type { ForkGate } from './forkGate.ts'
import { L1Trail } from './l1Trail.ts'
import type { UnsafeInbox, UnsafeOutcome } from './ports.ts'
import { reconcileHeads } from './reconcileHeads.ts'
import { TaskQueue } from './taskQueue.ts'
import { buildDerived, type Derived } from './tasks/build.ts'
import { type Consolidation, consolidateDerived, planSafe, recallDerived } from './tasks/consolidate.ts'
import { SequencedChain } from './tasks/seal.ts'
import { UnsafeInserts } from './tasks/unsafeInserts.ts'

export type EngineQueueDeps = EngineCallsDeps & { readonly forks: Pick<ForkGate, 'refuse'> }

export type EngineQueueOptions = {
  readonly config: RollupConfig
  readonly backoff: Backoff
  /** source of the safe and finalized labels: derivation, or the followed node */
  readonly labels: 'l1' | 'source'
}

/** Maximum pause between retries. The execution half is local and depends on no other service, so it is retried soon after it is back. */
const longestPauseMs = 5_000

/** Interval between checks that an idle execution half still has its heads. */
export const checkEveryMs = 5_000

/** Result of `confirm`. `consolidated`: the unsafe block at the number equals the derived one. */
export type Confirmed = Derived | { readonly kind: 'consolidated'; readonly payload: Payload }

/**
 * Owner of the heads and the only caller of the execution half. It runs one task at a time, in the order of `taskKinds`. Faults of severity 'retry'
 * are retried inside a task, as the wait 'engine'; after a while the task ends with ENGINE_LOST (reset), because an engine that restarted may have
 * lost blocks. Each retry of an insert is a new task, so that an engine that only refuses unsafe blocks does not delay other tasks.
 */
export class EngineQueue implements UnsafeInbox {
  /** L1 blocks that derivation has read; no block that contradicts them is inserted */
  readonly trail = new L1Trail()
  /** chain on which a sequencer builds */
  readonly sequenced: SequencedChain
  readonly #deps: EngineQueueDeps
  readonly #options: EngineQueueOptions
  readonly #tasks = new TaskQueue()
  readonly #calls: EngineCalls
  readonly #unsafe: UnsafeInserts
  #heads: Heads | undefined
  #checkedMs = 0
  #lost: Fault | undefined

  constructor(deps: EngineQueueDeps, options: EngineQueueOptions) {
    this.#deps = deps
    this.#options = options
    this.#calls = new EngineCalls(deps, { ...options.backoff, maxMs: Math.min(options.backoff.maxMs, longestPauseMs) })
    const shared = {
      ...{ config: options.config, log: deps.log, tasks: this.#tasks, calls: this.#calls, trail: this.trail },
      known: (signal: AbortSignal): Promise<Heads> => this.#known(signal),
      setHeads: (heads: Heads, signal: AbortSignal): Promise<void> => this.#setHeads(heads, signal),
      onLost: (fault: Fault, signal: AbortSignal): Promise<void> => this.#onLost(fault, signal),
    }
    this.sequenced = new SequencedChain({ ...shared, heads: (): Heads | undefined => this.#heads })
    this.#unsafe = new UnsafeInserts({
      ...{ ...shared, labels: options.labels, clock: deps.clock, metrics: deps.metrics, forks: deps.forks },
      untilAnswered: <T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> => this.#untilAnswered(signal, run),
    })
  }

  get heads(): Heads | undefined {
    return this.#heads
  }

  /** Reason why the engine's heads have changed since the last `load`, so that a start point must be found again. */
  get lost(): Fault | undefined {
    return this.#lost
  }

  /** Reads the engine's heads, corrects their order and adopts them. */
  load(signal: AbortSignal): Promise<Heads> {
    return this.#tasks.run('start', signal, async () => {
      this.#lost = undefined
      return await this.#load(signal)
    })
  }

  /** Time until the next `check` reads the heads. */
  get checkInMs(): number {
    return Math.max(0, this.#checkedMs + checkEveryMs - this.#deps.clock.elapsedMs())
  }

  /**
   * Checks, at most every five seconds, that the engine still has the heads it was given. A restarted engine may have lost some, and no other call
   * reads them. One that fetched blocks from peers has a higher head.
   */
  async check(signal: AbortSignal): Promise<void> {
    if (this.checkInMs > 0) return
    this.#checkedMs = this.#deps.clock.elapsedMs()
    await this.#tasks.run('finalize', signal, async () => {
      if (await this.#hasItsHeads(signal)) this.#calls.idle()
    })
  }

  /** Returns whether the engine has its heads, or a higher one on their chain, which is adopted; reads them again otherwise. */
  async #hasItsHeads(signal: AbortSignal): Promise<boolean> {
    const heads = await this.#known(signal)
    const found = await this.#calls.read(signal, (engine) => engine.heads())
    if (found.unsafe.hash === heads.unsafe.hash && found.safe.hash === heads.safe.hash) return true
    if (await this.#isExtended(heads, found, signal)) {
      this.#deps.log.debug('head of the execution half adopted', { from: heads.unsafe.number, to: found.unsafe.number })
      this.#take({ ...heads, unsafe: found.unsafe })
      return true
    }
    await this.#onLost(consensusFault('HEAD_LOST', found.unsafe.hash === heads.unsafe.hash ? heads.safe : heads.unsafe), signal)
    return false
  }

  async #isExtended({ unsafe, safe }: Heads, found: Heads, signal: AbortSignal): Promise<boolean> {
    if (found.safe.hash !== safe.hash || found.unsafe.number <= unsafe.number) return false
    return !this.trail.contradicts(found.unsafe.l1Origin) && (await this.#canonicalRef(unsafe, signal)) !== undefined
  }

  insert(payloads: readonly Payload[], signal: AbortSignal): Promise<UnsafeOutcome> {
    return this.#unsafe.insert(payloads, signal)
  }

  async label(labels: { readonly safe: BlockId | undefined; readonly finalized: BlockId | undefined }, signal: AbortSignal): Promise<void> {
    if (this.#options.labels !== 'source') return
    await this.#tasks.run('consolidate', signal, async () => {
      const safe = await this.#canonicalRef(labels.safe, signal)
      const heads = await this.#known(signal)
      if (safe && safe.number > heads.safe.number && safe.number <= heads.unsafe.number) await this.#setHeads({ ...heads, safe }, signal)
    })
    await this.#tasks.run('finalize', signal, async () => {
      const finalized = await this.#canonicalRef(labels.finalized, signal)
      if (finalized) await this.#finalize(finalized, signal)
    })
  }

  /** Returns a known block, outside of the order of tasks, because nothing changes. */
  payload(at: number | Hash, signal: AbortSignal): Promise<Payload | undefined> {
    return this.#calls.read(signal, (engine) => engine.payload(at))
  }

  canonical(number: number, signal: AbortSignal): Promise<Payload | undefined> {
    return this.#untilAnswered(signal, () => this.payload(number, signal))
  }

  /** Returns `payload` as a port for readers. */
  reader(signal: AbortSignal): Pick<Engine, 'payload'> {
    return { payload: (at): Promise<Payload | undefined> => this.payload(at, signal) }
  }

  /**
   * Makes the block of derived attributes known: the unsafe block at its number when it is equal, else a new block. Moves no label.
   * @throws Fault DEPOSITS_INVALID (fatal), UNKNOWN_PARENT, ENGINE_LOST (reset)
   */
  async confirm(item: DerivedAttributes, signal: AbortSignal): Promise<Confirmed> {
    // outside of the order of tasks, so that an equal block does not wait for inserts; the task compares again, because they may change the head
    const found = await this.#consolidate(item, signal)
    if (found?.kind === 'same') return { kind: 'consolidated', payload: found.payload }
    return await this.#tasks.run('build', signal, () => this.#build(item, signal))
  }

  /** Returns the earlier result of derived attributes at or below the safe head. */
  recall(item: DerivedAttributes, signal: AbortSignal): Promise<Derived> {
    return this.#calls.read(signal, (engine) => recallDerived(engine, this.#options.config, item))
  }

  /** Labels a derived block safe; drops an unsafe chain that does not contain it. */
  labelSafe(safe: L2Ref, signal: AbortSignal): Promise<void> {
    return this.#tasks.run('consolidate', signal, async () => {
      const heads = await this.#known(signal)
      const next = await this.#calls.read(signal, (engine) => planSafe(engine, heads, safe))
      this.#toldDropped(heads, next.unsafe)
      await this.#setHeads(next, signal)
    })
  }

  /** Labels a block of the safe chain finalized, clamped to the safe head; never moves back. */
  finalize(finalized: L2Ref, signal: AbortSignal): Promise<void> {
    return this.#tasks.run('finalize', signal, () => this.#finalize(finalized, signal))
  }

  /**
   * Moves to the safe head of a start and keeps the unsafe chain up to `unsafe`. If that was the whole chain, blocks added to it in the meantime are
   * kept too.
   */
  restart(start: { readonly safe: L2Ref; readonly unsafe: L2Ref; readonly from: Heads }, signal: AbortSignal): Promise<void> {
    return this.#tasks.run('start', signal, async () => {
      const heads = await this.#known(signal)
      const { safe, from } = start
      const isWhole = start.unsafe.hash === from.unsafe.hash && safe.number <= heads.unsafe.number
      const stays = isWhole && (heads.unsafe.hash === from.unsafe.hash || (await this.#canonicalRef(start.unsafe, signal)) !== undefined)
      const unsafe = stays ? heads.unsafe : start.unsafe
      const finalized = heads.finalized.number > safe.number ? safe : heads.finalized
      const next: Heads = { unsafe, safe, finalized }
      if (isSame(next, heads)) return
      this.#toldDropped(heads, unsafe)
      await this.#setHeads(next, signal)
    })
  }

  /** Drops the unsafe chain above one of its blocks, which is not below the safe head. Does nothing when the block is no longer canonical. */
  cutUnsafe(unsafe: L2Ref, signal: AbortSignal): Promise<void> {
    return this.#tasks.run('consolidate', signal, async () => {
      const heads = await this.#known(signal)
      if (unsafe.number < heads.safe.number || (await this.#canonicalRef(unsafe, signal)) === undefined) return
      this.#toldDropped(heads, unsafe)
      await this.#setHeads({ ...heads, unsafe }, signal)
    })
  }

  giveUp(signal: AbortSignal): Promise<void> {
    return this.#tasks.run('consolidate', signal, async () => {
      const heads = await this.#known(signal)
      if (heads.unsafe.hash === heads.safe.hash) return
      this.#toldDropped(heads, heads.safe)
      await this.#setHeads({ ...heads, unsafe: heads.safe }, signal)
    })
  }

  #toldDropped(heads: Heads, unsafe: L2Ref): void {
    const blocks = heads.unsafe.number - unsafe.number
    if (blocks > 0) this.#deps.log.warn('unsafe blocks dropped', { from: unsafe.number + 1, blocks })
  }

  async #build(item: DerivedAttributes, signal: AbortSignal): Promise<Confirmed> {
    const { log } = this.#deps
    const { config } = this.#options
    const number = item.parent.number + 1
    const found = await this.#consolidate(item, signal)
    if (found?.kind === 'same') return { kind: 'consolidated', payload: found.payload }
    if (found?.kind === 'differs') {
      log.warn('unsafe block differs from L1', { number, hash: found.payload.blockHash, ...found.difference })
    }
    const derived = await this.#calls.write(signal, (engine) => buildDerived(engine, config.schedule, item))
    // an engine in another process begins a build by moving its head to the parent; move it back to the kept chain
    const isSame = derived.kind !== 'dropped' && found?.kind === 'differs' && derived.payload.blockHash === found.payload.blockHash
    const hasMoved = item.parent.hash !== this.#heads?.unsafe.hash
    if (hasMoved && (derived.kind === 'dropped' || isSame)) await this.#setHeads(await this.#known(signal), signal)
    return derived
  }

  /** Compares the item with the unsafe block at its number; undefined when there is none. */
  async #consolidate(item: DerivedAttributes, signal: AbortSignal): Promise<Consolidation | undefined> {
    if ((this.#heads?.unsafe.number ?? 0) <= item.parent.number) return undefined
    return await this.#calls.read(signal, (engine) => consolidateDerived(engine, this.#options.config, item))
  }

  /** Repeats the call while it fails with ENGINE_LOST, for callers without a reset of their own; checks the engine's heads in between. */
  async #untilAnswered<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await run()
      } catch (error) {
        if (!isFault(error, 'ENGINE_LOST')) throw error
        await this.#tasks
          .run('start', signal, () => this.#hasItsHeads(signal))
          .catch((again: unknown) => {
            if (!isFault(again, 'ENGINE_LOST')) throw again
          })
      }
    }
  }

  /** Finalizes a block, at most the safe head; never moves back. */
  async #finalize(wanted: L2Ref, signal: AbortSignal): Promise<void> {
    const heads = await this.#known(signal)
    const finalized = wanted.number > heads.safe.number ? heads.safe : wanted
    if (finalized.number > heads.finalized.number) await this.#setHeads({ ...heads, finalized }, signal)
  }

  async #canonicalRef(block: BlockId | undefined, signal: AbortSignal): Promise<L2Ref | undefined> {
    const payload = block && (await this.payload(block.number, signal))
    return payload && payload.blockHash === block.hash ? l2RefOf(this.#options.config, payload) : undefined
  }

  async #known(signal: AbortSignal): Promise<Heads> {
    return this.#heads ?? (await this.#load(signal))
  }

  async #load(signal: AbortSignal): Promise<Heads> {
    const found = await this.#calls.read(signal, (engine) => engine.heads())
    const heads = await this.#calls.read(signal, (engine) => reconcileHeads(engine, found, this.#heads?.finalized))
    if (heads !== found) this.#deps.log.warn('heads of the execution half corrected', numbersOf(found))
    this.#take(heads)
    return heads
  }

  async #onLost(fault: Fault, signal: AbortSignal): Promise<void> {
    this.#deps.log.warn('heads lost, reading them again', { reason: fault.message })
    this.#lost = fault
    this.sequenced.settle(false)
    await this.#load(signal).catch((error: unknown) => {
      if (!isFault(error, 'ENGINE_LOST')) throw error
    })
  }

  async #setHeads(heads: Heads, signal: AbortSignal): Promise<void> {
    await this.#calls.write(signal, (engine) => engine.setHeads(heads))
    this.#take(heads)
  }

  #take(heads: Heads): void {
    this.#heads = heads
    for (const label of ['unsafe', 'safe', 'finalized'] as const) this.#deps.metrics.heads.set({ label }, heads[label].number)
    this.sequenced.changed()
  }
}

const isSame = (a: Heads, b: Heads): boolean =>
  a.unsafe.hash === b.unsafe.hash && a.safe.hash === b.safe.hash && a.finalized.hash === b.finalized.hash

const numbersOf = ({ unsafe, safe, finalized }: Heads): Record<string, number> => ({
  unsafe: unsafe.number,
  safe: safe.number,
  finalized: finalized.number,
})
