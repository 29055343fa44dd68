import { Registry } from 'prom-client'
import { afterAll, expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import type { LocalPage } from '#page/page'
import { type ControlPage, type DevnetFacts, startControl } from './control.ts'
import { devnetMetrics } from './metrics.ts'
import type { DevnetStatus } from './status.ts'

const asked: string[] = []
const ask = (name: string) => async (value?: number) => void asked.push(value === undefined ? name : `${name} ${value}`)
const status = {
  ...{ lagBlocks: 3, problems: [] },
  sequencer: { isActive: true },
  batcher: { isPosting: false },
  l1: { isReachable: true },
  agreement: { kind: 'agrees', compared: 5 },
} as unknown as DevnetStatus
const facts = { chainId: 901 } as DevnetFacts
const chain = { rollup: { block_time: 2 }, genesis: { genesisTimestamp: 7 } }
const metrics = new Registry()
devnetMetrics.register(metrics).compared.set({}, 7)
const faults = {
  pauseSequencer: ask('pauseSequencer'),
  stopBatcher: ask('stopBatcher'),
  corruptBatch: ask('corruptBatch'),
  reorgL1: ask('reorgL1'),
  dropL1: ask('dropL1'),
}
const devnet = { faults, status: () => status, facts: () => facts, chain: () => chain }
const localPage: LocalPage = {
  pages: (devnet) =>
    new Map([['/page/state', () => ({ status: 200, content: JSON.stringify(devnet?.state()), type: 'application/json', headers: {} })]]),
  [Symbol.dispose]() {},
}
const way = { hash: `0x${'aa'.repeat(32)}`, sentMs: 1, preconfirmed: null, sealed: 200, safe: null }
// no test calls a method that reads the chain
const page: ControlPage = { page: localPage, context: {} as ControlPage['context'], preconfirmed: undefined, ways: () => [way] }
const server = await startControl({ devnet, clock: systemClock, log: silentLog, metrics, page }, 0)
afterAll(() => server[Symbol.asyncDispose]())

async function call(method: string, ...params: unknown[]): Promise<{ result?: unknown; error?: { code: number; message: string } }> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(server.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return (await response.json()) as never
}

it('devnet/control: forwards faults within their limits', async () => {
  for (const [method, ...params] of [
    ['devnet_pauseSequencer', 600],
    ['devnet_stopBatcher', 1],
    ['devnet_corruptBatch'],
    ['devnet_reorgL1', 4],
    ['devnet_dropL1', 120],
  ] as const) {
    expect(await call(method, ...params)).toMatchObject({ result: null })
  }
  expect(asked).toEqual(['pauseSequencer 600', 'stopBatcher 1', 'corruptBatch', 'reorgL1 4', 'dropL1 120'])
})

it.each<[string, unknown, string]>([
  ['devnet_pauseSequencer', 0, 'seconds must be a whole number from 1 to 600, not 0'],
  ['devnet_pauseSequencer', 601, 'from 1 to 600, not 601'],
  ['devnet_stopBatcher', 1.5, 'not 1.5'],
  ['devnet_stopBatcher', '5', 'not string'],
  ['devnet_reorgL1', 5, 'depth must be a whole number from 1 to 4, not 5'],
  ['devnet_reorgL1', -1, 'not -1'],
  ['devnet_dropL1', 121, 'from 1 to 120, not 121'],
  ['devnet_dropL1', { seconds: 1 }, 'not object'],
  ['devnet_dropL1', null, 'not object'],
])('devnet/control: refuses %s of %j', async (method, value, says) => {
  const before = asked.length
  expect(await call(method, value)).toMatchObject({ error: { code: -32602, message: expect.stringContaining(says) } })
  expect(asked).toHaveLength(before)
})

it('devnet/control: serves status, facts, files of the chain, metrics, and no other methods', async () => {
  expect((await call('devnet_status')).result).toEqual(status)
  expect((await call('devnet_info')).result).toEqual({ chainId: 901 })
  expect((await call('devnet_chain')).result).toEqual(chain)
  expect(await (await fetch(`${server.url}/metrics`)).text()).toContain('basalt_devnet_compared_block_number 7')
  expect((await call('eth_chainId')).error?.code).toBe(-32601)
})

it('devnet/control: the local page has the parts of the devnet and the way of its transactions', async () => {
  expect(await (await fetch(`${server.url}/page/state`)).json()).toEqual({
    ...{ isSequencing: true, isPosting: false, isL1Reachable: true, agreement: 'agrees to 5', problems: [] },
    ways: [way],
  })
})
