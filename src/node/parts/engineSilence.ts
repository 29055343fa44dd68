import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'

/** Silence after which the consensus half counts as gone. A consensus half calls for each block, and ours also polls in between. */
export const maxSilentMs = 30_000

/** Time without an answer to a call of the consensus half after which the state counts as old. */
export const maxUnansweredMs = 4_000

const refusalsEveryMs = 60_000

/** Logs when the consensus half goes silent, calls again, or is refused. */
export interface EngineSilence extends Disposable {
  /** @param silentMs of the watch over the calls: a caller that waits for its answer is not silent */
  follow(silentMs: () => number | undefined): void
  called(): void
  /** Called for a connection with an invalid token. */
  refused(reason: string): void
}

export function createEngineSilence({ clock, log }: { readonly clock: Clock; readonly log: Log }): EngineSilence {
  const startMs = clock.elapsedMs()
  let calledMs: number | undefined
  let timer: Disposable | undefined
  let isSilent = false
  let refusedMs = Number.NEGATIVE_INFINITY
  let refusals = 0

  let watched: () => number | undefined = () => undefined
  const sinceCallMs = (): number => clock.elapsedMs() - (calledMs ?? startMs)
  function look(): void {
    const leftMs = maxSilentMs - (watched() ?? sinceCallMs())
    timer = leftMs > 0 ? clock.after(leftMs, look) : undefined
    if (leftMs > 0) return
    isSilent = true
    if (calledMs === undefined) log.warn('no consensus half has called since the start', { seconds: maxSilentMs / 1_000 })
    else log.warn('consensus half silent', { seconds: maxSilentMs / 1_000 })
  }
  look()

  return {
    follow(silentMs): void {
      watched = silentMs
    },
    called(): void {
      if (calledMs === undefined) log.info('first call of a consensus half')
      else if (isSilent) log.info('consensus half calls again', { seconds: Math.round(sinceCallMs() / 1_000) })
      calledMs = clock.elapsedMs()
      if (!isSilent) return
      isSilent = false
      look()
    },
    refused(reason): void {
      refusals++
      const nowMs = clock.elapsedMs()
      if (nowMs - refusedMs < refusalsEveryMs) return
      refusedMs = nowMs
      log.warn('token on the engine port refused', { reason, refusals })
      refusals = 0
    },
    [Symbol.dispose](): void {
      timer?.[Symbol.dispose]()
    },
  }
}
