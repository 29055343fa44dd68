import type { Clock } from '#lib/clock'
import type { Node } from '#node/node'
import type { TransactionWay } from '#page/state'
import type { HeadBlock } from '#rpc/ports'
import type { Hash } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import { createTransactionClock, type TransactionTimes } from './transactionTimes.ts'

type Feeds = NonNullable<Node['feeds']>

export type TransactionWatch = Disposable & {
  /** Records transactions in new safe blocks of the verifier. */
  safe(transactions: readonly Uint8Array[]): void
  read(): TransactionTimes
  newest(): readonly TransactionWay[]
}

const hashesOf = (transactions: readonly Uint8Array[]): readonly Hash[] => transactions.map(hashTransaction)

/** Measures the time of transactions from the sequencer's pool to the verifier. */
export function watchTransactions(
  clock: Clock,
  sequencer: Pick<Feeds, 'filters'>,
  verifier: Pick<Feeds, 'heads' | 'preconfirmed'>,
): TransactionWatch {
  const times = createTransactionClock(clock)
  const feeds = new DisposableStack()
  feeds.use(sequencer.filters.onPending((hash) => times.sent(hash)))
  feeds.use(
    verifier.heads.subscribe((blocks: readonly HeadBlock[]) => {
      for (const { block } of blocks) times.reached('sealed', hashesOf(block.transactions))
    }),
  )
  const preconfirmed = verifier.preconfirmed?.subscribe((news) => {
    for (const one of news) {
      if (one.kind === 'flashblock') times.reached('preconfirmed', hashesOf(one.pending.transactions.slice(one.firstNew)))
    }
  })
  if (preconfirmed) feeds.use(preconfirmed)
  return {
    safe: (transactions) => times.reached('safe', hashesOf(transactions)),
    read: () => times.read(),
    newest: () => times.newest(),
    [Symbol.dispose]: () => feeds[Symbol.dispose](),
  }
}
