import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, expect, it, vi } from 'vitest'
import { CompletedEngine, StateCompletion } from '#blockchain/completedEngine'
import { createExecution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { verifyDatabase } from '#database/verify'
import { stateSourceMetrics } from '#l2/metrics'
import { createStateSources } from '#l2/state/stateSources'
import { systemClock } from '#lib/clock'
import { toHex, toQuantity } from '#lib/hex'
import { silentLog } from '#lib/log'
import { openChainKv } from '#store/chainTables'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import { signedBy } from '#test/harness/chain/blocks'
import { payloadsOf } from '#test/harness/chain/l2Blocks'
import { dump, readNow } from '#test/harness/chain/olderSchemas'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { anyPort, nodeOptions } from '#test/harness/process/nodeOptions'
import { serveRecordedChain } from '#test/harness/rpc/recordedNode'
import { installAnchor } from '#test/harness/snapshot/anchoredChain'
import { executeRecorded } from '#test/harness/snapshot/loadRecorded'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { anchorOf, startAnchored } from './anchoredStart.ts'
import { startNode } from './node.ts'

const folder = mkdtempSync(join(tmpdir(), 'basalt-anchored-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const name = 'op-ecotone-to-jovian'
const [anchor, last] = [3, 171]
/** Block with which nodes begin. */
const begin = 120
const stateTables = [tables.accounts, tables.storage, tables.code, tables.accountNodes, tables.storageNodes]

/** Refuses methods, as nodes of other clients do. */
function without(isRefused: (method: string) => boolean): typeof fetch {
  return async (url, init) => {
    const calls = [JSON.parse(String(init?.body))].flat() as { id: number; method: string }[]
    const refused = calls.find(({ method }) => isRefused(method))
    if (refused === undefined) return fetch(url, init)
    const answers = calls.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'no such method' } }))
    return Response.json(answers.length === 1 ? answers[0] : answers)
  }
}
const isWitness = (method: string): boolean => method.startsWith('debug_executionWitness')
const isOwn = (method: string): boolean => isWitness(method) || method.startsWith('basalt_') || method === 'debug_codeByHash'

/** Damages one in twenty proofs of the first source. */
function lying(send: typeof fetch): typeof fetch {
  let responses = 0
  return async (url, init) => {
    const response = await send(url, init)
    const text = await response.text()
    const isLie = String(url).endsWith('?liar') && ++responses % 20 === 0
    return new Response(isLie ? text.replace(/("proof":\["0x.{80})./, (_, kept) => `${kept}0`) : text, response)
  }
}

/** Follows the recorded chain on a state that knows nothing at first. @returns the metrics of the sources */
async function follow(dir: string, whole: Kv, urls: readonly string[], send: typeof fetch): Promise<Registry> {
  const { chain } = await recorded
  await installAnchor(chain, whole, anchor, dir)
  const registry = new Registry()
  const metrics = stateSourceMetrics.register(registry)
  const source = createStateSources(
    { fetch: send as never, clock: systemClock, log: silentLog, metrics },
    { urls, timeoutMs: 60_000, deadlineMs: 120_000 },
  )
  const { config, genesis } = chain
  await using kv = openChainKv(dir)
  await using execution = createExecution({ kv, evm: sharedEvm, config, genesis: () => genesis, clock: systemClock, log: silentLog })
  const engine = new CompletedEngine(execution, new StateCompletion(execution, source))
  for (const payload of payloadsOf(chain.blocks).slice(anchor + 1)) {
    expect(await engine.insert(payload)).toEqual({ kind: 'valid' })
    await engine.setHeads({ ...(await engine.heads()), unsafe: l2RefOf(config, payload) })
    if (payload.blockNumber % 5 === 0) execution.commit()
  }
  return registry
}

/** Expects each stored row to be that of a node that has executed everything. */
async function expectPart(dir: string, whole: Kv): Promise<void> {
  await using kv = openChainKv(dir)
  const [found, expected] = [kv, whole].map((each) => readNow(each, (reader) => dump(reader, stateTables)))
  expect(found?.size).toBeGreaterThan(1_000)
  for (const [row, value] of found as Map<string, string>) expect([row, value]).toEqual([row, expected?.get(row)])
}

const recorded = executeRecorded(name, last)
const served = recorded.then(({ kv }) => serveRecordedChain(name, kv))
afterAll(async () => (await served)[Symbol.asyncDispose]())

async function metric(registry: Registry, of: string, label: string): Promise<number> {
  const { values } = (await registry.getSingleMetric(`basalt_state_source_${of}_total`)?.get()) ?? { values: [] }
  return values.find(({ labels }) => Object.values(labels).includes(label))?.value ?? 0
}

const ways: readonly [string, typeof fetch, string][] = [
  ['witnesses', fetch, 'witness'],
  ['ranges', without(isWitness), 'proof'],
  ['eth_getProof and eth_getCode', without(isOwn), 'proof'],
]

it.each(ways)(
  'l2/stateSources: a chain on a state that knows nothing at first is followed by %s of another node',
  async (way, send, counted) => {
    const { kv: whole } = await recorded
    const { url } = await served
    const dir = join(folder, way)
    const registry = await follow(dir, whole, [url], send)
    expect(await metric(registry, 'fetches', counted)).toBeGreaterThan(counted === 'witness' ? 30 : 100)
    expect(await metric(registry, 'fetches', counted === 'witness' ? 'proof' : 'witness')).toBe(0)
    await expectPart(dir, whole)
  },
  120_000,
)

it('l2/stateSources: a source that lies once in twenty answers is named in a metric, and nothing of its lie is stored', async () => {
  const { kv: whole } = await recorded
  const { url } = await served
  const dir = join(folder, 'lies')
  const registry = await follow(dir, whole, [`${url}?liar`, url], lying(without(isWitness)))
  expect([await metric(registry, 'lies', '1'), await metric(registry, 'lies', '2')]).toEqual([1, 0])
  await expectPart(dir, whole)
}, 120_000)

type Answer = { readonly result?: unknown; readonly error?: { readonly code: number; readonly message: string } }

async function ask(url: string, method: string, ...params: readonly unknown[]): Promise<Answer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { result, error } = (await response.json()) as Answer
  return error ? { error } : { result }
}

it.each([0, 1])(
  'node: an anchored node follows another one, and its clients wait for what it lacks (%i RPC threads)',
  async (rpcThreads) => {
    const { chain } = await recorded
    const { url } = await served
    const datadir = join(folder, `node${rpcThreads}`)
    const io = { fetch, clock: systemClock, random: Math.random, log: silentLog }
    const { config, blocks, genesis } = chain
    const given = blocks[begin]?.hash as Hash
    const { signal } = new AbortController()
    const anchored = await startAnchored({ ...io, signal }, { config, datadir, stateUrls: [url], l2Url: url, given })
    expect(anchored).toEqual({ number: begin, hash: given, trust: 'given' })
    const source = { url, hasProofs: false, maxAheadSec: 3_600 }
    const options = nodeOptions(
      { datadir, mode: 'all', source, stateUrls: [url], rpcThreads, listen: { http: anyPort, metrics: anyPort } },
      chain,
    )
    await using node = await startNode(io, options)
    const own = node.urls.http ?? expect.fail('no HTTP')
    await vi.waitFor(async () => expect(await ask(own, 'eth_blockNumber')).toEqual({ result: toQuantity(last) }), 60_000)
    const page = await (await fetch(`${node.urls.metrics}/metrics`)).text()
    const counts = ['nothing', 'witness', 'parts'].map((lacked) =>
      Number(new RegExp(`^basalt_state_source_blocks_total\\{lacked="${lacked}"\\} (\\d+)$`, 'm').exec(page)?.[1] ?? Number.NaN),
    )
    const [nothing = 0, witness = 0] = counts
    expect(counts).toEqual([expect.any(Number), expect.any(Number), 0])
    expect(nothing + witness).toBe(last - begin)
    expect(nothing).toBeGreaterThan(0)
    const addresses = genesis.accounts.filter(({ storage }) => storage.size > 0).map(({ address }) => address)
    const at = toQuantity(last - 20)
    for (const address of addresses.slice(0, 12)) {
      const calls = [
        ...[
          ['eth_getBalance', address, 'latest'],
          ['eth_getCode', address, at],
          ['eth_getStorageAt', address, '0x0', at],
        ],
        ...[
          ['eth_call', { to: address, data: '0x54fd4d50' }, 'latest'],
          ['eth_getProof', address, ['0x0', '0x1'], 'latest'],
        ],
        ['eth_estimateGas', { to: address, data: '0x54fd4d50' }],
      ] as [string, ...unknown[]][]
      for (const [method, ...params] of calls)
        expect([method, await ask(own, method, ...params)]).toEqual([method, await ask(url, method, ...params)])
    }
    expect(await ask(own, 'eth_getBalance', addresses[0], toQuantity(begin - 1))).toMatchObject({ error: { code: 4444 } })
  },
  180_000,
)

it('node: an anchored node is filled, is then a whole one, and starts again without sources', async () => {
  const { chain, kv: whole } = await recorded
  const { url } = await served
  const datadir = join(folder, 'filled')
  const io = { fetch, clock: systemClock, random: Math.random, log: silentLog }
  const { config, blocks } = chain
  const { signal } = new AbortController()
  await startAnchored({ ...io, signal }, { config, datadir, stateUrls: [url], l2Url: url, given: blocks[begin]?.hash as Hash })
  const source = { url, hasProofs: false, maxAheadSec: 3_600 }
  const ports = { listen: { http: anyPort, metrics: anyPort, health: anyPort } }
  {
    await using node = await startNode(io, nodeOptions({ datadir, mode: 'all', source, stateUrls: [url], ...ports }, chain))
    const { http = '', metrics = '', health = '' } = node.urls
    await vi.waitFor(async () => expect(await ask(http, 'eth_blockNumber')).toEqual({ result: toQuantity(last) }), 60_000)
    const page = async (of: string): Promise<string> => (await fetch(of)).text()
    await vi.waitFor(async () => expect(await page(`${metrics}/metrics`)).toContain('basalt_state_fill_info{phase="whole"} 1'), 120_000)
    expect(await page(`${metrics}/metrics`)).toContain('basalt_state_fill_ratio 1\n')
    expect(JSON.parse(await page(`${health}/readyz`))).toMatchObject({ state: 'whole' })
    expect(await ask(http, 'basalt_stateRange', 'latest', `0x${'00'.repeat(32)}`, `0x${'ff'.repeat(32)}`)).toEqual(
      await ask(url, 'basalt_stateRange', 'latest', `0x${'00'.repeat(32)}`, `0x${'ff'.repeat(32)}`),
    )
  }
  {
    await using kv = openChainKv(join(datadir, 'chain'))
    const [found, expected] = [kv, whole].map((each) => readNow(each, (reader) => dump(reader, stateTables)))
    expect(found).toEqual(expected)
  }
  const verified = await verifyDatabase({ clock: systemClock, signal, onProgress: () => {} }, { datadir })
  expect([verified.done, verified.differences]).toEqual([true, []])
  await using again = await startNode(io, nodeOptions({ datadir, mode: 'execution', ...ports }, chain))
  const { http = '', metrics = '' } = again.urls
  const [first] = chain.genesis.accounts
  expect(await ask(http, 'eth_getBalance', first?.address, 'latest')).toEqual(await ask(url, 'eth_getBalance', first?.address, 'latest'))
  expect(await (await fetch(`${metrics}/metrics`)).text()).not.toContain('basalt_state_fill')
}, 300_000)

it('node: a state whose sources do not enumerate it stays partial, and the node says so', async () => {
  const { chain } = await recorded
  const { url } = await served
  const datadir = join(folder, 'unlisted')
  const io = { fetch: without(isOwn), clock: systemClock, random: Math.random, log: silentLog }
  const { config, blocks } = chain
  const { signal } = new AbortController()
  await startAnchored({ ...io, signal }, { config, datadir, stateUrls: [url], l2Url: url, given: blocks[begin]?.hash as Hash })
  const ports = { listen: { http: anyPort, health: anyPort } }
  await using node = await startNode(io, nodeOptions({ datadir, mode: 'execution', stateUrls: [url], rpcThreads: 1, ...ports }, chain))
  // the health thread and an RPC thread
  for (const server of [node.urls.health, node.urls.http]) {
    await vi.waitFor(async () => {
      expect(await (await fetch(`${server}/readyz`)).json()).toMatchObject({
        state: expect.stringMatching(/^0\.00 % of the keys are stored; off: no source enumerates the state/),
      })
    }, 60_000)
  }
  const { address } = chain.genesis.accounts.find(({ storage }) => storage.size > 0) ?? expect.fail('no contract')
  for (const [method, ...params] of [
    ['eth_getBalance', address],
    ['eth_getStorageAt', address, '0x1'],
    ['eth_getProof', address, ['0x0']],
  ] as [string, ...unknown[]][]) {
    const of = toQuantity(begin)
    expect(await ask(node.urls.http ?? '', method, ...params, of)).toEqual(await ask(url, method, ...params, of))
  }
  // the account of the sender is proved to be absent
  const raw = toHex(signedBy('nobody', { chainId: BigInt(config.l2ChainId), maxFeePerGas: 10n ** 12n }))
  expect(await ask(node.urls.http ?? '', 'eth_sendRawTransaction', raw)).toMatchObject({
    error: { message: expect.stringMatching(/^insufficient funds .* have 0 /) },
  })
}, 180_000)

it('node: a partial state begins again with a newer block, and stays when there is none (ANCHOR_NOT_NEWER, STATE_UNAVAILABLE)', async () => {
  const { chain } = await recorded
  const { url } = await served
  const datadir = join(folder, 'again')
  const { signal } = new AbortController()
  const io = { fetch, clock: systemClock, random: Math.random, log: silentLog, signal }
  const { config, blocks } = chain
  const at = (number: number) => ({ number, hash: blocks[number]?.hash as Hash })
  const start = (number: number, replaced?: BlockId, stateUrls = [url], send = fetch) =>
    startAnchored({ ...io, fetch: send }, { config, datadir, stateUrls, l2Url: url, given: at(number).hash, replaced })
  await start(begin)
  const rows = async (): Promise<unknown> => {
    await using kv = openChainKv(join(datadir, 'chain'))
    return readNow(kv, (reader) => dump(reader, Object.values(tables)))
  }
  const before = await rows()
  expect(await anchorOf(datadir)).toEqual(at(begin))
  await expect(start(begin, at(begin))).rejects.toMatchObject({ code: 'ANCHOR_NOT_NEWER', severity: 'retry' })
  // sources without the state of the new block
  const lacking = without((method) => method !== 'eth_getBlockByHash' && method !== 'eth_getBlockByNumber' && method !== 'eth_chainId')
  await expect(start(begin + 20, at(begin), [url], lacking)).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE', severity: 'retry' })
  expect(await rows()).toEqual(before)
  // the rest of an interrupted removal
  const left = join(datadir, 'chain.removed')
  mkdirSync(join(left, 'segments'), { recursive: true })
  expect(await start(begin + 20, at(begin))).toMatchObject(at(begin + 20))
  expect(await anchorOf(datadir)).toEqual(at(begin + 20))
  expect(existsSync(left)).toBe(false)
  const source = { url, hasProofs: false, maxAheadSec: 3_600 }
  const options = nodeOptions({ datadir, mode: 'all', source, stateUrls: [url], listen: { http: anyPort } }, chain)
  await using node = await startNode(io, options)
  await vi.waitFor(async () => expect(await ask(node.urls.http ?? '', 'eth_blockNumber')).toEqual({ result: toQuantity(last) }), 60_000)
}, 180_000)

it('node: an anchored start leaves a directory that holds a chain unchanged (BASE_BLOCK_REFUSED)', async () => {
  const { chain, kv: whole } = await recorded
  const dir = join(folder, 'held')
  await installAnchor(chain, whole, anchor, dir)
  const rows = async (): Promise<unknown> => {
    await using kv = openChainKv(dir)
    return readNow(kv, (reader) => dump(reader, Object.values(tables)))
  }
  const before = await rows()
  await expect(installAnchor(chain, whole, begin, dir)).rejects.toMatchObject({ code: 'BASE_BLOCK_REFUSED' })
  expect(await rows()).toEqual(before)
})

it('node: a request for a part that no source has fails with its name (STATE_UNAVAILABLE)', async () => {
  const { chain } = await recorded
  const { url } = await served
  const datadir = join(folder, 'unavailable')
  const io = { fetch, clock: systemClock, random: Math.random, log: silentLog }
  const { signal } = new AbortController()
  const { config, blocks } = chain
  await startAnchored({ ...io, signal }, { config, datadir, stateUrls: [url], l2Url: url, given: blocks[begin]?.hash as Hash })
  const options = nodeOptions({ datadir, mode: 'execution', stateUrls: ['http://127.0.0.1:1'], listen: { http: anyPort } }, chain)
  await using node = await startNode(io, options)
  const [first] = chain.genesis.accounts
  const answer = await ask(node.urls.http ?? '', 'eth_getBalance', first?.address, 'latest')
  expect(answer).toMatchObject({ error: { code: -32_002, message: expect.stringContaining('no source has the account') } })
}, 180_000)

it('node: an anchored start needs a block that L1 or the operator vouches for (SNAPSHOT_UNTRUSTED), and one that the node has (ANCHOR_UNKNOWN)', async () => {
  const { config } = (await recorded).chain
  const { url } = await served
  const io = { fetch, clock: systemClock, random: Math.random, log: silentLog, signal: new AbortController().signal }
  const place = { config, datadir: join(folder, 'untrusted'), stateUrls: [url], l2Url: url }
  await expect(startAnchored(io, place)).rejects.toMatchObject({ code: 'SNAPSHOT_UNTRUSTED' })
  const given = `0x${'12'.repeat(32)}` as Hash
  await expect(startAnchored(io, { ...place, given })).rejects.toMatchObject({ code: 'ANCHOR_UNKNOWN' })
  expect(existsSync(place.datadir)).toBe(false)
}, 180_000)
