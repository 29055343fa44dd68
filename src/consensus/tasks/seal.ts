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

/** What of the engine queue a sequencer's blocks go through. */
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

/** The heads with a sequenced block on top, or why it comes too late. Pure. */
export function planSeal(heads: Heads, trail: Pick<L1Trail, 'contradicts'>, block: L2Ref): Heads | string {
  if (heads.unsafe.hash !== block.parentHash) return 'the unsafe head is another block by now'
  if (trail.contradicts(block.l1Origin)) return 'L1 has another block in the place of its origin'
  return { ...heads, unsafe: block }
}

/** The chain as a sequencer sees it and puts blocks on it. The engine works on a block while other tasks have their turn. */
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

  /** Whether derivation has read L1 to its head since the heads were taken from the engine: else they may be behind what was posted. */
  get isSettled(): boolean {
    return this.#isSettled
  }

  settle(isSettled: boolean): void {
    if (this.#isSettled === isSettled) return
    this.#isSettled = isSettled
    this.changed()
  }

  /** @param listener told, without content, that the heads or `isSettled` may be others; the one there is */
  listen(listener: () => void): void {
    this.#listener = listener
  }

  changed(): void {
    this.#listener()
  }

  /** A known block. @throws Fault ENGINE_LOST (reset) */
  payload(hash: Hash, signal: AbortSignal): Promise<Payload | undefined> {
    return this.#deps.calls.read(signal, (engine) => engine.payload(hash))
  }

  /**
   * Builds on the unsafe head. The task is to begin: no forkchoice that is under way comes after that of an engine elsewhere.
   * @param seal as the engine has it; a try after it was aborted takes what the pool has
   * @returns 'moved': the parent is not the unsafe head
   * @throws Fault ENGINE_LOST, UNKNOWN_PARENT (reset), UNSUPPORTED_FORK (fatal)
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
   * Makes a built block the unsafe head, if its parent still is.
   * @returns undefined: it is dropped
   * @throws Fault ENGINE_LOST, INVALID_FORKCHOICE (reset)
   */
  seal(payload: Payload, signal: AbortSignal): Promise<L2Ref | undefined> {
    const { config, log, tasks, trail, known, setHeads } = this.#deps
    return tasks.run('seal', signal, async () => {
      const block = l2RefOf(config, payload)
      const heads = await known(signal)
      const next = planSeal(heads, trail, block)
      if (typeof next === 'string') log.warn('a sequenced block is dropped', { number: block.number, hash: block.hash, reason: next })
      // to those that stay, too: an engine elsewhere began by moving its head to the parent
      await setHeads(typeof next === 'string' ? heads : next, signal)
      return typeof next === 'string' ? undefined : block
    })
  }

  /** The engine does not have what it had: its heads are read again, and derivation begins anew. */
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
      result.catch(() => {}) // whoever awaits it does so in a moment
      return { result }
    })
  }
}
