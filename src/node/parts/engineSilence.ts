import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'

/** A consensus half tells of each block, and ours looks in between: one that is silent for longer is gone or in trouble, in milliseconds. */
export const maxSilentMs = 30_000

const refusalsEveryMs = 60_000

/** Says in the log when the other half goes silent, calls again, or is refused. */
export interface EngineSilence extends Disposable {
  called(): void
  /** Somebody came with a token that is not good. */
  refused(reason: string): void
}

/** From now on, until it is disposed of. */
export function createEngineSilence({ clock, log }: { readonly clock: Clock; readonly log: Log }): EngineSilence {
  const startMs = clock.elapsedMs()
  let calledMs: number | undefined
  let timer: Disposable | undefined
  let isSilent = false
  let refusedMs = Number.NEGATIVE_INFINITY
  let refusals = 0

  const silentMs = (): number => clock.elapsedMs() - (calledMs ?? startMs)
  function look(): void {
    const leftMs = maxSilentMs - silentMs()
    timer = leftMs > 0 ? clock.after(leftMs, look) : undefined
    if (leftMs > 0) return
    isSilent = true
    if (calledMs === undefined) log.warn('no consensus half has called since the start', { seconds: maxSilentMs / 1_000 })
    else log.warn('the consensus half has gone silent', { seconds: maxSilentMs / 1_000 })
  }
  look()

  return {
    called(): void {
      if (calledMs === undefined) log.info('a consensus half calls')
      else if (isSilent) log.info('the consensus half calls again', { seconds: Math.round(silentMs() / 1_000) })
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
      log.warn('a token on the engine port is refused', { reason, refusals })
      refusals = 0
    },
    [Symbol.dispose](): void {
      timer?.[Symbol.dispose]()
    },
  }
}
