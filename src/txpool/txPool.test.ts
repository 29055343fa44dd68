import { expect, it } from 'vitest'
import { createMemoryJournal } from '#store/memoryJournal'
import { drain, nameOf, PoolChain, poolAccount, poolTransaction } from '#test/harness/chain/poolChain'
import { hashTransaction } from '#types/transaction'
import type { TxPool } from './txPool.ts'

const names = (pool: TxPool) => pool.content().map(({ raw, isPending }) => `${nameOf(raw)} ${isPending ? 'pending' : 'queued'}`)
const kinds = (pool: TxPool, ...raws: Uint8Array[]) =>
  pool.add(raws).map((outcome) => (outcome.kind === 'refused' ? outcome.refusal.kind : outcome.kind))

it('txpool/txPool: makes transactions without a gap pending, and queues those behind a gap until it is filled', () => {
  const pool = new PoolChain().pool()
  expect(kinds(pool, poolTransaction(1), poolTransaction(1, { nonce: 2n }), poolTransaction(2, { nonce: 1n }))).toEqual([
    'added',
    'added',
    'added',
  ])
  expect(names(pool)).toEqual(['1/0 pending', '1/2 queued', '2/1 queued'])
  expect(pool.nextNonce(poolAccount(1))).toBe(1n)
  expect(pool.nextNonce(poolAccount(2))).toBeUndefined()
  expect(kinds(pool, poolTransaction(1, { nonce: 1n }))).toEqual(['added'])
  expect(names(pool)).toEqual(['1/0 pending', '1/1 pending', '1/2 pending', '2/1 queued'])
  expect(pool.nextNonce(poolAccount(1))).toBe(3n)
  expect(pool.size()).toEqual({ pending: 3, queued: 1 })
})

it('txpool/txPool: orders by tip at the base fee, then by arrival, and each sender by nonce', () => {
  const pool = new PoolChain().pool()
  const tip = (maxPriorityFeePerGas: bigint, maxFeePerGas = 10_000n) => ({ maxPriorityFeePerGas, maxFeePerGas })
  kinds(pool, poolTransaction(1, tip(5n)), poolTransaction(1, { nonce: 1n, ...tip(50n) }), poolTransaction(2, tip(20n)))
  // the fee cap leaves 3 above a base fee of 1,000 and nothing above 2,000
  kinds(pool, poolTransaction(3, tip(900n, 1_003n)), poolTransaction(4, tip(20n)))
  expect(drain(pool)).toEqual(['2/0', '4/0', '1/0', '1/1', '3/0'])
  expect(drain(pool, 2_000n)).toEqual(['2/0', '4/0', '1/0', '1/1'])
})

it('txpool/txPool: removes included transactions with a new head and checks the changed accounts', () => {
  const chain = new PoolChain()
  const pool = chain.pool()
  kinds(pool, poolTransaction(1), poolTransaction(1, { nonce: 1n }), poolTransaction(2), poolTransaction(3))
  pool.onPublished(chain.include([poolTransaction(1)], [[poolAccount(2), { nonce: 0n, balance: 5n }]]))
  expect(names(pool)).toEqual(['1/1 pending', '2/0 queued', '3/0 pending'])
  expect(pool.facts().removals).toEqual({ included: 1 })
})

it('txpool/txPool: restores the transactions of a reorg, except those that the other branch includes', () => {
  const chain = new PoolChain()
  const pool = chain.pool()
  const [first, second, other] = [poolTransaction(1), poolTransaction(1, { nonce: 1n }), poolTransaction(2)]
  kinds(pool, first, second, other)
  pool.onPublished(chain.include([first, other]))
  pool.onPublished(chain.include([second]))
  expect(names(pool)).toEqual([])
  chain.unwind(2)
  pool.onPublished(chain.include([other]))
  expect(names(pool)).toEqual(['1/0 pending', '1/1 pending'])
})

it('txpool/txPool: drops transactions for an operator by hash, by sender or all, and queues later ones of a sender', () => {
  const segments = new Map()
  const chain = new PoolChain()
  const pool = chain.pool({}, { journal: createMemoryJournal(segments) })
  const [first, second, other] = [poolTransaction(1), poolTransaction(1, { nonce: 1n }), poolTransaction(2)]
  kinds(pool, first, second, other)
  const hash = hashTransaction(first)
  expect(pool.remove({ kind: 'transaction', hash })).toEqual([hash])
  expect(pool.remove({ kind: 'transaction', hash })).toEqual([])
  expect(names(pool)).toEqual(['1/1 queued', '2/0 pending'])
  expect(pool.remove({ kind: 'sender', sender: poolAccount(1) })).toEqual([hashTransaction(second)])
  const restarted = chain.pool({}, { journal: createMemoryJournal(segments) })
  restarted.restore()?.finish()
  expect(names(restarted)).toEqual(['2/0 pending'])
  expect(pool.remove({ kind: 'all' })).toEqual([hashTransaction(other)])
  expect([names(pool), pool.facts().removals]).toEqual([[], { dropped: 3 }])
})
