import type { ForkSchedule } from '#chainspec/forks'
import { approachingUnsupportedFork } from '#chainspec/unsupportedFork'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'

const warnEveryMs = 86_400_000

/** Warns once a day, while it is called, of a fork to come at which the node will stop. */
export function createForkWarning({ clock, log }: { readonly clock: Clock; readonly log: Log }, schedule: ForkSchedule): () => void {
  let warnedMs = Number.NEGATIVE_INFINITY
  return () => {
    if (clock.elapsedMs() - warnedMs < warnEveryMs) return
    const coming = approachingUnsupportedFork(schedule, Math.floor(clock.nowMs() / 1000))
    if (coming === undefined) return
    warnedMs = clock.elapsedMs()
    log.warn('a fork that this version does not support is coming: the node will stop before it', coming)
  }
}
