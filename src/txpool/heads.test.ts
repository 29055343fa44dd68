import { expect, it } from 'vitest'
import { fromHex } from '#lib/hex'
import { scheduleTo } from '#test/harness/chain/blocks'
import { drain, nameOf, PoolChain, poolAccount, poolTransaction } from '#test/harness/chain/poolChain'
import type { TxPool } from './txPool.ts'

const names = (pool: TxPool) => pool.content().map(({ raw, isPending }) => `${nameOf(raw)} ${isPending ? 'pending' : 'queued'}`)
const delegation = fromHex(`0xef0100${'07'.repeat(20)}`)
const balance = 10n ** 18n
const transactions = (n: number, ...nonces: number[]) => nonces.map((nonce) => poolTransaction(n, { nonce: BigInt(nonce) }))

it('txpool/txPool: reads no account for a new head whose blocks have diffs', () => {
  const chain = new PoolChain()
  const pool = chain.pool()
  for (let n = 0; n < 50; n++) pool.add(transactions(n, 0, 1))
  expect(chain.reads).toBe(50)
  const before = chain.views
  chain.include(transactions(1, 0))
  pool.onPublished(chain.include(transactions(2, 0, 1), [[poolAccount(3), { nonce: 0n, balance: 1n }]]))
  expect([chain.reads, chain.views]).toEqual([50, before])
  expect(pool.size()).toEqual({ pending: 95, queued: 2 })
})

it('txpool/txPool: reads rules and L1 prices once per head', () => {
  const chain = new PoolChain()
  const pool = chain.pool()
  let slots = 0
  const get = chain.slots.get.bind(chain.slots)
  chain.slots.get = (slot) => {
    slots++
    return get(slot)
  }
  for (let n = 0; n < 20; n++) pool.add(transactions(n, 0))
  const once = slots
  expect(once).toBeLessThan(10)
  pool.onPublished(chain.include([]))
  for (let n = 0; n < 20; n++) pool.add(transactions(n, 1))
  expect(slots).toBe(2 * once)
})

it('txpool/txPool: ignores a record with the same head, and reads the state for a record far ahead', () => {
  const chain = new PoolChain()
  const pool = chain.pool()
  pool.add([...transactions(1, 0, 1), ...transactions(2, 0)])
  const { reads } = chain
  pool.onPublished(chain.record())
  expect(chain.reads).toBe(reads)
  for (let i = 0; i < 20; i++) chain.include([])
  pool.onPublished(chain.include(transactions(1, 0)))
  expect(names(pool)).toEqual(['1/1 pending', '2/0 pending'])
  expect(chain.reads).toBe(reads + 2)
})

it('txpool/txPool: reads the state when the blocks of a record do not reach down to the previous head', () => {
  const chain = new PoolChain()
  const pool = chain.pool()
  pool.add(transactions(1, 0, 1, 2))
  chain.include(transactions(1, 0))
  const record = chain.include(transactions(1, 1))
  const [below, ...overlays] = record.overlays
  if (below === undefined) expect.fail()
  pool.onPublished({ ...record, base: { number: 1, hash: below.hash }, overlays })
  expect(names(pool)).toEqual(['1/2 pending'])
})

it('txpool/txPool: keeps one transaction pending for an account that becomes delegated', () => {
  const chain = new PoolChain()
  const pool = chain.pool()
  pool.add(transactions(1, 0, 1, 2))
  pool.onPublished(chain.include([], [[poolAccount(1), { nonce: 0n, balance, code: delegation }]]))
  expect(names(pool)).toEqual(['1/0 pending', '1/1 queued', '1/2 queued'])
  expect(drain(pool)).toEqual(['1/0'])
  pool.onPublished(chain.include([], [[poolAccount(1), { nonce: 1n, balance, code: delegation }]]))
  expect(names(pool)).toEqual(['1/1 pending', '1/2 queued'])
  pool.onPublished(chain.include([], [[poolAccount(1), { nonce: 1n, balance }]]))
  expect(names(pool)).toEqual(['1/1 pending', '1/2 pending'])
})

it('txpool/txPool: restores the next transaction of a delegated account when a later one is queued', () => {
  const chain = new PoolChain()
  const pool = chain.pool()
  pool.onPublished(chain.include([], [[poolAccount(1), { nonce: 0n, balance, code: delegation }]]))
  pool.add(transactions(1, 0))
  pool.onPublished(chain.include(transactions(1, 0), [[poolAccount(1), { nonce: 1n, balance, code: delegation }]]))
  pool.add(transactions(1, 1))
  chain.unwind(1)
  pool.onPublished(chain.include([]))
  expect(names(pool)).toEqual(['1/0 pending', '1/1 queued'])
})

it('txpool/checks: admits the next transaction of an account that became delegated when a later one is queued', () => {
  const chain = new PoolChain()
  const pool = chain.pool()
  pool.add(transactions(1, 0, 2))
  pool.onPublished(chain.include(transactions(1, 0), [[poolAccount(1), { nonce: 1n, balance, code: delegation }]]))
  expect(pool.add(transactions(1, 3))).toEqual([{ kind: 'refused', refusal: { kind: 'nonce-too-high' } }])
  expect(pool.add(transactions(1, 1))).toMatchObject([{ kind: 'added' }])
  expect(pool.add(transactions(1, 3))).toEqual([{ kind: 'refused', refusal: { kind: 'delegated-limit' } }])
  expect(names(pool)).toEqual(['1/1 pending', '1/2 queued'])
})

it('txpool/txPool: keeps nothing pending for an account that is destroyed', () => {
  const chain = new PoolChain()
  const pool = chain.pool()
  pool.add(transactions(1, 0))
  const record = chain.include([], [[poolAccount(1), { nonce: 0n, balance: 0n }]])
  const [block] = record.overlays
  if (block === undefined) expect.fail()
  const diff = Object.create(block.diff, { account: { value: () => null } }) as typeof block.diff
  pool.onPublished({ ...record, overlays: [{ ...block, diff }] })
  expect(names(pool)).toEqual(['1/0 queued'])
})

it('txpool/senderQueue: costs no more at the front than at the end for thousands of transactions', () => {
  const count = 4_000
  const nonces = Array.from({ length: count }, (_, i) => i)
  const time = (order: readonly number[]): number => {
    const pool = new PoolChain().pool()
    const raws = transactions(1, ...order)
    const start = process.threadCpuUsage()
    pool.add(raws)
    const { user, system } = process.threadCpuUsage(start)
    expect(pool.size()).toEqual({ pending: count, queued: 0 })
    return user + system
  }
  time(nonces)
  expect(time([...nonces].reverse())).toBeLessThan(10 * time(nonces))
})

it('txpool/txPool: removes transactions above the gas cap with the first head under Azul, and not before', () => {
  const { timestamp } = new PoolChain().head.header
  const chain = new PoolChain({ ...scheduleTo('jovian'), azul: timestamp + 4 })
  const pool = chain.pool()
  pool.add([poolTransaction(1, { gasLimit: 16_777_217n }), ...transactions(1, 1), poolTransaction(2, { gasLimit: 16_777_216n })])
  pool.onPublished(chain.include([]))
  expect(names(pool)).toEqual(['1/0 pending', '1/1 pending', '2/0 pending'])
  pool.onPublished(chain.include([]))
  expect(names(pool)).toEqual(['1/1 queued', '2/0 pending'])
  expect(pool.facts().removals).toEqual({ unusable: 1 })
  pool.onPublished(chain.include([]))
  expect(pool.size()).toEqual({ pending: 1, queued: 1 })
})
