import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { l2RefOf } from '#chainspec/l2Ref'
import { readRecordedChain } from '#devnet/recordedChain'
import { systemClock } from '#lib/clock'
import { createLog } from '#lib/log'
import { type Node, startNode } from '#node/node'
import type { NodeOptions } from '#node/nodeOptions'
import { decodeBlock } from '#types/block'
import { engineClient, jwtSecret } from '../harness/engine/server.ts'
import { anyPort, nodeOptions } from '../harness/process/nodeOptions.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-traces-'))
afterAll(() => rmSync(base, { recursive: true }))
const chain = readRecordedChain('op-bedrock-to-holocene')
const blocks = chain.blocks.slice(1, 6).map(({ raw }) => payloadOfBlock(decodeBlock(raw)))

type Span = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
}

/** Collector that keeps the spans it gets. */
async function collector(): Promise<
  AsyncDisposable & { readonly url: string; readonly spans: readonly Span[]; readonly keys: ReadonlySet<unknown> }
> {
  const spans: Span[] = []
  const keys = new Set<unknown>()
  const server = createServer(async (request, response) => {
    const json = JSON.parse(Buffer.concat(await request.toArray()).toString()) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }
    expect([request.method, request.url]).toEqual(['POST', '/v1/traces'])
    keys.add(request.headers['x-key'])
    spans.push(...json.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, keys },
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

let dirs = 0
function start(trace: NonNullable<NodeOptions['trace']>, lines: string[]): Promise<Node> {
  const log = createLog('warn', { write: (line) => void lines.push(line) })
  const listen = { http: anyPort, engine: anyPort, metrics: anyPort }
  const options = { mode: 'execution', datadir: join(base, String(dirs++)), listen, rpcThreads: 2, jwtSecret: () => jwtSecret } as const
  return startNode({ clock: systemClock, random: () => 0, fetch, log }, nodeOptions({ ...options, trace, slowCallMs: 0 }, chain))
}

async function insertAll(node: Node): Promise<void> {
  const engine = engineClient(node.urls.engine ?? '', chain.config)
  const { safe, finalized } = await engine.heads()
  for (const payload of blocks) {
    expect(await engine.insert(payload)).toEqual({ kind: 'valid' })
    await engine.setHeads({ unsafe: l2RefOf(chain.config, payload), safe, finalized })
  }
}

it('process/traces: a node sends the way of each block, and slow calls of its RPC threads, to a collector', async () => {
  await using traces = await collector()
  const lines: string[] = []
  const node = await start({ url: traces.url, headers: { 'x-key': 'k3y' }, service: 'basalt', sample: 1 }, lines)
  await insertAll(node)
  await (await fetch(node.urls.http ?? '', { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}' })).text()
  // the commit follows two seconds later, and the trace ends five seconds after it
  await vi.waitFor(() => expect(traces.spans.filter(({ name }) => name === 'block')).toHaveLength(blocks.length), { timeout: 25_000 })
  await node[Symbol.asyncDispose]()
  for (const { blockHash, blockNumber, transactions } of blocks) {
    const own = traces.spans.filter(({ traceId }) => traceId === blockHash.slice(2, 34))
    const root = own.find(({ parentSpanId }) => parentSpanId === undefined) ?? expect.fail()
    expect(root.attributes).toEqual(
      expect.arrayContaining([
        { key: 'block.number', value: { intValue: String(blockNumber) } },
        { key: 'block.hash', value: { stringValue: blockHash } },
        { key: 'block.source', value: { stringValue: 'engine-api' } },
        { key: 'block.transactions', value: { intValue: String(transactions.length) } },
      ]),
    )
    const names = own.map(({ name }) => name)
    for (const name of ['decode', 'insert', 'execution', 'transactions', 'root', 'head', 'commit']) expect(names).toContain(name)
    expect(names.filter((name) => name === 'announce').length).toBeGreaterThanOrEqual(2)
  }
  const slow = traces.spans.filter(({ name }) => name === 'slow request').flatMap(({ attributes }) => attributes)
  expect(slow).toContainEqual({ key: 'rpc.method', value: { stringValue: 'eth_blockNumber' } })
  expect([...traces.keys]).toEqual(['k3y'])
  expect(lines.join('')).not.toContain('traces not exported')
}, 60_000)

it('process/traces: a dead collector costs one line, and the node works', async () => {
  const lines: string[] = []
  await using node = await start({ url: 'http://127.0.0.1:1', service: 'basalt', sample: 1 }, lines)
  await insertAll(node)
  const scraped = async () => await (await fetch(`${node.urls.metrics}/metrics`)).text()
  await (await fetch(node.urls.http ?? '', { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}' })).text()
  await vi.waitFor(() => expect(lines.join('')).toContain('traces not exported, retrying'), { timeout: 20_000 })
  await systemClock.delay(5_000)
  expect(lines.filter((line) => line.includes('traces'))).toHaveLength(1)
  expect(await scraped()).toMatch(/^basalt_trace_spans_total\{outcome="exported"\} 0$/m)
  expect(node.execution?.published.heads.unsafe.number).toBe(blocks.at(-1)?.blockNumber)
}, 60_000)
