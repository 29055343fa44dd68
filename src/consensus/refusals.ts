import { BoundedMap } from '#lib/boundedMap'
import type { Clock } from '#lib/clock'
import type { Hash } from '#types/ids'

/** Time for which a verdict is kept. It may have been wrong, for example when the engine lacked memory. */
const keepMs = 10 * 60_000
/** Maximum number of verdicts: those of `keepMs` at five blocks per second, and some of another branch. */
const maxEntries = 4_096

/** Blocks recently found invalid, which are not executed again. Bounded in number and time. */
export class Refusals {
  readonly #clock: Pick<Clock, 'elapsedMs'>
  readonly #reasons = new BoundedMap<Hash, { readonly reason: string; readonly untilMs: number }>(maxEntries)

  constructor(clock: Pick<Clock, 'elapsedMs'>) {
    this.#clock = clock
  }

  /** Stores a verdict; a known verdict keeps its expiry. */
  add(hash: Hash, reason: string): void {
    if (this.get(hash) !== undefined) return
    this.#reasons.set(hash, { reason, untilMs: this.#clock.elapsedMs() + keepMs })
  }

  get(hash: Hash): string | undefined {
    const found = this.#reasons.get(hash)
    return found && this.#clock.elapsedMs() < found.untilMs ? found.reason : undefined
  }
}
