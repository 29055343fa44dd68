import type { HeadRecord } from '#blockchain/heads/headRecord'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { L2Ref } from '#types/blockRef'

const everyMs = 10_000

/** Says in the log where the unsafe head is: once in ten seconds at most, and only when it has moved. */
export interface HeadLog extends Disposable {
  publish(record: HeadRecord): void
}

/** @param options.hasDerivation a head that is safe too is told of by derivation */
export function createHeadLog(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  { hasDerivation }: { readonly hasDerivation: boolean },
): HeadLog {
  let told: L2Ref | undefined
  let unsafe: L2Ref | undefined
  let timer: Disposable | undefined

  function tell(): void {
    timer = undefined
    if (unsafe === undefined || told === undefined || unsafe.hash === told.hash) return
    const { number, hash, timestamp } = unsafe
    const ageSec = Math.floor(clock.nowMs() / 1_000) - timestamp
    log.info('head', { number, hash, timestamp, ageSec, blocks: number - told.number })
    told = unsafe
    timer = clock.after(everyMs, tell)
  }

  return {
    publish({ heads }): void {
      unsafe = heads.unsafe
      // the first record is where the chain was
      if (told === undefined || (hasDerivation && unsafe.hash === heads.safe.hash)) told = unsafe
      if (timer === undefined) tell()
    },
    [Symbol.dispose](): void {
      timer?.[Symbol.dispose]()
    },
  }
}
