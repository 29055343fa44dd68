import { expect, it } from 'vitest'
import { CacheSet } from '#lib/caches'
import { toHex } from '#lib/hex'
import { createManualClock } from '#test/harness/clock'
import { account, type FakeBlock, fakeChain, fakeContext, fakePool, fakeSequencer, signedTransaction, topic } from '#test/harness/rpc/fakes'
import { readResult } from '#test/harness/rpc/result'
import type { Hash } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import { createFilters, type FilterLimits } from '../../../filters/filters.ts'
import { ethRegistry } from '../../../methods.ts'

const log = (emitter: number, ...topics: readonly number[]) => ({
  ...{ address: account(emitter), topics: topics.map(topic), data: Uint8Array.of(emitter) },
})
const minute = 60_000

function setUp(
  blocks: readonly FakeBlock[] = [[], [[log(1, 10)]]],
  limits: Partial<FilterLimits> = {},
  blockMs = 2_000,
  logCacheBytes = 2 ** 20,
) {
  const chain = fakeChain(blocks, {}, 0, blockMs)
  const clock = createManualClock()
  const context = {
    ...fakeContext(chain),
    pool: fakePool(),
    filters: createFilters({ clock, caches: new CacheSet({ logs: logCacheBytes }) }, limits),
  }
  const ask = async (method: string, ...params: readonly unknown[]): Promise<unknown> =>
    readResult(await ethRegistry.get(method)?.call(context, params))
  const append = (...more: readonly FakeBlock[]): void => chain.reorganise(chain.blocks.length, more)
  return { chain, clock, context, ask, append }
}
type Found = readonly { blockNumber: string; address: string; removed: boolean; blockHash: string }[]
const places = (found: unknown) =>
  (found as Found).map(({ blockNumber, address, removed }) => [Number(blockNumber), Number(address), ...(removed ? ['removed'] : [])])

it('rpc/methods/eth/filters: returns logs of blocks after its creation, each once', async () => {
  const { ask, append, chain } = setUp()
  const id = await ask('eth_newFilter', { address: account(1) })
  expect(await ask('eth_getFilterChanges', id)).toEqual([])
  append([[log(1), log(2)]], [[log(1, 4)]])
  expect(places(await ask('eth_getFilterChanges', id))).toEqual([
    [2, 1],
    [3, 1],
  ])
  expect(await ask('eth_getFilterChanges', id)).toEqual([])
  expect(chain.views.open).toBe(0)
})

it('rpc/methods/eth/filters: after a reorg, returns removed logs, newest first, then new ones', async () => {
  const { ask, append, chain } = setUp()
  const id = await ask('eth_newFilter', {})
  append([[log(1)]], [[log(2)], [log(3)]], [[]])
  const told = (await ask('eth_getFilterChanges', id)) as Found
  chain.reorganise(3, [[[log(7)]], [[log(8)]], []])
  const found = (await ask('eth_getFilterChanges', id)) as Found
  expect(places(found)).toEqual([
    [3, 2, 'removed'],
    [3, 3, 'removed'],
    [3, 7],
    [4, 8],
  ])
  expect(found[0]).toEqual({ ...told[1], removed: true })
  expect(await ask('eth_getFilterChanges', id)).toEqual([])
})

it('rpc/methods/eth/filters: returns removed logs when the chain gets shorter, and again the logs of a new block', async () => {
  const { ask, append, chain } = setUp()
  const id = await ask('eth_newFilter', {})
  append([[log(1)]], [[log(2)]])
  expect(await ask('eth_getFilterChanges', id)).toHaveLength(2)
  chain.reorganise(3, [])
  expect(places(await ask('eth_getFilterChanges', id))).toEqual([[3, 2, 'removed']])
  append([[log(2)]])
  expect(places(await ask('eth_getFilterChanges', id))).toEqual([[3, 2]])
})

it('rpc/methods/eth/filters: returns removed logs of a branch that began below its start', async () => {
  const { ask, chain } = setUp([[], [[log(1)]], [[log(2)]], [[log(3)]]])
  const id = await ask('eth_newFilter', {})
  chain.reorganise(2, [[[log(4)]], [[log(5)]], [[log(6)]]])
  expect(places(await ask('eth_getFilterChanges', id))).toEqual([
    [2, 4],
    [3, 5],
    [4, 6],
  ])
  chain.reorganise(2, [[[log(7)]]])
  expect(places(await ask('eth_getFilterChanges', id))).toEqual([
    [4, 6, 'removed'],
    [3, 5, 'removed'],
    [2, 4, 'removed'],
    [2, 7],
  ])
})

it('rpc/methods/eth/filters: a reorg deeper than its memory ends a filter (-32602)', async () => {
  const { ask, append, chain } = setUp()
  const id = await ask('eth_newBlockFilter')
  append(...Array.from({ length: 300 }, () => []))
  expect(await ask('eth_getFilterChanges', id)).toHaveLength(300)
  chain.reorganise(3, [[[log(9)]], []])
  await expect(ask('eth_getFilterChanges', id)).rejects.toMatchObject({ code: -32602, message: 'filter not found' })
})

it('rpc/methods/eth/filters: follows a reorg of the blocks since the last poll, five minutes at 200 ms', async () => {
  const { ask, append, chain } = setUp(undefined, {}, 200)
  const ids = [await ask('eth_newFilter', {}), await ask('eth_newBlockFilter')]
  append([[log(7)]], ...Array.from({ length: 1_500 }, () => []))
  for (const id of ids) await ask('eth_getFilterChanges', id)
  chain.reorganise(2, [[[log(9)]]])
  const [logs, blocks] = [await ask('eth_getFilterChanges', ids[0]), await ask('eth_getFilterChanges', ids[1])]
  expect(places(logs)).toEqual([
    [2, 7, 'removed'],
    [2, 9],
  ])
  expect(blocks).toEqual([chain.blocks[2]?.hash])
})

it('rpc/methods/eth/filters: a reorg of more logs than a matcher remembers ends a filter (-32602)', async () => {
  const { ask, append, chain } = setUp()
  const id = await ask('eth_newFilter', {})
  append([[log(3)]], ...Array.from({ length: 11 }, () => [Array.from({ length: 1_000 }, () => log(4))]))
  expect(await ask('eth_getFilterChanges', id)).toHaveLength(11_001)
  chain.reorganise(4, [])
  expect(await ask('eth_getFilterChanges', id)).toHaveLength(10_000)
  chain.reorganise(2, [])
  await expect(ask('eth_getFilterChanges', id)).rejects.toMatchObject({ code: -32602, message: 'filter not found' })
})

it('rpc/methods/eth/filters: returns hashes of new blocks, after a reorg of the whole new branch', async () => {
  const { ask, append, chain } = setUp()
  const id = await ask('eth_newBlockFilter')
  append([], [])
  expect(await ask('eth_getFilterChanges', id)).toEqual([2, 3].map((number) => chain.blocks[number]?.hash))
  chain.reorganise(3, [[[log(5)]], []])
  expect(await ask('eth_getFilterChanges', id)).toEqual([3, 4].map((number) => chain.blocks[number]?.hash))
  expect(await ask('eth_getFilterChanges', id)).toEqual([])
})

it('rpc/methods/eth/filters: returns hashes of accepted pool transactions', async () => {
  const { ask, context } = setUp()
  const id = await ask('eth_newPendingTransactionFilter')
  const first = await ask('eth_sendRawTransaction', '0x02c0')
  const second = await ask('eth_sendRawTransaction', '0x02c1')
  const refusing = { ...context, pool: fakePool([], () => ({ kind: 'refused', refusal: { kind: 'pool-full' } })) }
  await expect(async () => ethRegistry.get('eth_sendRawTransaction')?.call(refusing, ['0x02c2'])).rejects.toThrow('txpool is full')
  expect(await ask('eth_getFilterChanges', id)).toEqual([first, second])
  expect(await ask('eth_getFilterChanges', id)).toEqual([])
})

it('rpc/methods/eth/filters: returns hashes of transactions that the sequencer accepted', async () => {
  const { ask, context } = setUp()
  const id = await ask('eth_newPendingTransactionFilter')
  const raw = signedTransaction(1)
  await ethRegistry.get('eth_sendRawTransaction')?.call({ ...context, sequencer: fakeSequencer() }, [toHex(raw)])
  expect(await ask('eth_getFilterChanges', id)).toEqual([hashTransaction(raw)])
})

it('rpc/methods/eth/filters: keeps the newest pending hashes up to a bound', async () => {
  const { ask } = setUp(undefined, { maxPending: 2 })
  const id = await ask('eth_newPendingTransactionFilter')
  const sent = []
  for (const raw of ['0x0201', '0x0202', '0x0203']) sent.push(await ask('eth_sendRawTransaction', raw))
  expect(await ask('eth_getFilterChanges', id)).toEqual(sent.slice(1))
})

it('rpc/methods/eth/filters: a filter without polls keeps no pending hashes; each gets those since its last poll, over many', async () => {
  const { ask, context } = setUp(undefined, { maxPending: 3 })
  const [silent, polled] = [await ask('eth_newPendingTransactionFilter'), await ask('eth_newPendingTransactionFilter')]
  const sent: unknown[] = []
  const polls: unknown[] = []
  for (let i = 0; i < 20; i++) {
    sent.push(await ask('eth_sendRawTransaction', `0x02${(i + 16).toString(16)}`))
    if (i % 2 === 1) polls.push(await ask('eth_getFilterChanges', polled))
  }
  expect(polls.flat()).toEqual(sent)
  expect(JSON.stringify(await context.filters.ask(silent as string, (filter) => filter))).not.toContain('0x')
  expect(await ask('eth_getFilterChanges', silent)).toEqual(sent.slice(-3))
})

it('rpc/methods/eth/filters: splits logs over the limit of one answer at block ends', async () => {
  const { ask, append, context } = setUp()
  const asked = { ...context, limits: { ...context.limits, logResults: 2 } }
  const id = await ask('eth_newFilter', {})
  append([[log(1)]], [[log(2), log(3)]], [[log(4)]])
  const changes = async () => places(readResult(await ethRegistry.get('eth_getFilterChanges')?.call(asked, [id])))
  expect([await changes(), await changes(), await changes()]).toEqual([
    [
      [2, 1],
      [3, 2],
      [3, 3],
    ],
    [[4, 4]],
    [],
  ])
})

it('rpc/methods/eth/filters: splits changes over the size of one answer at block ends, removed logs first', async () => {
  const { ask, append, chain, context } = setUp()
  const asked = { ...context, limits: { ...context.limits, logBytes: 4_000 } }
  const id = await ask('eth_newFilter', {})
  const large = { ...log(1), data: new Uint8Array(1_000) }
  append([[large]], [[large]], [[large]], [[log(4)]])
  const changes = async () => places(readResult(await ethRegistry.get('eth_getFilterChanges')?.call(asked, [id])))
  expect([await changes(), await changes(), await changes()]).toEqual([
    [
      [2, 1],
      [3, 1],
    ],
    [
      [4, 1],
      [5, 4],
    ],
    [],
  ])
  chain.reorganise(3, [[[log(7)]], [[log(8)]], []])
  const removed = [
    [5, 4, 'removed'],
    [4, 1, 'removed'],
    [3, 1, 'removed'],
  ]
  expect([await changes(), await changes()]).toEqual([
    removed,
    [
      [3, 7],
      [4, 8],
    ],
  ])
})

it('rpc/methods/eth/filters: a poll whose client is gone before its turn loses no changes', async () => {
  const { ask, append, context } = setUp()
  const ids = [await ask('eth_newFilter', {}), await ask('eth_newBlockFilter'), await ask('eth_newPendingTransactionFilter')]
  append([[log(1)]])
  await ask('eth_sendRawTransaction', '0x02c0')
  const gone = { ...context, cancellation: { isCancelled: true } }
  for (const id of ids) {
    const poll = ethRegistry.get('eth_getFilterChanges')?.call(gone, [id])
    await expect(poll).rejects.toMatchObject({ code: -32002 })
    expect(await ask('eth_getFilterChanges', id)).toHaveLength(1)
  }
})

it('rpc/methods/eth/filters: filters share the remembered logs of a block', async () => {
  const { ask, append, chain, context } = setUp()
  const ids = [await ask('eth_newFilter', { address: account(1) }), await ask('eth_newFilter', { address: account(1) })] as [string, string]
  append([[log(1, 4), log(2)]])
  for (const id of ids) await ask('eth_getFilterChanges', id)
  const block = { number: 2, hash: chain.blocks[2]?.hash as Hash }
  const [first, second] = await Promise.all(
    ids.map((id) => context.filters.ask(id, (filter) => (filter.kind === 'logs' ? filter.use.matched.in(block) : undefined))),
  )
  expect(first).toHaveLength(1)
  expect(second).toBe(first)
})

it('rpc/methods/eth/filters: returns the logs of a block that is too large to share', async () => {
  const { ask, append } = setUp(undefined, {}, undefined, 100)
  const id = await ask('eth_newFilter', { address: account(2) })
  append([[log(1, 4), log(2)]])
  expect(places(await ask('eth_getFilterChanges', id))).toEqual([[2, 2]])
})

it('rpc/methods/eth/filters: two concurrent polls return each log once', async () => {
  const { ask, append } = setUp()
  const id = await ask('eth_newFilter', {})
  append(...Array.from({ length: 40 }, (): FakeBlock => [[log(1)]]))
  const [first, second] = (await Promise.all([ask('eth_getFilterChanges', id), ask('eth_getFilterChanges', id)])) as [Found, Found]
  expect(first.length + second.length).toBe(40)
})

it('rpc/methods/eth/filters: a cancelled poll loses no logs', async () => {
  const { ask, append, context } = setUp()
  const id = await ask('eth_newFilter', {})
  append(...Array.from({ length: 40 }, (): FakeBlock => [[log(1)]]))
  const cancellation = { isCancelled: true }
  await expect(async () => ethRegistry.get('eth_getFilterChanges')?.call({ ...context, cancellation }, [id])).rejects.toThrow()
  expect(await ask('eth_getFilterChanges', id)).toHaveLength(40)
})

it('rpc/methods/eth/filters: eth_getFilterLogs searches the range of the filter without changing its progress', async () => {
  const { ask, append } = setUp()
  const id = await ask('eth_newFilter', { fromBlock: '0x0', toBlock: 'latest' })
  append([[log(2)]])
  const all = [
    [1, 1],
    [2, 2],
  ]
  expect([places(await ask('eth_getFilterLogs', id)), places(await ask('eth_getFilterLogs', id))]).toEqual([all, all])
  expect(places(await ask('eth_getFilterChanges', id))).toEqual([[2, 2]])
})

it('rpc/methods/eth/filters: returns logs within the block range of the filter only', async () => {
  const { ask, append } = setUp()
  const id = await ask('eth_newFilter', { fromBlock: '0x3', toBlock: '0x4' })
  append([[log(2)]], [[log(3)]], [[log(4)]], [[log(5)]])
  expect(places(await ask('eth_getFilterChanges', id))).toEqual([
    [3, 3],
    [4, 4],
  ])
})

it('rpc/methods/eth/filters: a filter ends after five minutes without a poll', async () => {
  const { ask, clock } = setUp()
  const [kept, left] = [await ask('eth_newBlockFilter'), await ask('eth_newBlockFilter')]
  await clock.advanceMs(4 * minute)
  expect(await ask('eth_getFilterChanges', kept)).toEqual([])
  await clock.advanceMs(2 * minute)
  expect(await ask('eth_getFilterChanges', kept)).toEqual([])
  await expect(ask('eth_getFilterChanges', left)).rejects.toMatchObject({ code: -32602, message: 'filter not found' })
  expect(await ask('eth_uninstallFilter', left)).toBe(false)
})

it('rpc/methods/eth/filters: an uninstalled filter is not found', async () => {
  const { ask } = setUp()
  const id = await ask('eth_newFilter', {})
  expect([await ask('eth_uninstallFilter', id), await ask('eth_uninstallFilter', id)]).toEqual([true, false])
  for (const method of ['eth_getFilterChanges', 'eth_getFilterLogs'])
    await expect(ask(method, id)).rejects.toMatchObject({ message: 'filter not found' })
})

it('rpc/methods/eth/filters: refuses too many filters until some end or expire (-32005)', async () => {
  const { ask, clock } = setUp(undefined, { maxFilters: 2 })
  const ids = [await ask('eth_newBlockFilter'), await ask('eth_newBlockFilter')]
  expect(new Set(ids).size).toBe(2)
  expect(ids[0]).toMatch(/^0x[0-9a-f]{32}$/)
  await expect(ask('eth_newPendingTransactionFilter')).rejects.toMatchObject({ code: -32005 })
  await ask('eth_uninstallFilter', ids[0])
  await ask('eth_newFilter', {})
  await clock.advanceMs(6 * minute)
  expect([await ask('eth_newFilter', {}), await ask('eth_newFilter', {})]).toHaveLength(2)
})

it('rpc/methods/eth/filters: bounds the memory of addresses and topics in all filters; equal filters share it, small ones always fit', async () => {
  const { ask, clock } = setUp(undefined, { maxMatcherBytes: 2_000 })
  const from = (first: number) => ({ address: Array.from({ length: 10 }, (_, i) => account(first + i)), topics: [[topic(1), topic(2)]] })
  const ids = [await ask('eth_newFilter', from(1)), await ask('eth_newFilter', from(1))]
  const refused = { code: -32005, data: { limit: 'bytes', max: 2_000 } }
  await expect(ask('eth_newFilter', from(2))).rejects.toMatchObject(refused)
  await ask('eth_newFilter', { address: account(1) })
  await ask('eth_uninstallFilter', ids[0])
  await expect(ask('eth_newFilter', from(2))).rejects.toMatchObject(refused)
  await ask('eth_uninstallFilter', ids[1])
  await ask('eth_newFilter', from(2))
  await clock.advanceMs(6 * minute)
  await ask('eth_newFilter', from(3))
})

it.each<[string, readonly unknown[], number]>([
  ['eth_newFilter', [], -32602],
  ['eth_newFilter', [{ topics: [1] }], -32602],
  ['eth_newFilter', ['latest'], -32602],
  ['eth_getFilterChanges', [], -32602],
  ['eth_getFilterChanges', [7], -32602],
  ['eth_getFilterChanges', ['0x1'], -32602],
  ['eth_getFilterLogs', ['0x1'], -32602],
  ['eth_uninstallFilter', [null], -32602],
])('rpc/methods/eth/filters: %s refuses %j (%i)', async (method, params, code) => {
  await expect(setUp().ask(method, ...params)).rejects.toMatchObject({ code })
})

it('rpc/methods/eth/filters: eth_getFilterLogs refuses a filter for blocks', async () => {
  const { ask } = setUp()
  await expect(ask('eth_getFilterLogs', await ask('eth_newBlockFilter'))).rejects.toMatchObject({ message: 'filter not found' })
})
