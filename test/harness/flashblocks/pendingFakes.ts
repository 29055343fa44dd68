import { keccak256 } from '#lib/keccak'
import type { PendingFeed, PendingNews } from '#rpc/pendingPorts'
import type { ChainReader } from '#rpc/ports'
import { type FakeBlock, type FakeChain, type FakeState, fakeChain, topic } from '#test/harness/rpc/fakes'
import type { BlockId } from '#types/blockRef'
import type { ChainReceipt } from '#types/chainView'
import { type Hash, hashFromBytes, zeroAddress } from '#types/ids'
import { chainBlockOf, type PendingBlock } from '#types/pendingBlock'
import { createStateDiff } from '#types/stateDiffTable'
import { hashTransaction } from '#types/transaction'

/** Fake chain with pending blocks above it, which a test extends. */
export type FakePendingChain = ChainReader & {
  readonly sealed: FakeChain
  readonly feed: PendingFeed
  /** Sets the transactions of the newest pending block, or with `next` appends a pending block. Notifies of new transactions. */
  show(transactions: FakeBlock, where?: 'same' | 'next'): PendingBlock
  /** Drops the newest pending block; notifies of its transactions from this index on. */
  drop(first: number): void
  /** Seals the oldest pending block unchanged. */
  seal(): void
  /** Hash of a transaction of the newest pending block. */
  hashOf(index: number): Hash
}

type Unsealed = {
  readonly id: BlockId
  readonly shown: PendingBlock
  readonly receipts: readonly ChainReceipt[]
  readonly content: FakeBlock
}

/** @param state state of all blocks. @param pendingState state of the pending ones */
export function fakePendingChain(contents: readonly FakeBlock[], state: FakeState = {}, pendingState: FakeState = state): FakePendingChain {
  const sealed = fakeChain(contents, state)
  const above = fakeChain([[]], pendingState)
  const listeners = new Set<(news: readonly PendingNews[]) => void>()
  const tell = (...news: readonly PendingNews[]): void => {
    for (const listener of listeners) listener(news)
  }
  let known = contents
  let unsealed: readonly Unsealed[] = []
  let made = 0

  function unsealedOf(content: FakeBlock, number: number, index: number): Unsealed {
    const all = fakeChain([...known, ...unsealed.filter(({ id }) => id.number < number).map((each) => each.content), content])
    using view = all.view()
    const { hash } = view.heads.latest
    const [of, receipts] = [view.block(hash), view.receipts(hash)]
    if (of === undefined || receipts === undefined) throw new RangeError('no block')
    const id = { hash: hashFromBytes(keccak256(Uint8Array.of(number, made++))), number }
    const { header, transactions } = of.block
    const executed = receipts.map(({ receipt, gasUsed }, at) => ({
      ...{ receipt, gasUsed, sender: of.senders[at] ?? zeroAddress },
      hash: hashTransaction(transactions[at] ?? new Uint8Array(0)),
    }))
    const diff = createStateDiff({ accounts: [], slots: [], codes: [] })
    const shown = { number, payloadId: '0x01', index, id: id.hash, header, transactions, executed, diff }
    return { id, content, receipts, shown }
  }

  return {
    sealed,
    sync: () => undefined,
    feed: {
      subscribe(listener): Disposable {
        listeners.add(listener)
        return { [Symbol.dispose]: () => void listeners.delete(listener) }
      },
    },
    show(content, where = 'same'): PendingBlock {
      const last = where === 'same' ? unsealed.at(-1) : undefined
      const number = last?.id.number ?? known.length + unsealed.length
      const grown = unsealedOf(content, number, (last?.shown.index ?? -1) + 1)
      unsealed = [...unsealed.filter(({ id }) => id.number < number), grown]
      tell({ kind: 'flashblock', pending: grown.shown, receipts: () => grown.receipts, firstNew: last?.content.length ?? 0 })
      return grown.shown
    },
    drop(first): void {
      const last = unsealed.at(-1)
      if (last === undefined) return
      unsealed = unsealed.slice(0, -1)
      tell({ kind: 'dropped', pending: last.shown, receipts: () => last.receipts, first })
    },
    seal(): void {
      const [oldest, ...others] = unsealed
      if (oldest === undefined) return
      known = [...known, oldest.content]
      unsealed = others
      sealed.reorganise(known.length - 1, [oldest.content])
    },
    hashOf: (index) => hashTransaction(unsealed.at(-1)?.shown.transactions[index] ?? new Uint8Array(0)),
    view() {
      const view = sealed.view()
      const now = unsealed
      const pending = now.at(-1)?.id
      const of = (hash: Hash): Unsealed | undefined => now.find(({ id }) => id.hash === hash)
      return {
        ...view,
        heads: { ...view.heads, ...(pending && { pending, unsealed: now.map(({ id }) => id) }) },
        header: (hash) => of(hash)?.shown.header ?? view.header(hash),
        block(hash) {
          const unsealed = of(hash)
          return unsealed ? chainBlockOf(unsealed.shown) : view.block(hash)
        },
        receipts: (hash) => of(hash)?.receipts ?? view.receipts(hash),
        transaction(hash) {
          const index = (at: Unsealed): number => at.shown.transactions.findIndex((raw) => hashTransaction(raw) === hash)
          const found = now.find((each) => index(each) >= 0)
          return view.transaction(hash) ?? (found && { block: found.id, index: index(found) })
        },
        state: (block) => (of(block.hash) ? above.view().state({ number: 0, hash: topic(0) }) : view.state(block)),
      }
    },
  }
}
