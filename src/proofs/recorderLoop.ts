import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { Kv } from '#store/ports'
import type { Recorder, RecorderStep } from './recorder.ts'
import { acceptRequest } from './wanted.ts'

/** Time in which a step begins further blocks. */
const stepMs = 200
/** Pause without work: a committed block is recorded after this time at the latest. */
const idleMs = 200
/** Pause after a full disk. */
const retryMs = 2_000

export type RecorderLoopDeps = {
  readonly recorder: Pick<Recorder, 'step'>
  readonly kv: Kv
  readonly dir: string
  readonly clock: Clock
  readonly log: Log
  /** Called after each step that did something. */
  readonly onStep: (step: RecorderStep) => void
  /** Called with the error after which a step is retried, and with undefined once a step succeeded. */
  readonly onRetry: (error: Error | undefined) => void
  /** Called with the error that ended recording. */
  readonly onFailure: (error: unknown) => void
}

/**
 * Runs a recorder's steps with pauses when nothing is due. A full disk is retried. Damaged values of older blocks end their computation only. Any other
 * error ends recording, and nothing else.
 */
export class RecorderLoop implements Disposable {
  readonly #deps: RecorderLoopDeps
  readonly #pauseMs: number
  #timer: Disposable | undefined
  #isWarned = false

  /** @param pauseMs between two steps that are due; a test slows recording with it */
  constructor(deps: RecorderLoopDeps, pauseMs = 0) {
    this.#deps = deps
    this.#pauseMs = pauseMs
    this.#schedule(0)
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
  }

  #schedule(ms: number): void {
    this.#timer = this.#deps.clock.after(ms, () => this.#run())
  }

  #run(): void {
    const { recorder, kv, dir, log, onStep, onRetry, onFailure } = this.#deps
    try {
      acceptRequest(kv, dir)
      const step = recorder.step(stepMs)
      if (this.#isWarned) {
        log.info('recording of proofs resumed')
        onRetry(undefined)
      }
      this.#isWarned = false
      if (step.unwound > 0) log.info('recorded blocks removed that the chain replaced', { blocks: step.unwound })
      if (step.gap) log.warn('blocks between were not recorded and are computed now', step.gap)
      if (step.recorded + step.unwound + step.computed + step.pruned > 0) onStep(step)
      this.#schedule(step.isBehind ? this.#pauseMs : idleMs)
    } catch (error) {
      if (isFault(error, 'PROOFS_MISMATCH')) {
        log.error('older proofs not computed', { error })
        this.#schedule(idleMs)
        return
      }
      const canRetry = isFault(error) && error.severity === 'retry'
      if (!this.#isWarned || !canRetry) log.error('proofs not recorded', { error, willRetry: canRetry })
      if (!this.#isWarned && canRetry) onRetry(error)
      this.#isWarned = true
      if (canRetry) this.#schedule(retryMs)
      else onFailure(error)
    }
  }
}
