import { connect } from 'node:net'
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import type { Page } from '#rpc/healthPages'
import { rpcMetrics } from '#rpc/metrics'
import { createManualClock, settle } from '#test/harness/clock'
import { startServers } from './servers.ts'

it('node/servers: all close at once: callers of several that do not end hold up no longer than those of one', async () => {
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
