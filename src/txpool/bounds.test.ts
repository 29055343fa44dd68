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
/** what a transfer of this chain takes of the bounds */
const one = 1_800 + poolTransaction(1).length + 1
const sized = (bytes: number) => ({ data: new Uint8Array(bytes).fill(1), gasLimit: 30_000n + 40n * BigInt(bytes) })

it('txpool: a full pool takes what pays more than the least, which goes; it refuses what does not', () => {
  const pool = new PoolChain().pool({ maxBytes: 3 * one })
  expect([add(pool, 1, 0, 30), add(pool, 2, 0, 20), add(pool, 3, 0, 10)]).toEqual(['added', 'added', 'added'])
  expect(add(pool, 4, 0, 10)).toBe('pool-full')
  expect(add(pool, 5, 0, 11)).toBe('added')
  expect(names(pool)).toEqual(['1/0 pending', '2/0 pending', '5/0 pending'])
  expect(pool.facts()).toMatchObject({ removals: { evicted: 1 }, outcomes: { added: 4, 'pool-full': 1 } })
})

it('txpool: queued transactions go first, whatever they pay, and push nothing out that is pending', () => {
  const pool = new PoolChain().pool({ maxBytes: 3 * one })
  expect([add(pool, 1, 0, 1), add(pool, 2, 5, 900), add(pool, 3, 0, 1)]).toEqual(['added', 'added', 'added'])
  expect(add(pool, 4, 0, 1)).toBe('added')
  expect(names(pool)).toEqual(['1/0 pending', '3/0 pending', '4/0 pending'])
  expect(add(pool, 5, 1, 900)).toBe('pool-full')
})

it('txpool: a dear transaction protects no cheap one that it waits for', () => {
  const pool = new PoolChain().pool({ maxBytes: 3 * one })
  expect([add(pool, 1, 0, 1), add(pool, 1, 1, 900), add(pool, 2, 0, 5)]).toEqual(['added', 'added', 'added'])
  expect([add(pool, 3, 0, 6), add(pool, 4, 0, 6)]).toEqual(['added', 'added'])
  expect(names(pool)).toEqual(['2/0 pending', '3/0 pending', '4/0 pending'])
})

it('txpool: one that needs the room of several takes it from all of them or from none', () => {
  const pool = new PoolChain().pool({ maxBytes: 4 * one })
  for (const n of [1, 2, 3]) expect(add(pool, n, 0, 10 + n)).toBe('added')
  expect(add(pool, 4, 0, 90)).toBe('added')
  // room for three: that of the third is not to be had
  expect(add(pool, 5, 0, 13, sized(2 * one - 100))).toBe('pool-full')
  expect(names(pool)).toHaveLength(4)
  expect(add(pool, 5, 0, 14, sized(2 * one - 100))).toBe('added')
  expect(names(pool)).toEqual(['4/0 pending', '5/0 pending'])
})

it('txpool: a larger replacement makes room without its own predecessor', () => {
  const pool = new PoolChain().pool({ maxBytes: 3 * one })
  for (const n of [1, 2, 3]) expect(add(pool, n, 0, 10 * n)).toBe('added')
  expect(add(pool, 1, 0, 50, { maxFeePerGas: 20_000n, ...sized(one - 100) })).toBe('added')
  expect(names(pool)).toEqual(['1/0 pending', '3/0 pending'])
  expect(pool.facts().heldBytes).toBeLessThanOrEqual(3 * one)
  expect(pool.facts().removals).toEqual({ replaced: 1, evicted: 1 })
})

it('txpool: an account keeps to its bound: its last ones make room for earlier ones, and for nothing else', () => {
  const pool = new PoolChain().pool({ maxAccountBytes: 3 * one })
  for (const nonce of [1, 2, 3]) expect(add(pool, 1, nonce)).toBe('added')
  expect(add(pool, 1, 4)).toBe('account-full')
  expect(add(pool, 1, 0)).toBe('added')
  expect(names(pool)).toEqual(['1/0 pending', '1/1 pending', '1/2 pending'])
})

it('txpool: at both bounds at once the room that the account makes counts', () => {
  const pool = new PoolChain().pool({ maxBytes: 4 * one, maxAccountBytes: 3 * one })
  for (const nonce of [1, 2, 3]) expect(add(pool, 1, nonce)).toBe('added')
  expect(add(pool, 2, 0, 1)).toBe('added')
  expect(add(pool, 1, 0)).toBe('added')
  expect(names(pool)).toEqual(['1/0 pending', '1/1 pending', '1/2 pending', '2/0 pending'])
})

it('txpool: what goes for the account alone is not counted again for the pool', () => {
  const pool = new PoolChain().pool({ maxBytes: 4 * one, maxAccountBytes: 3 * one })
  expect([add(pool, 1, 1), add(pool, 1, 2), add(pool, 2, 0), add(pool, 3, 0)]).toEqual(['added', 'added', 'added', 'added'])
  expect(add(pool, 1, 0, 10, sized(one - 300))).toBe('added')
  expect(names(pool)).toEqual(['1/0 pending', '2/0 pending', '3/0 pending'])
  expect(pool.facts().heldBytes).toBeLessThanOrEqual(4 * one)
})

it('txpool: what is kept holds no more memory than its own bytes', () => {
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

it('txpool: the balance covers all pending ones together; what a dearer replacement takes, later ones lack', () => {
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

it('txpool: what waits for another longer than its lifetime goes with the next head', async () => {
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
