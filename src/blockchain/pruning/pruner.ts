import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import { firstChanges, isPruned, pruneHistory } from '#state/pruneHistory'
import type { Kv, KvReader } from '#store/ports'
import type { Retention } from '#types/chainDistance'
import { oldestKept, oncePerFile } from './retention.ts'

/** Longest step, but for the first one after a transaction in a thread that only writes. */
const stepMs = 20
/** Time in which such a step chooses rows to remove; their removal takes about as long again. */
const choiceMs = 8
/** Most choices in it: each is the row of a block's trie nodes, whose many pieces take far longer to remove than to choose, or 64 short rows. */
const mostChoices = 48
/** A step that is not due is followed by a pause of this many times its duration. */
const pauseFactor = 3
/** Steps end this long after the last transaction of blocks, or readers would keep their snapshots, which hold freed pages. */
const activeMs = 2_000

const nothingLeft = { isDone: true, blocks: 0 }

/** One step: its duration, the blocks whose history it removed, and whether none follows before the next transaction of blocks. */
export type PruneStep = { readonly ms: number; readonly blocks: number; readonly isLast: boolean }

/** A step, or the error of one; or that of a damaged segment file with headers, once for each file: more states than wanted may stay. */
export type PruneEvent = PruneStep | { readonly error: unknown }

export type PrunerDeps = {
  readonly kv: Kv
  readonly clock: Pick<Clock, 'elapsedMs' | 'after'>
  readonly retention: Retention
  readonly onEvent: (event: PruneEvent) => void
}

/**
 * Removes older states in the thread that writes transactions of blocks, between these. Each step is a transaction of its own. After a transaction of
 * blocks, one long step or several short ones take as long as it; so pruning keeps up with any rate of blocks. A longer backlog is removed with pauses.
 */
export class Pruner implements Disposable {
  readonly #deps: PrunerDeps
  /** time that steps may still take without a pause */
  #dueMs = 0
  #untilMs = 0
  #timer: Disposable | undefined
  /** whether steps were reported since the last one */
  #isUnderWay = false
  #isEnded = false
  readonly #onDamaged = oncePerFile((error) => this.#deps.onEvent({ error }))

  constructor(deps: PrunerDeps) {
    this.#deps = deps
  }

  /**
   * Called after each transaction of blocks.
   * @param ms its duration
   * @param alone whether this thread only writes. Then one step follows before this returns, as long as the transaction: the thread may have the next one
   * already, and each step waits for the disk
   */
  committed(ms: number, alone = false): void {
    if (this.#isEnded) return
    this.#dueMs = ms
    this.#untilMs = this.#deps.clock.elapsedMs() + activeMs
    this.#schedule(alone ? this.#run(Math.max(1, ms / stepMs)) : 0)
  }

  [Symbol.dispose](): void {
    this.#isEnded = true
    this.#timer?.[Symbol.dispose]()
  }

  #schedule(pauseMs: number | undefined): void {
    if (pauseMs === undefined) return
    this.#timer ??= this.#deps.clock.after(pauseMs, () => {
      this.#timer = undefined
      this.#schedule(this.#run())
    })
  }

  /**
   * Does a step.
   * @param length in usual steps
   * @returns the time until the next step; undefined: none follows before the next transaction of blocks
   */
  #run(length = 1): number | undefined {
    const { clock, onEvent } = this.#deps
    try {
      const startMs = clock.elapsedMs()
      const step = this.#step(length) ?? nothingLeft
      // the time of a step may end with the last row
      if (step === nothingLeft && !this.#isUnderWay) return undefined
      const ms = clock.elapsedMs() - startMs
      const isLast = step.isDone || clock.elapsedMs() >= this.#untilMs
      this.#isUnderWay = !isLast
      this.#dueMs -= ms
      onEvent({ ms, blocks: step.blocks, isLast })
      if (isLast) return undefined
      return this.#dueMs > 0 ? 0 : pauseFactor * ms
    } catch (error) {
      // a full disk is reported by the commits too; the next one continues
      this.#isEnded = !(isFault(error) && error.severity === 'retry')
      onEvent({ error })
      return undefined
    }
  }

  /** @returns undefined when there is nothing to remove */
  #step(length: number): { readonly isDone: boolean; readonly blocks: number } | undefined {
    const { kv, clock, retention } = this.#deps
    const plan = read(kv, (reader) => {
      const oldest = oldestKept(reader, retention, this.#onDamaged)
      return isPruned(reader, oldest) ? undefined : { oldest, first: firstChanges(reader) }
    })
    if (plan === undefined) return undefined
    const untilMs = clock.elapsedMs() + choiceMs * length
    let choices = 0
    const hasTime = (): boolean => ++choices < mostChoices * length && clock.elapsedMs() < untilMs
    const isDone = kv.write((tx) => pruneHistory(tx, plan.oldest, hasTime))
    const next = Math.min(read(kv, firstChanges), plan.oldest.values + 1)
    return { isDone, blocks: Math.max(0, next - plan.first) }
  }
}

function read<T>(kv: Kv, use: (reader: KvReader) => T): T {
  using reader = kv.snapshot()
  return use(reader)
}
