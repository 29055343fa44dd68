import { keccak256 } from '#lib/keccak'
import type { PendingBlock, PendingFeed, PendingNews } from '#rpc/pendingPorts'
import type { ChainReader } from '#rpc/ports'
import { type FakeBlock, type FakeChain, type FakeState, fakeChain, topic } from '#test/harness/rpc/fakes'
import type { BlockId } from '#types/blockRef'
import { type Hash, hashFromBytes } from '#types/ids'
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

type Unsealed = { readonly id: BlockId; readonly shown: PendingBlock; readonly content: FakeBlock }

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
    return { id, content, shown: { block: { ...of, hash: id.hash, isUnsealed: true }, receipts, index } }
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
      tell({ kind: 'flashblock', pending: grown.shown, firstNew: last?.content.length ?? 0 })
      return grown.shown
    },
    drop(first): void {
      const last = unsealed.at(-1)
      if (last === undefined) return
      unsealed = unsealed.slice(0, -1)
      tell({ kind: 'dropped', pending: last.shown, first })
    },
    seal(): void {
      const [oldest, ...others] = unsealed
      if (oldest === undefined) return
      known = [...known, oldest.content]
      unsealed = others
      sealed.reorganise(known.length - 1, [oldest.content])
    },
    hashOf: (index) => hashTransaction(unsealed.at(-1)?.shown.block.block.transactions[index] ?? new Uint8Array(0)),
    view() {
      const view = sealed.view()
      const now = unsealed
      const pending = now.at(-1)?.id
      const of = (hash: Hash): Unsealed | undefined => now.find(({ id }) => id.hash === hash)
      return {
        ...view,
        heads: { ...view.heads, ...(pending && { pending, unsealed: now.map(({ id }) => id) }) },
        header: (hash) => of(hash)?.shown.block.block.header ?? view.header(hash),
        block: (hash) => of(hash)?.shown.block ?? view.block(hash),
        receipts: (hash) => of(hash)?.shown.receipts ?? view.receipts(hash),
        transaction(hash) {
          const index = (at: Unsealed): number => at.shown.block.block.transactions.findIndex((raw) => hashTransaction(raw) === hash)
          const found = now.find((each) => index(each) >= 0)
          return view.transaction(hash) ?? (found && { block: found.id, index: index(found) })
        },
        state: (block) => (of(block.hash) ? above.view().state({ number: 0, hash: topic(0) }) : view.state(block)),
      }
    },
  }
}
