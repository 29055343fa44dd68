import type { ExecutionStage } from '#block/execution/executeBlock'
import type { Clock } from '#lib/clock'

/**
 * Stages of blocks in this thread: `transactions` and `seal` of inserted payloads, `journal` of every block, `publish` of every record. `commit` of
 * transactions is in the thread that writes them.
 */
export const blockStages = ['transactions', 'seal', 'journal', 'publish', 'commit'] as const satisfies readonly (
  | ExecutionStage
  | 'journal'
  | 'publish'
  | 'commit'
)[]
export type BlockStage = (typeof blockStages)[number]

/** Time spent in each stage since the start. */
export class StageTimes {
  readonly #clock: Pick<Clock, 'elapsedMs'>
  readonly #ms: Record<BlockStage, number> = { transactions: 0, seal: 0, journal: 0, publish: 0, commit: 0 }
  #sinceMs = 0

  constructor(clock: Pick<Clock, 'elapsedMs'>) {
    this.#clock = clock
  }

  /** Returns milliseconds by stage. */
  get ms(): Readonly<Record<BlockStage, number>> {
    return { ...this.#ms }
  }

  /** Begins a stage of this thread. */
  begin(): void {
    this.#sinceMs = this.#clock.elapsedMs()
  }

  /** Ends the stage that began last, and begins the next one. */
  ended(stage: BlockStage): void {
    const nowMs = this.#clock.elapsedMs()
    this.add(stage, nowMs - this.#sinceMs)
    this.#sinceMs = nowMs
  }

  /** Adds time that was measured elsewhere. */
  add(stage: BlockStage, ms: number): void {
    this.#ms[stage] += ms
  }
}
