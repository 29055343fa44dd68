import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import type { CallContext } from '../context.ts'
import { createRegistry, methodsOf } from '../registry.ts'
import { createRpcServer, type RpcServer } from './httpServer.ts'

const registry = createRegistry<CallContext>([
  methodsOf<CallContext>()({
    ...{ name: 'test_seven', doc: 'Test.', params: [], cost: 'instant', example: { params: [] } },
    result: { doc: 'seven', encode: (value: number) => value },
    run: () => 7,
  }),
])
const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'test_seven' })
const page = { origin: 'http://localhost:3000' }

function serve(): Promise<RpcServer> {
  const deps = {
    registry,
    contextOf: (cancellation: CallContext['cancellation']) => ({ cancellation }),
    pages: new Map(),
    log: silentLog,
    clock: systemClock,
  }
  return createRpcServer(deps, { host: '127.0.0.1', port: 0, flag: 'http.port', cors: '*' })
}
const post = (server: RpcServer, body: string, type = 'application/json') =>
  fetch(server.url, { method: 'POST', body, headers: { ...page, 'content-type': type } })

it('rpc/server/pages: with cors, answers preflight and actual requests of pages, errors included', async () => {
  await using server = await serve()
  const page = { origin: 'http://localhost:3000' }
  const asked = { ...page, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }
  const first = await fetch(server.url, { method: 'OPTIONS', headers: asked })
  expect([first.status, await first.text()]).toEqual([204, ''])
  const granted = (name: string) => first.headers.get(`access-control-allow-${name}`)
  expect([granted('origin'), granted('methods'), granted('headers')]).toEqual(['*', 'POST, GET', '*, authorization'])
  const answer = await post(server, call)
  expect([answer.headers.get('access-control-allow-origin'), await answer.json()]).toEqual(['*', { jsonrpc: '2.0', id: 1, result: 7 }])
  const refused = await post(server, '{')
  expect(refused.headers.get('access-control-allow-origin')).toBe('*')
  expect((await post(server, '{}', 'text/plain')).status).toBe(415)
})

it('rpc/server/pages: cors does not admit foreign host names (DNS rebinding)', async () => {
  await using server = await serve()
  const status = await new Promise<string>((resolve) => {
    const client = connect(server.port, '127.0.0.1')
    client.once('data', (data) => {
      resolve(data.toString().split('\r\n')[0] ?? '')
      client.destroy()
    })
    client.write('OPTIONS / HTTP/1.1\r\nhost: evil.example\r\norigin: http://evil.example\r\n\r\n')
  })
  expect(status).toContain('403')
})
