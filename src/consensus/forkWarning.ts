import type { ForkSchedule } from '#chainspec/forks'
import { approachingUnsupportedFork } from '#chainspec/unsupportedFork'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'

const warnEveryMs = 86_400_000

/** Creates a function that warns, at most once a day, of an upcoming unsupported fork, before which the node stops. */
export function createForkWarning({ clock, log }: { readonly clock: Clock; readonly log: Log }, schedule: ForkSchedule): () => void {
  let warnedMs = Number.NEGATIVE_INFINITY
  return () => {
    if (clock.elapsedMs() - warnedMs < warnEveryMs) return
    const coming = approachingUnsupportedFork(schedule, Math.floor(clock.nowMs() / 1000))
    if (coming === undefined) return
    warnedMs = clock.elapsedMs()
    log.warn('unsupported fork ahead, the node will stop before it', coming)
  }
}
