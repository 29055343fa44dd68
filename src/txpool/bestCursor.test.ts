import { expect, it } from 'vitest'
import type { PoolCursor } from '#block/building/buildPool'
import { nameOf, PoolChain, poolTransaction } from '#test/harness/chain/poolChain'
import type { TxPool } from './txPool.ts'

const baseFee = 1_000n
const send = (pool: TxPool, n: number, nonce: number, tip: number, maxFeePerGas = 10_000n) =>
  void pool.add([poolTransaction(n, { nonce: BigInt(nonce), maxPriorityFeePerGas: BigInt(tip), maxFeePerGas })])
const next = (cursor: PoolCursor) => {
  const candidate = cursor.next()
  return candidate && nameOf(candidate.raw)
}
const rest = (cursor: PoolCursor) => {
  const found: string[] = []
  for (let name = next(cursor); name; name = next(cursor)) found.push(name)
  return found
}

it('txpool/bestCursor: returns transactions that are added while it is read in their order, also after it was exhausted', () => {
  const pool = new PoolChain().pool()
  send(pool, 1, 0, 30)
  send(pool, 2, 0, 10)
  const cursor = pool.best(baseFee)
  expect(next(cursor)).toBe('1/0')
  send(pool, 3, 0, 20)
  send(pool, 1, 1, 40)
  expect(rest(cursor)).toEqual(['1/1', '3/0', '2/0'])
  expect(next(cursor)).toBeUndefined()
  send(pool, 2, 1, 1)
  send(pool, 4, 1, 1)
  expect(rest(cursor)).toEqual(['2/1'])
  send(pool, 4, 0, 1)
  expect(rest(cursor)).toEqual(['4/0', '4/1'])
})

it('txpool/bestCursor: returns a replacement at its own price, unless the replaced transaction was returned already', () => {
  const pool = new PoolChain().pool()
  for (const [n, tip] of [
    [1, 30],
    [2, 20],
    [3, 10],
  ] as const)
    send(pool, n, 0, tip)
  const cursor = pool.best(baseFee)
  expect(next(cursor)).toBe('1/0')
  send(pool, 1, 0, 90, 20_000n)
  send(pool, 3, 0, 25, 20_000n)
  expect(cursor.next()?.tx).toMatchObject({ maxFeePerGas: 20_000n })
  expect(rest(cursor)).toEqual(['2/0'])
})

it('txpool/bestCursor: skips a sender with its additions, continues with the others, and drops a candidate that no block can take', () => {
  const pool = new PoolChain().pool()
  for (const nonce of [0, 1, 2]) send(pool, 1, nonce, 30)
  send(pool, 2, 0, 20)
  send(pool, 2, 1, 20)
  send(pool, 3, 0, 10)
  const cursor = pool.best(baseFee)
  const first = cursor.next()
  if (first) cursor.skip(first, 'now')
  send(pool, 1, 3, 99)
  const second = cursor.next()
  expect(second && nameOf(second.raw)).toBe('2/0')
  if (second) cursor.skip(second, 'never')
  expect(rest(cursor)).toEqual(['3/0'])
  expect(pool.content().map(({ raw, isPending }) => `${nameOf(raw)} ${isPending}`)).toEqual([
    ...['1/0 true', '1/1 true', '1/2 true', '1/3 true'],
    ...['2/1 false', '3/0 true'],
  ])
  expect(pool.facts().removals).toEqual({ unusable: 1 })
  expect(rest(pool.best(baseFee))).toEqual(['1/0', '1/1', '1/2', '1/3', '3/0'])
})

it('txpool/bestCursor: returns the remaining transactions once when the head changes', () => {
  const chain = new PoolChain()
  const pool = chain.pool()
  for (const nonce of [0, 1, 2]) send(pool, 1, nonce, 30)
  send(pool, 2, 0, 20)
  const cursor = pool.best(baseFee)
  expect(next(cursor)).toBe('1/0')
  const raws = pool.content().map(({ raw }) => raw)
  pool.onPublished(chain.include([...raws.slice(0, 2), ...raws.slice(3)]))
  expect(rest(cursor)).toEqual(['1/2'])
  send(pool, 2, 1, 5)
  expect(rest(cursor)).toEqual(['2/1'])
})

it('txpool/bestCursor: holds back only the sender whose fee cap is below the base fee', () => {
  const pool = new PoolChain().pool()
  send(pool, 1, 0, 5, 999n)
  send(pool, 1, 1, 5)
  send(pool, 2, 0, 1)
  const cursor = pool.best(baseFee)
  expect(rest(cursor)).toEqual(['2/0'])
  send(pool, 1, 0, 6, 1_100n)
  expect(rest(cursor)).toEqual(['1/0', '1/1'])
})

it('txpool/txPool: notifies a listener once per call that makes transactions pending, and not of queued ones', () => {
  const chain = new PoolChain()
  const pool = chain.pool()
  let heard = 0
  const listening = pool.onAdded(() => heard++)
  pool.add([poolTransaction(1), poolTransaction(2), poolTransaction(3, { nonce: 1n })])
  expect(heard).toBe(1)
  pool.add([poolTransaction(4, { nonce: 1n }), poolTransaction(1)])
  expect(heard).toBe(1)
  pool.onPublished(chain.include([poolTransaction(3)]))
  expect(heard).toBe(2)
  listening[Symbol.dispose]()
  pool.add([poolTransaction(5)])
  expect(heard).toBe(2)
})
