import type { Clock } from '#lib/clock'
import type { TransactionWay } from '#page/state'
import type { Hash } from '#types/ids'

export const stages = ['preconfirmed', 'sealed', 'safe'] as const
export type Stage = (typeof stages)[number]

/** Median milliseconds from sending to each stage, of the newest transactions; undefined: none reached it. */
export type TransactionTimes = Readonly<Record<Stage, number | undefined>>

/** Records when transactions are sent and when they reach a stage. */
export interface TransactionClock {
  sent(hash: Hash): void
  /** Records a stage. Ignores transactions whose sending is unknown, and repeated stages. */
  reached(stage: Stage, hashes: Iterable<Hash>): void
  read(): TransactionTimes
  /** Returns the newest transactions, oldest first. `sentMs` is by the wall clock. */
  newest(): readonly TransactionWay[]
}

/** Maximum number of pending transactions; the oldest are dropped, because some are never included. */
const maxUnderWay = 20_000
/** Number of samples per median. */
const window = 200
/** Number of transactions whose way is kept. */
const maxWays = 40

const medianOf = (values: readonly number[]): number | undefined => values.toSorted((a, b) => a - b)[values.length >> 1]

type UnderWay = { readonly hash: Hash; readonly sentMs: number; readonly sentAtMs: number; readonly times: { [S in Stage]?: number } }

export function createTransactionClock(clock: Pick<Clock, 'elapsedMs' | 'nowMs'>): TransactionClock {
  const underWay = new Map<Hash, UnderWay>()
  const newest: UnderWay[] = []
  const samples: Readonly<Record<Stage, number[]>> = { preconfirmed: [], sealed: [], safe: [] }

  function note(stage: Stage, hash: Hash, nowMs: number): void {
    const transaction = underWay.get(hash)
    if (transaction === undefined || transaction.times[stage] !== undefined) return
    const ms = nowMs - transaction.sentMs
    transaction.times[stage] = ms
    const list = samples[stage]
    list.push(ms)
    if (list.length > window) list.shift()
    if (stage === 'safe') underWay.delete(hash)
  }

  return {
    sent(hash): void {
      if (underWay.has(hash)) return
      const transaction: UnderWay = { hash, sentMs: clock.elapsedMs(), sentAtMs: clock.nowMs(), times: {} }
      underWay.set(hash, transaction)
      newest.push(transaction)
      if (newest.length > maxWays) newest.shift()
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
    newest: () =>
      newest.map(({ hash, sentAtMs, times: { preconfirmed = null, sealed = null, safe = null } }) => ({
        ...{ hash, sentMs: sentAtMs },
        ...{ preconfirmed, sealed, safe },
      })),
  }
}
