import { expect, it } from 'vitest'
import { createExecution } from '#blockchain/execution'
import { type HeadRecord, recentWith } from '#blockchain/heads/headRecord'
import { createChainView } from '#blockchain/view/chainView'
import { createWasmEvm } from '#evm/wasmEvm'
import { silentLog } from '#lib/log'
import { accountOf, attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { flashblocksOf } from '#test/harness/flashblocks/flashblocks'
import { takeNext } from '#test/harness/flashblocks/takeNext'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { PendingBlock, PendingBlocks } from '#types/pendingBlock'
import { hashTransaction } from '#types/transaction'

const schedule = scheduleTo('jovian', { beryl: 2 ** 40 })
const { genesis, config } = smallChain(schedule)
const evm = createWasmEvm()
const alice = accountOf('alice')

function open() {
  const kv = createMemoryKv()
  const execution = createExecution({ kv, evm, config, genesis: () => genesis, clock: createManualClock(), log: silentLog })
  return { kv, execution }
}

/** Makes two flashblocks of a block of three transactions, and the view after each. */
async function followed() {
  const { execution: maker } = open()
  const transactions = [0n, 1n, 2n].map((nonce) => signedBy('alice', { nonce }))
  const built = await maker.build(config.genesis.l2, attributesAt(schedule, 1, transactions))
  if (built.kind === 'invalid') throw new Error(built.reason)
  await maker.insert(built.payload)
  const { kv, execution } = open()
  const records: HeadRecord[] = []
  for (const flashblock of flashblocksOf(maker, built.payload, [2])) {
    await takeNext(execution, flashblock)
    const { published } = execution
    records.push({ ...published, recent: recentWith(records.at(-1)?.recent, published.pending) })
  }
  const viewOf = (record: HeadRecord | undefined) => {
    const view = record && createChainView(kv.snapshot(), config, record)
    return view ?? expect.fail('no view')
  }
  return { records, viewOf, last: hashTransaction(transactions[2] as Uint8Array) }
}

it('pending/recentPending: answers for the id of the flashblock before, and shows only the newest', async () => {
  const { records, viewOf, last } = await followed()
  using before = viewOf(records[0])
  using now = viewOf(records[1])
  const [old, newest] = [before.heads.pending ?? expect.fail('there is no pending block'), now.heads.pending]
  expect([now.heads.unsealed, now.transaction(last)?.block.hash]).toEqual([[newest], newest?.hash])
  expect(now.block(old.hash)).toMatchObject({ hash: old.hash, isUnsealed: true })
  expect(now.header(old.hash)?.gasUsed).toBe(before.header(old.hash)?.gasUsed)
  expect(now.receipts(old.hash)).toHaveLength(before.block(old.hash)?.block.transactions.length ?? 0)
  expect(now.state(old)?.account(alice)?.nonce).toBe(before.state(old)?.account(alice)?.nonce)
  expect(now.parent(old.hash)?.header.number).toBe(1)
  expect(now.state(newest ?? old)?.account(alice)?.nonce).toBe(3n)
})

it('pending/recentPending: hides a stale pending block, and still answers for its id', async () => {
  const { records, viewOf, last } = await followed()
  const { pending: _stale, ...sealed } = records[1] ?? expect.fail('no record')
  using fresh = viewOf(records[1])
  using stale = viewOf(sealed)
  expect([stale.heads.pending, stale.transaction(last)]).toEqual([undefined, undefined])
  expect(stale.parent(fresh.heads.pending?.hash ?? expect.fail('there is no pending block'))?.header.number).toBe(1)
})

it('pending/recentPending: keeps the newest few pending blocks, one entry per flashblock', () => {
  const stack = (...ids: readonly string[]): PendingBlocks => ({
    blocks: ids.map((id) => ({ id }) as unknown as PendingBlock),
    freshUntilMs: 0,
  })
  let recent: HeadRecord['recent']
  for (const pending of [
    stack('a'),
    undefined,
    stack('b'),
    stack('b', 'c'),
    stack('c'),
    stack('d'),
    stack('e'),
    stack('f'),
    stack('g'),
    stack('h'),
  ])
    recent = recentWith(recent, pending)
  expect(recent?.map((blocks) => blocks.map(({ id }) => id).join())).toEqual(['c', 'd', 'e', 'f', 'g', 'h'])
})
