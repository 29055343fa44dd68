import type { Clock } from '#lib/clock'
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
}

/** Maximum number of pending transactions; the oldest are dropped, because some are never included. */
const maxUnderWay = 20_000
/** Number of samples per median. */
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
