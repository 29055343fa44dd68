import { expect, it } from 'vitest'
import { nameOf, PoolChain, poolAccount, poolTransaction } from '#test/harness/chain/poolChain'
import type { FeeMarketTransaction } from '#types/transaction'
import type { TxPool } from './txPool.ts'

const names = (pool: TxPool) => pool.content().map(({ raw, isPending }) => `${nameOf(raw)} ${isPending ? 'pending' : 'queued'}`)
const add = (pool: TxPool, n: number, nonce: number, tip = 10, fields: Partial<FeeMarketTransaction> = {}) => {
  const raw = poolTransaction(n, {
    nonce: BigInt(nonce),
    maxPriorityFeePerGas: BigInt(tip),
    maxFeePerGas: 10_000n + BigInt(tip),
    ...fields,
  })
  const [outcome] = pool.add([raw])
  return outcome?.kind === 'refused' ? outcome.refusal.kind : outcome?.kind
}
/** size of a transfer of this chain towards the limits */
const one = 1_800 + poolTransaction(1).length + 1
const sized = (bytes: number) => ({ data: new Uint8Array(bytes).fill(1), gasLimit: 30_000n + 40n * BigInt(bytes) })

it('txpool/eviction: evicts the lowest tip for a higher one when full, and refuses a lower one', () => {
  const pool = new PoolChain().pool({ maxBytes: 3 * one })
  expect([add(pool, 1, 0, 30), add(pool, 2, 0, 20), add(pool, 3, 0, 10)]).toEqual(['added', 'added', 'added'])
  expect(add(pool, 4, 0, 10)).toBe('pool-full')
  expect(add(pool, 5, 0, 11)).toBe('added')
  expect(names(pool)).toEqual(['1/0 pending', '2/0 pending', '5/0 pending'])
  expect(pool.facts()).toMatchObject({ removals: { evicted: 1 }, outcomes: { added: 4, 'pool-full': 1 } })
})

it('txpool/eviction: evicts queued transactions first, at any price, and no pending one for a queued one', () => {
  const pool = new PoolChain().pool({ maxBytes: 3 * one })
  expect([add(pool, 1, 0, 1), add(pool, 2, 5, 900), add(pool, 3, 0, 1)]).toEqual(['added', 'added', 'added'])
  expect(add(pool, 4, 0, 1)).toBe('added')
  expect(names(pool)).toEqual(['1/0 pending', '3/0 pending', '4/0 pending'])
  expect(add(pool, 5, 1, 900)).toBe('pool-full')
})

it('txpool/eviction: evicts a transaction with a low tip although a later one of its sender has a high tip', () => {
  const pool = new PoolChain().pool({ maxBytes: 3 * one })
  expect([add(pool, 1, 0, 1), add(pool, 1, 1, 900), add(pool, 2, 0, 5)]).toEqual(['added', 'added', 'added'])
  expect([add(pool, 3, 0, 6), add(pool, 4, 0, 6)]).toEqual(['added', 'added'])
  expect(names(pool)).toEqual(['2/0 pending', '3/0 pending', '4/0 pending'])
})

it('txpool/eviction: evicts several transactions for a large one, or none', () => {
  const pool = new PoolChain().pool({ maxBytes: 4 * one })
  for (const n of [1, 2, 3]) expect(add(pool, n, 0, 10 + n)).toBe('added')
  expect(add(pool, 4, 0, 90)).toBe('added')
  // the newcomer needs the room of three transactions, and the third pays as much as it does
  expect(add(pool, 5, 0, 13, sized(2 * one - 100))).toBe('pool-full')
  expect(names(pool)).toHaveLength(4)
  expect(add(pool, 5, 0, 14, sized(2 * one - 100))).toBe('added')
  expect(names(pool)).toEqual(['4/0 pending', '5/0 pending'])
})

it('txpool/eviction: makes room for a larger replacement without evicting its predecessor', () => {
  const pool = new PoolChain().pool({ maxBytes: 3 * one })
  for (const n of [1, 2, 3]) expect(add(pool, n, 0, 10 * n)).toBe('added')
  expect(add(pool, 1, 0, 50, { maxFeePerGas: 20_000n, ...sized(one - 100) })).toBe('added')
  expect(names(pool)).toEqual(['1/0 pending', '3/0 pending'])
  expect(pool.facts().heldBytes).toBeLessThanOrEqual(3 * one)
  expect(pool.facts().removals).toEqual({ replaced: 1, evicted: 1 })
})

it('txpool/txPool: evicts the last transactions of an account at its limit for earlier ones only', () => {
  const pool = new PoolChain().pool({ maxAccountBytes: 3 * one })
  for (const nonce of [1, 2, 3]) expect(add(pool, 1, nonce)).toBe('added')
  expect(add(pool, 1, 4)).toBe('account-full')
  expect(add(pool, 1, 0)).toBe('added')
  expect(names(pool)).toEqual(['1/0 pending', '1/1 pending', '1/2 pending'])
})

it('txpool/txPool: counts the room that the account itself frees when both limits are reached', () => {
  const pool = new PoolChain().pool({ maxBytes: 4 * one, maxAccountBytes: 3 * one })
  for (const nonce of [1, 2, 3]) expect(add(pool, 1, nonce)).toBe('added')
  expect(add(pool, 2, 0, 1)).toBe('added')
  expect(add(pool, 1, 0)).toBe('added')
  expect(names(pool)).toEqual(['1/0 pending', '1/1 pending', '1/2 pending', '2/0 pending'])
})

it('txpool/txPool: counts a transaction that leaves for the limit of its account only once', () => {
  const pool = new PoolChain().pool({ maxBytes: 4 * one, maxAccountBytes: 3 * one })
  expect([add(pool, 1, 1), add(pool, 1, 2), add(pool, 2, 0), add(pool, 3, 0)]).toEqual(['added', 'added', 'added', 'added'])
  expect(add(pool, 1, 0, 10, sized(one - 300))).toBe('added')
  expect(names(pool)).toEqual(['1/0 pending', '2/0 pending', '3/0 pending'])
  expect(pool.facts().heldBytes).toBeLessThanOrEqual(4 * one)
})

it('txpool/txPool: retains no memory beyond the bytes of its transactions', () => {
  const pool = new PoolChain().pool()
  const raw = poolTransaction(1)
  const message = new Uint8Array(10_000)
  message.set(raw, 5_000)
  pool.add([message.subarray(5_000, 5_000 + raw.length)])
  message.fill(0)
  const [kept] = pool.content()
  expect(kept?.raw).toEqual(raw)
  expect(kept?.raw.buffer.byteLength).toBe(raw.length)
})

it('txpool/senderQueue: requires the balance to cover all pending transactions together, also after a replacement at a higher price', () => {
  const chain = new PoolChain()
  const cost = 21_000n * 10_010n + 1n
  chain.include([], [[poolAccount(1), { nonce: 0n, balance: 3n * cost }]])
  const pool = chain.pool()
  expect([add(pool, 1, 0), add(pool, 1, 1), add(pool, 1, 2), add(pool, 1, 3)]).toEqual(['added', 'added', 'added', 'insufficient-funds'])
  expect(add(pool, 1, 0, 11, { maxFeePerGas: 12_000n })).toBe('added')
  expect(names(pool)).toEqual(['1/0 pending', '1/1 pending', '1/2 queued'])
  pool.onPublished(chain.include([], [[poolAccount(1), { nonce: 0n, balance: 4n * cost }]]))
  expect(names(pool)).toEqual(['1/0 pending', '1/1 pending', '1/2 pending'])
})

it('txpool/txPool: removes a queued transaction with the first head after its lifetime', async () => {
  const chain = new PoolChain()
  const pool = chain.pool({ queuedLifetimeMs: 60_000 })
  expect([add(pool, 1, 0), add(pool, 2, 1)]).toEqual(['added', 'added'])
  await chain.clock.advanceMs(59_000)
  expect(add(pool, 3, 1)).toBe('added')
  pool.onPublished(chain.include([]))
  expect(names(pool)).toHaveLength(3)
  await chain.clock.advanceMs(2_000)
  pool.onPublished(chain.include([]))
  expect(names(pool)).toEqual(['1/0 pending', '3/1 queued'])
  expect(pool.facts().removals).toEqual({ expired: 1 })
})
