import type { HeadRecord } from '#blockchain/heads/headRecord'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { L2Ref } from '#types/blockRef'

const everyMs = 10_000

/** Logs the unsafe head, at most once in ten seconds, and only when it has moved. */
export interface HeadLog extends Disposable {
  publish(record: HeadRecord): void
}

/** @param options.hasDerivation heads that are also safe are logged by derivation */
export function createHeadLog(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  { hasDerivation }: { readonly hasDerivation: boolean },
): HeadLog {
  let logged: L2Ref | undefined
  let unsafe: L2Ref | undefined
  let timer: Disposable | undefined

  function write(): void {
    timer = undefined
    if (unsafe === undefined || logged === undefined || unsafe.hash === logged.hash) return
    const { number, hash, timestamp } = unsafe
    const ageSec = Math.floor(clock.nowMs() / 1_000) - timestamp
    log.info('head', { number, hash, timestamp, ageSec, blocks: number - logged.number })
    logged = unsafe
    timer = clock.after(everyMs, write)
  }

  return {
    publish({ heads }): void {
      unsafe = heads.unsafe
      // the first record has the head at the start
      if (logged === undefined || (hasDerivation && unsafe.hash === heads.safe.hash)) logged = unsafe
      if (timer === undefined) write()
    },
    [Symbol.dispose](): void {
      timer?.[Symbol.dispose]()
    },
  }
}
