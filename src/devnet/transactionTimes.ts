import type { Clock } from '#lib/clock'
import type { Hash } from '#types/ids'

/** How far a transaction of an account has come. */
export const stages = ['preconfirmed', 'sealed', 'safe'] as const
export type Stage = (typeof stages)[number]

/** Milliseconds from sending to each stage, medians of the newest transactions; undefined: none has got there. */
export type TransactionTimes = Readonly<Record<Stage, number | undefined>>

/** Notes when transactions are sent, and when they get somewhere. */
export interface TransactionClock {
  sent(hash: Hash): void
  /** Of one whose sending was not noted nothing is known; a stage counts once. */
  reached(stage: Stage, hashes: Iterable<Hash>): void
  read(): TransactionTimes
}

/** Of sent ones, of which the oldest are forgotten: what is never included must not stay for ever. */
const maxUnderWay = 20_000
/** Medians are of so many. */
const window = 200

const medianOf = (values: readonly number[]): number | undefined => values.toSorted((a, b) => a - b)[values.length >> 1]

export function createTransactionClock(clock: Pick<Clock, 'elapsedMs'>): TransactionClock {
  const underWay = new Map<Hash, { readonly sentMs: number; readonly reached: Set<Stage> }>()
  const samples: Readonly<Record<Stage, number[]>> = { preconfirmed: [], sealed: [], safe: [] }

  function note(stage: Stage, hash: Hash, nowMs: number): void {
    const transaction = underWay.get(hash)
    if (transaction === undefined || transaction.reached.has(stage)) return
    transaction.reached.add(stage)
    const list = samples[stage]
    list.push(nowMs - transaction.sentMs)
    if (list.length > window) list.shift()
    if (stage === 'safe') underWay.delete(hash)
  }

  return {
    sent(hash): void {
      if (underWay.has(hash)) return
      underWay.set(hash, { sentMs: clock.elapsedMs(), reached: new Set() })
      if (underWay.size <= maxUnderWay) return
      for (const oldest of underWay.keys()) {
        underWay.delete(oldest)
        break
      }
    },
    reached(stage, hashes): void {
      const nowMs = clock.elapsedMs()
      for (const hash of hashes) note(stage, hash, nowMs)
    },
    read: () => ({ preconfirmed: medianOf(samples.preconfirmed), sealed: medianOf(samples.sealed), safe: medianOf(samples.safe) }),
  }
}
