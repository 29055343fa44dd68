import { expect, it } from 'vitest'
import { createSenders } from '#block/execution/senders'
import { createExecution, type Execution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { silentLog } from '#lib/log'
import { accountOf, attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { BlockId, L2Ref } from '#types/blockRef'
import { decodeTransaction, depositType } from '#types/transaction'
import { createTxPool, type TxPool, type TxPoolLimits } from './txPool.ts'

const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule)

/** An execution that publishes its records to the pool. */
function start(limits: TxPoolLimits = {}) {
  const shared = { config, clock: createManualClock(), log: silentLog, senders: createSenders({ maxBytes: 100_000 }) }
  let opened: Execution | undefined
  const view = () => opened?.view() ?? expect.fail()
  const pool = createTxPool({ ...shared, view }, limits)
  const execution = createExecution({
    ...shared,
    kv: createMemoryKv(),
    evm: sharedEvm,
    genesis: () => genesis,
    onPublish: (record) => void (opened && pool.onPublished(record)),
  })
  opened = execution
  pool.onPublished(execution.published)
  const extend = async (parent: BlockId, raws: readonly Uint8Array[], branch = 0): Promise<L2Ref> => {
    const built = await execution.build(parent, attributesAt(schedule, parent.number + 1, raws, branch))
    if (built.kind === 'invalid') throw new Error(built.reason)
    return l2RefOf(config, built.payload)
  }
  const setHead = async (unsafe: L2Ref) => execution.setHeads({ ...(await execution.heads()), unsafe })
  return { pool, execution, extend, setHead, genesisRef: config.genesis.l2 }
}

const of = (name: string, ...nonces: number[]) => nonces.map((nonce) => signedBy(name, { nonce: BigInt(nonce) }))
const names = (pool: TxPool) =>
  pool.content().map(({ sender, raw, isPending }) => {
    const tx = decodeTransaction(raw)
    const name = sender === accountOf('alice') ? 'alice' : 'bob'
    return `${name} ${tx.type === depositType ? '-' : tx.nonce} ${isPending ? 'pending' : 'queued'}`
  })
const sorted = (pool: TxPool) => names(pool).sort()

/** Drains the pool into a block. */
function waiting(pool: TxPool): readonly Uint8Array[] {
  const cursor = pool.best(1_000n)
  const raws: Uint8Array[] = []
  for (let next = cursor.next(); next; next = cursor.next()) raws.push(next.raw)
  return raws
}

it.each(['in memory', 'committed'])('txpool/txPool: restores the transactions of unwound blocks that are %s', async (where) => {
  const { pool, execution, extend, setHead, genesisRef } = start()
  await using _closed = execution
  pool.add([...of('alice', 0, 1, 2, 3), ...of('bob', 0)])
  const first = await extend(genesisRef, of('alice', 0))
  await setHead(first)
  const second = await extend(first, [...of('alice', 1), ...of('bob', 0)])
  await setHead(second)
  await setHead(await extend(second, of('alice', 2)))
  expect(sorted(pool)).toEqual(['alice 3 pending'])
  if (where === 'committed') execution.commit()
  const other = await extend(first, of('bob', 0), 1)
  await setHead(other)
  expect(sorted(pool)).toEqual(['alice 1 pending', 'alice 2 pending', 'alice 3 pending'])
  // checked by execution: they can form a block
  const next = await extend(other, waiting(pool), 1)
  await setHead(next)
  expect(names(pool)).toEqual([])
  expect((await execution.payload(next.hash))?.transactions).toHaveLength(1 + 3)
})

it('txpool/txPool: validates restored transactions on the other branch, with its nonces and balances', async () => {
  const { pool, execution, extend, setHead, genesisRef } = start()
  await using _closed = execution
  await setHead(await extend(genesisRef, [...of('alice', 0, 1), ...of('bob', 0, 1)]))
  const instead = signedBy('alice', { nonce: 0n, value: 5n })
  const spent = signedBy('bob', { nonce: 0n, value: 10n ** 18n - 21_000n * 10_000n })
  await setHead(await extend(genesisRef, [instead, spent], 1))
  expect(sorted(pool)).toEqual(['alice 1 pending'])
})

it('txpool/txPool: restores all transactions when the head moves back, and removes them when it moves forward again', async () => {
  const { pool, execution, extend, setHead, genesisRef } = start()
  await using _closed = execution
  const first = await extend(genesisRef, of('alice', 0))
  const second = await extend(first, of('alice', 1, 2))
  await setHead(second)
  expect(names(pool)).toEqual([])
  await setHead(first)
  expect(names(pool)).toEqual(['alice 1 pending', 'alice 2 pending'])
  await setHead(second)
  expect(names(pool)).toEqual([])
  // several blocks at once, with a commit in between
  await setHead(first)
  execution.commit()
  await setHead(await extend(second, of('alice', 3)))
  expect(names(pool)).toEqual([])
  expect(pool.nextNonce(accountOf('alice'))).toBeUndefined()
})

it('txpool/txPool: of a deep reorg checks as many transactions as the pool holds, the oldest first', async () => {
  const { pool, execution, extend, setHead, genesisRef } = start({ maxBytes: 15_000, maxAccountBytes: 4_000 })
  await using _closed = execution
  const first = await extend(genesisRef, [])
  let head = first
  for (let nonce = 0; nonce < 6; nonce++) head = await extend(head, of('alice', nonce))
  head = await extend(head, of('bob', 0))
  await setHead(head)
  await setHead(first)
  expect(names(pool)).toEqual(['alice 0 pending', 'alice 1 pending'])
})
