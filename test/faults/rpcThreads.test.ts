import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, it, vi } from 'vitest'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { l2RefOf } from '#chainspec/l2Ref'
import { readRecordedChain } from '#devnet/recordedChain'
import { type Clock, systemClock } from '#lib/clock'
import { createLog } from '#lib/log'
import { type Node, startNode } from '#node/node'
import type { NodeOptions } from '#node/nodeOptions'
import { sharedRateLimit } from '#node/serving/rateLimits'
import { decodeBlock } from '#types/block'
import { ask as askEngine, engineClient, jwtSecret } from '../harness/engine/server.ts'
import { untilAllRpcThreads } from '../harness/process/allRpcThreads.ts'
import { endNewestThread, holdNewestThread, isNewestThreadEnded } from '../harness/process/mortalThread.ts'
import { anyPort, nodeOptions } from '../harness/process/nodeOptions.ts'

vi.mock('node:worker_threads', async (original) => ({
  ...(await original<typeof import('node:worker_threads')>()),
  Worker: (await import('../harness/process/mortalThread.ts')).MortalWorker,
}))

const base = mkdtempSync(join(tmpdir(), 'basalt-rpc-threads-'))
afterAll(() => rmSync(base, { recursive: true }))

const chain = readRecordedChain('op-bedrock-to-holocene')
let dirs = 0
const warned: string[] = []
const log = createLog('warn', { write: (line) => void warned.push(line) })

/** Starts a node, which is open when the first RPC thread listens. */
function open(changes: Partial<NodeOptions> = {}, clock: Clock = systemClock): Promise<Node> {
  const deps = { clock, random: () => 0, fetch, log }
  const listen = { metrics: anyPort, ...(changes.listen ?? { http: anyPort, ws: anyPort }) }
  const options = { mode: 'execution', datadir: join(base, String(dirs++)), rpcThreads: 2, ...changes, listen } as const
  return startNode(deps, nodeOptions(options, chain))
}

/** Starts a node, and waits for all of its RPC threads. */
async function start(changes: Partial<NodeOptions> = {}, clock: Clock = systemClock): Promise<Node> {
  const node = await open(changes, clock)
  await untilAllRpcThreads(node, 2)
  return node
}

/** Uses a new connection for each call: the system chooses the thread. */
const agent = new Agent({ keepAlive: false })
function ask<T>(node: Node, method: string, ...params: unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return new Promise((resolve, reject) => {
    const asked = request(
      node.urls.http ?? '',
      { method: 'POST', agent, headers: { 'content-type': 'application/json' } },
      async (answer) => {
        const { result, error } = JSON.parse(Buffer.concat(await answer.toArray()).toString()) as { result: T; error?: object }
        if (error) reject(error)
        else resolve(result)
      },
    )
    asked.on('error', reject)
    asked.end(body)
  })
}
/** WebSocket with one subscription. */
async function subscriber<T>(node: Node, kind: string): Promise<{ readonly received: T[]; close(): void }> {
  const socket = new WebSocket(node.urls.ws ?? '')
  const received: T[] = []
  const subscribed = new Promise<void>((resolve, reject) => {
    socket.onerror = reject
    socket.onopen = () => socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: [kind] }))
    socket.onmessage = ({ data }) => {
      const { id, params } = JSON.parse(String(data)) as { id?: number; params?: { result: T } }
      if (params) received.push(params.result)
      if (id === 1) resolve()
    }
  })
  await subscribed
  return { received, close: () => socket.close() }
}
const times = <T>(count: number, run: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: count }, run))

/** Account with ether in the genesis of the recorded chain. */
const rich = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')
const transfer = (nonce: number) =>
  rich.signTransaction({
    ...{ type: 'eip1559', chainId: chain.config.l2ChainId, nonce, gas: 21_000n, to: rich.address, value: 1n },
    ...{ maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000n },
  })
const threadsOf = (ids: readonly string[]): string[] => [...new Set(ids.map((id) => id.slice(0, 4)))].sort()

const served = start({ jwtSecret: () => jwtSecret, listen: { http: anyPort, ws: anyPort, engine: anyPort, metrics: anyPort } })
afterAll(async () => (await served)[Symbol.asyncDispose]())

it("faults/rpcThreads: sums metrics over all threads, and reports the node's health and sync state", async () => {
  const node = await served
  const sockets = await times(4, () => subscriber(node, 'newHeads'))
  const scraped = await (await fetch(`${node.urls.metrics}/metrics`)).text()
  expect(scraped).toMatch(/^basalt_rpc_socket_connections 4$/m)
  expect(scraped).toMatch(/^basalt_node_build_info\{mode="execution"\} 1$/m)
  const ready = await fetch(`${node.urls.http}/readyz`)
  expect([ready.status, await ready.json()]).toEqual([503, { ready: false, problems: node.problems() }])
  expect((await fetch(`${node.urls.http}/healthz`)).status).toBe(200)
  expect(await ask(node, 'eth_syncing')).toMatchObject({ currentBlock: '0x0' })
  for (const socket of sockets) socket.close()
})

it('faults/rpcThreads: counts calls by method over all threads, and logs slow ones on each', async () => {
  await using node = await start({ slowCallMs: 0 })
  const before = warned.length
  await times(20, () => ask(node, 'eth_getBlockByNumber', 'latest', false))
  await expect(ask(node, 'eth_getBalance', 'k3y-of-a-client', 'latest')).rejects.toMatchObject({ code: -32602 })
  const scraped = await (await fetch(`${node.urls.metrics}/metrics`)).text()
  expect(scraped).toMatch(/^basalt_rpc_method_calls_total\{method="eth_getBlockByNumber",outcome="result"\} 20$/m)
  expect(scraped).toMatch(/^basalt_rpc_method_calls_total\{method="eth_getBalance",outcome="error"\} 1$/m)
  expect(scraped).toMatch(/^basalt_rpc_method_milliseconds_total\{method="eth_getBlockByNumber"\} [\d.]+$/m)
  expect(scraped).not.toMatch(/method="eth_chainId"/)
  const lines = warned.slice(before).join('')
  expect(lines).toMatch(/"msg":"slow request"|slow request/)
  expect(lines).toMatch(/"client":"127\.0\.0\.0\/24","params":"\[latest,false\]"/)
  expect(lines).not.toContain('k3y')
})

it('faults/rpcThreads: finds a filter and notifies of a transaction on any thread, including main', async () => {
  const node = await served
  const filters = await times(24, () => ask<string>(node, 'eth_newPendingTransactionFilter'))
  expect(threadsOf(filters)).toEqual(['0x00', '0x01'])
  const sockets = await times(8, () => subscriber<string>(node, 'newPendingTransactions'))

  const raws = await Promise.all([0, 1, 2, 3].map(transfer))
  const hashes = raws.map((raw) => keccak256(raw))
  for (const raw of raws.slice(0, 3)) await ask(node, 'eth_sendRawTransaction', raw)
  await askEngine(node.urls.engine ?? '', 'eth_sendRawTransaction', raws[3])
  expect(await times(8, () => ask(node, 'eth_getTransactionCount', rich.address, 'pending'))).toEqual(Array(8).fill('0x4'))
  await vi.waitFor(() => expect(sockets.map(({ received }) => received)).toEqual(sockets.map(() => hashes)))
  for (const filter of filters) expect(await ask(node, 'eth_getFilterChanges', filter)).toEqual(hashes)
  await expect(ask(node, 'eth_getFilterLogs', filters[0])).rejects.toMatchObject({ code: -32602 })
  expect(await Promise.all(filters.map((filter) => ask(node, 'eth_uninstallFilter', filter)))).toEqual(filters.map(() => true))
  await expect(ask(node, 'eth_getFilterChanges', filters[0])).rejects.toMatchObject({ message: 'filter not found' })
  for (const socket of sockets) socket.close()
})

it('faults/rpcThreads: shows a block on every thread once one thread has shown it, and each thread notifies of every block', async () => {
  const node = await served
  const engine = engineClient(node.urls.engine ?? '', chain.config)
  const { safe, finalized } = await engine.heads()
  const sockets = await times(4, () => subscriber<{ number: string }>(node, 'newHeads'))
  let [highest, isOver] = [0, false]
  async function look(): Promise<number> {
    let looks = 0
    for (; !isOver; looks++) {
      const atLeast = highest
      const number = Number(await ask<string>(node, 'eth_blockNumber'))
      expect(number).toBeGreaterThanOrEqual(atLeast)
      highest = Math.max(highest, number)
    }
    return looks
  }
  const looking = times(4, look)
  const blocks = chain.blocks.slice(1, 31).map(({ raw }) => payloadOfBlock(decodeBlock(raw)))
  for (const payload of blocks) {
    expect(await engine.insert(payload)).toEqual({ kind: 'valid' })
    await engine.setHeads({ unsafe: l2RefOf(chain.config, payload), safe, finalized })
    highest = Math.max(highest, payload.blockNumber)
  }
  isOver = true
  expect(Math.min(...(await looking))).toBeGreaterThan(5)
  const numbers = blocks.map(({ blockNumber }) => `0x${blockNumber.toString(16)}`)
  await vi.waitFor(() => expect(sockets.map(({ received }) => received.map(({ number }) => number))).toEqual(sockets.map(() => numbers)))
  for (const socket of sockets) socket.close()
})

it('faults/rpcThreads: a stop waits for threads that are still starting, and ends them', async () => {
  await served // so that the newest thread is of this node
  const node = await open({ rpcThreads: 3 })
  await node[Symbol.asyncDispose]()
  expect(isNewestThreadEnded()).toBe(true)
  await expect(ask(node, 'eth_blockNumber')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})

it('faults/rpcThreads: replaces a thread that ends, while the others and the node continue', async () => {
  await using node = await start()
  const filters = await times(16, () => ask<string>(node, 'eth_newBlockFilter'))
  for (const { close } of await times(8, () => subscriber(node, 'newHeads'))) close()
  const scraped = async () => await (await fetch(`${node.urls.metrics}/metrics`)).text()
  await vi.waitFor(async () => expect(await scraped()).toMatch(/^basalt_rpc_socket_ends_total\{why="client"\} 8$/m))
  await endNewestThread()
  expect(await times(8, () => ask(node, 'eth_blockNumber'))).toEqual(Array(8).fill('0x0'))
  const fates = await Promise.allSettled(filters.map((filter) => ask(node, 'eth_getFilterChanges', filter)))
  for (const [i, fate] of fates.entries()) {
    if (filters[i]?.startsWith('0x00')) expect(fate).toMatchObject({ status: 'fulfilled' })
    else expect(fate).toMatchObject({ status: 'rejected', reason: { code: -32602, message: 'filter not found' } })
  }
  await vi.waitFor(
    async () => expect(threadsOf(await times(12, () => ask<string>(node, 'eth_newBlockFilter')))).toEqual(['0x00', '0x01']),
    { timeout: 20_000, interval: 100 },
  )
  const after = await scraped()
  for (const line of ['basalt_rpc_socket_ends_total{why="client"} 8', 'basalt_node_rpc_thread_ends_total 1', 'basalt_node_rpc_threads 2'])
    expect(after).toContain(`${line}\n`)
  expect(after).toMatch(/^basalt_node_rpc_loop_lag_seconds\{quantile="1"\} \d/m)
  expect(warned.join('')).toContain('RPC thread ended, replacing it')
  expect(node.problems()).not.toContainEqual(expect.stringContaining('RPC threads'))
})

it('faults/rpcThreads: replaces an unresponsive thread', async () => {
  const hasty: Clock = { ...systemClock, after: (ms, run) => systemClock.after(ms / 8, run) }
  await using node = await start({}, hasty)
  const scraped = async () => await (await fetch(`${node.urls.metrics}/metrics`)).text()
  const limits = { timeout: 20_000, interval: 100 }
  holdNewestThread()
  const held = await scraped()
  expect(held).toMatch(/^basalt_node_rpc_unmeasured_threads 1$/m)
  expect(held).toMatch(/^basalt_node_rpc_metric_failures_total\{why="late"\} 1$/m)
  expect(held).toMatch(/^basalt_faults_total\{code="THREAD_UNMEASURED"\} 1$/m)
  await vi.waitFor(async () => expect(await scraped()).toMatch(/^basalt_node_rpc_thread_ends_total [1-9]/m), limits)
  await vi.waitFor(async () => expect(await scraped()).toMatch(/^basalt_node_rpc_unmeasured_threads 0$/m), limits)
  await vi.waitFor(async () => expect(await scraped()).toMatch(/^basalt_node_rpc_threads 2$/m), limits)
  await vi.waitFor(async () => expect(await times(8, () => ask(node, 'eth_blockNumber'))).toEqual(Array(8).fill('0x0')), limits)
  expect(warned.join('')).toContain('stuck: no answer for ten seconds')
})

it('faults/rpcThreads: applies changed API keys in every thread, including threads started later', async () => {
  const rateLimit = sharedRateLimit({ rate: { unitsPerSec: 1, burstUnits: 100_000 }, keys: [], trustedProxies: [] })
  await using node = await start({ listen: { http: { ...anyPort, rateLimit } } })
  const limited = async () => {
    const headers = { 'x-api-key': 'nobodys-1', 'content-type': 'application/json', connection: 'close' }
    const body = JSON.stringify(Array.from({ length: 100 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId' })))
    const answers = (await (await fetch(node.urls.http ?? '', { method: 'POST', headers, body })).json()) as { error?: object }[]
    return answers.filter(({ error }) => error).length > 50 // one unit is restored per second
  }
  expect(await times(4, limited)).toEqual(Array(4).fill(false))
  node.setApiKeys([{ key: 'nobodys-1', unitsPerSec: 1, burstUnits: 1 }])
  await limited()
  await vi.waitFor(async () => expect(await times(8, limited)).toEqual(Array(8).fill(true)), { timeout: 10_000, interval: 100 })
  const filters = () => times(12, () => ask<string>(node, 'eth_newBlockFilter'))
  await endNewestThread()
  await vi.waitFor(async () => expect(threadsOf(await filters())).toEqual(['0x00', '0x01']), { timeout: 20_000, interval: 100 })
  expect(await times(8, limited)).toEqual(Array(8).fill(true))
})

it('faults/rpcThreads: rejects a port of another program, although threads of one program share it (PORT_IN_USE)', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0, reusePort: true }, resolve))
  const { port } = server.address() as AddressInfo
  const starting = start({ listen: { http: { ...anyPort, port } } })
  await expect(starting).rejects.toMatchObject({ code: 'PORT_IN_USE', message: expect.stringContaining(`--http.port: port ${port}`) })
  server.close()
})
