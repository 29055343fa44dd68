import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { createManualClock } from '#test/harness/clock'
import { l2Metrics } from './metrics.ts'
import { createSocketRpc } from './socketRpc.ts'

const { signal } = new AbortController()
const calls = [{ method: 'eth_chainId', params: [] }]

/** Server that passes each connection to the test, and a client of it. */
async function connected() {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const clock = createManualClock()
  const metrics = l2Metrics.register(new Registry())
  const limits = { timeoutMs: 1_000, maxBodyBytes: 10_000, maxConcurrent: 4 }
  const rpc = createSocketRpc({ clock, metrics }, limits, { url: `ws://127.0.0.1:${port}`, headers: {}, name: 'node' })
  const accept = async (): Promise<WebSocket> => (await once(server, 'connection'))[0] as WebSocket
  return {
    ...{ rpc, clock, accept },
    [Symbol.asyncDispose]: async () => {
      rpc[Symbol.dispose]()
      for (const client of server.clients) client.terminate()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Returns the id of the next call. */
const nextCall = async (socket: WebSocket): Promise<number> => {
  const [data] = (await once(socket, 'message')) as [Buffer]
  return (JSON.parse(data.toString()) as { id: number }).id
}
const answer = (socket: WebSocket, id: number): void => socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }))

it('l2/socketRpc: drops a silent connection, and opens a new one for the next call (SOURCE_UNREACHABLE)', async () => {
  await using node = await connected()
  const [first, lost] = [node.accept(), node.rpc.call(calls, signal).catch((error: unknown) => error)]
  await nextCall(await first)
  await node.clock.advanceMs(1_000)
  expect(await lost).toMatchObject({ code: 'SOURCE_UNREACHABLE', data: { reason: 'no answer within 1 s' } })
  const [second, found] = [node.accept(), node.rpc.call(calls, signal)]
  const socket = await second
  answer(socket, await nextCall(socket))
  expect(await found).toEqual(['0x1'])
})

it('l2/socketRpc: a late answer does not drop a connection that receives other answers', async () => {
  await using node = await connected()
  const [first, late] = [node.accept(), node.rpc.call(calls, signal).catch((error: unknown) => error)]
  const socket = await first
  await nextCall(socket)
  await node.clock.advanceMs(600)
  const other = node.rpc.call(calls, signal)
  answer(socket, await nextCall(socket))
  expect(await other).toEqual(['0x1'])
  await node.clock.advanceMs(400)
  expect(await late).toMatchObject({ code: 'SOURCE_UNREACHABLE' })
  const again = node.rpc.call(calls, signal)
  answer(socket, await nextCall(socket))
  expect(await again).toEqual(['0x1'])
})
