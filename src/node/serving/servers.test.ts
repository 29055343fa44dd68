import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { rpcMetrics } from '#rpc/metrics'
import type { Page } from '#rpc/server/healthPages'
import { createManualClock, settle } from '#test/harness/clock'
import { openSocket } from '#test/harness/process/socketClient'
import { fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import { sharedRateLimit } from './rateLimits.ts'
import { startServers } from './servers.ts'

it('node/serving/servers: closes all servers at once, so that slow callers of several delay it no longer than those of one', async () => {
  const clock = createManualClock()
  const asked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let calls = 0
  const slow = (): Promise<Page> => {
    asked[calls++]?.resolve()
    return new Promise(() => {})
  }
  const health = new Map([['/slow', slow]])
  const parts = { rollup: {} as never, eth: undefined, metrics: rpcMetrics.register(new Registry()), metricsPages: new Map() }
  const anyPort = { host: '127.0.0.1', port: 0 }
  const servers = await startServers({ log: silentLog, clock, health, ...parts }, { rollup: anyPort, metrics: anyPort })
  const clients = Object.values(servers.urls).map((url) => {
    const client = connect(Number(new URL(url).port), '127.0.0.1')
    client.on('error', () => {}).write('GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n')
    return client
  })
  expect(clients).toHaveLength(2)
  await Promise.all(asked.map(({ promise }) => promise))
  let isClosed = false
  const closing = servers[Symbol.asyncDispose]().then(() => {
    isClosed = true
  })
  await settle()
  expect(isClosed).toBe(false)
  await clock.advanceMs(5_000)
  await closing
  for (const client of clients) client.destroy()
})

it('node/serving/servers: limits public servers to their namespaces and one rate limit per client; the local socket has all methods', async () => {
  const { cancellation: _cancellation, ...context } = fakeContext(fakeChain([[], [[]]]))
  const clock = createManualClock()
  const path = join(mkdtempSync(join(tmpdir(), 'basalt-servers-')), 'ipc')
  const eth = { context, heads: scriptedFeed() }
  const parts = { rollup: undefined, eth, metrics: rpcMetrics.register(new Registry()), metricsPages: new Map(), health: new Map() }
  const rateLimit = sharedRateLimit({ rate: { unitsPerSec: 1, burstUnits: 3 }, keys: [], trustedProxies: [] })
  const shown = { host: '127.0.0.1', port: 0, api: ['net', 'rpc'], rateLimit }
  await using servers = await startServers({ log: silentLog, clock, ...parts }, { http: shown, ws: shown, ipc: { path } })
  const { http = '', ws = '', ipc } = servers.urls
  const ask = async (method: string): Promise<unknown> => {
    const answer = await fetch(http, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method }) })
    return [answer.status, await answer.json()]
  }
  expect(await ask('eth_chainId')).toMatchObject([200, { error: { code: -32601 } }])
  expect(await ask('rpc_modules')).toMatchObject([200, { result: { net: '1.0', rpc: '1.0' } }])
  servers.setApiKeys([{ key: 'alice-123', unitsPerSec: 5, burstUnits: 50 }])
  for (let each = 0; each < 5; each++) {
    const answer = await fetch(`${http}/alice-123`, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'net_version' }),
    })
    expect(answer.status).toBe(200)
  }
  await using client = await openSocket(ws)
  expect(await client.call('net_version')).toMatchObject({ result: '8453' })
  expect(await client.call('net_version')).toMatchObject({ error: { code: -32016 } })
  expect(await ask('net_version')).toMatchObject([429, { error: { code: -32016 } }])
  expect(ipc).toBe(path)
  const local = connect(path)
  local.write('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}')
  const [answer] = (await once(local, 'data')) as [Buffer]
  expect(JSON.parse(answer.toString())).toMatchObject({ result: '0x2105' })
  local.destroy()
})

it('node/serving/servers: the metrics port has the local page and the methods that it calls, or none of them', async () => {
  const { cancellation: _cancellation, ...context } = fakeContext(fakeChain([[], [[]]]))
  const eth = { context, heads: scriptedFeed() }
  const parts = { rollup: undefined, eth, metrics: rpcMetrics.register(new Registry()), metricsPages: new Map(), health: new Map() }
  const localPages = new Map([['/', (): Page => ({ status: 200, content: '<p>', type: 'text/html', headers: { 'x-a': 'b' } })]])
  const listen = { metrics: { host: '127.0.0.1', port: 0 } }
  const clock = createManualClock()
  await using withPage = await startServers({ log: silentLog, clock, ...parts, localPages }, listen)
  await using without = await startServers({ log: silentLog, clock, ...parts }, listen)
  const codeOf = async ({ urls }: typeof withPage, method: string, params: readonly unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer = (await (await fetch(urls.metrics ?? '', { method: 'POST', body })).json()) as { error?: { code: number } }
    return answer.error?.code
  }
  const page = await fetch(withPage.urls.metrics ?? '')
  expect([page.status, page.headers.get('content-type'), page.headers.get('x-a'), await page.text()]).toEqual([
    200,
    'text/html',
    'b',
    '<p>',
  ])
  expect((await fetch(without.urls.metrics ?? '')).status).toBe(405)
  expect(await codeOf(withPage, 'eth_getBlockByNumber', ['latest', false])).toBeUndefined()
  expect(await codeOf(withPage, 'eth_sendRawTransaction', ['0x'])).toBe(-32_601)
  expect(await codeOf(without, 'eth_getBlockByNumber', ['latest', false])).toBe(-32_601)
})
