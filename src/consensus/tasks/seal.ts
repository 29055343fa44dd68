import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { BuildResult, Heads } from '#engine/port'
import type { Fault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { BlockId, L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import type { EngineCalls } from '../engineCalls.ts'
import type { L1Trail } from '../l1Trail.ts'
import type { TaskQueue } from '../taskQueue.ts'

/** Parts of the engine queue that a sequencer's blocks use. */
export type SequencedChainDeps = {
  readonly config: RollupConfig
  readonly log: Log
  readonly tasks: TaskQueue
  readonly calls: EngineCalls
  readonly trail: L1Trail
  readonly heads: () => Heads | undefined
  readonly known: (signal: AbortSignal) => Promise<Heads>
  readonly setHeads: (heads: Heads, signal: AbortSignal) => Promise<void>
  readonly onLost: (fault: Fault, signal: AbortSignal) => Promise<void>
}

/** Returns the heads with a sequenced block on top, or the reason why it is too late. Pure. */
export function planSeal(heads: Heads, trail: Pick<L1Trail, 'contradicts'>, block: L2Ref): Heads | string {
  if (heads.unsafe.hash !== block.parentHash) return 'the unsafe head has moved'
  if (trail.contradicts(block.l1Origin)) return 'L1 has replaced its L1 origin'
  return { ...heads, unsafe: block }
}

/** Chain on which a sequencer builds. Other tasks run while the engine builds a block. */
export class SequencedChain {
  readonly trail: Pick<L1Trail, 'contradicts' | 'hashAt'>
  readonly #deps: SequencedChainDeps
  #isSettled = false
  #listener: () => void = () => {}

  constructor(deps: SequencedChainDeps) {
    this.#deps = deps
    this.trail = deps.trail
  }

  get heads(): Heads | undefined {
    return this.#deps.heads()
  }

  /** True when derivation has read L1 to its head since the heads were read from the engine. Otherwise the heads may be behind the posted blocks. */
  get isSettled(): boolean {
    return this.#isSettled
  }

  settle(isSettled: boolean): void {
    if (this.#isSettled === isSettled) return
    this.#isSettled = isSettled
    this.changed()
  }

  /**
   * Sets the listener, replacing an earlier one.
   * @param listener called without arguments when the heads or `isSettled` may have changed
   */
  listen(listener: () => void): void {
    this.#listener = listener
  }

  changed(): void {
    this.#listener()
  }

  /** Returns a known block. @throws Fault ENGINE_LOST (reset) */
  payload(hash: Hash, signal: AbortSignal): Promise<Payload | undefined> {
    return this.#deps.calls.read(signal, (engine) => engine.payload(hash))
  }

  /**
   * Builds on the unsafe head. Only the start of the build is a task, so that no earlier forkchoice update reaches an engine in another process after
   * it.
   * @param seal as in the engine's port; a retry after it was aborted seals with the transactions then in the pool
   * @returns 'moved' when the parent is not the unsafe head
   * @throws Fault ENGINE_LOST, UNKNOWN_PARENT (reset)
   */
  build(
    parent: BlockId,
    attributes: PayloadAttributes,
    seal: AbortSignal | undefined,
    signal: AbortSignal,
  ): Promise<BuildResult | 'moved'> {
    const { calls } = this.#deps
    return calls.sequenceAgain(signal, async () => {
      const begun = await this.#begin(parent, attributes, seal?.aborted ? undefined : seal, signal)
      return begun ? await begun.result : 'moved'
    })
  }

  /**
   * Makes a built block the unsafe head, if its parent still is the head.
   * @returns undefined when the block is dropped
   * @throws Fault ENGINE_LOST, INVALID_FORKCHOICE (reset)
   */
  seal(payload: Payload, signal: AbortSignal): Promise<L2Ref | undefined> {
    const { config, log, tasks, trail, known, setHeads } = this.#deps
    return tasks.run('seal', signal, async () => {
      const block = l2RefOf(config, payload)
      const heads = await known(signal)
      const next = planSeal(heads, trail, block)
      if (typeof next === 'string') log.warn('sequenced block dropped', { number: block.number, hash: block.hash, reason: next })
      // also sets unchanged heads: an engine in another process moved its head to the parent when the build began
      await setHeads(typeof next === 'string' ? heads : next, signal)
      return typeof next === 'string' ? undefined : block
    })
  }

  /** Reads the heads again after the engine lost some; derivation then restarts. */
  lost(fault: Fault, signal: AbortSignal): Promise<void> {
    return this.#deps.tasks.run('start', signal, () => this.#deps.onLost(fault, signal))
  }

  #begin(
    parent: BlockId,
    attributes: PayloadAttributes,
    seal: AbortSignal | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly result: Promise<BuildResult> } | undefined> {
    const { tasks, calls, known } = this.#deps
    return tasks.run('seal', signal, async () => {
      if ((await known(signal)).unsafe.hash !== parent.hash) return undefined
      const result = calls.sequenceOnce(signal, (engine) => engine.build(parent, attributes, seal), seal)
      result.catch(() => {}) // the caller awaits it a moment later
      return { result }
    })
  }
}
