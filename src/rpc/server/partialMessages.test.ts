import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { openSocket } from '#test/harness/process/socketClient'
import { fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import type { SocketContext } from '../context.ts'
import { socketRegistry } from '../methods.ts'
import { rpcMetrics } from '../metrics.ts'
import { createWsServer } from './wsServer.ts'

/** A connection that announces a message of 10 MB and sends only its beginning. */
async function begin(port: number, bytes: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.write(
    'GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n',
  )
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1.1 101 /)
  const head = Buffer.alloc(14)
  head.set([0x81, 0xff])
  head.writeBigUInt64BE(10_000_000n, 2)
  socket.write(head)
  socket.write(Buffer.alloc(bytes))
  return socket
}

it('rpc/server/partialMessages: ends the connection that holds most when incomplete messages exceed the bound', async () => {
  const eth = fakeContext(fakeChain([[], [[]]]))
  await using server = await createWsServer<SocketContext>(
    {
      ...{ registry: socketRegistry, heads: scriptedFeed(), log: silentLog, clock: systemClock },
      contextOf: (cancellation, subscriptions) => ({ ...eth, cancellation, subscriptions }),
      metrics: rpcMetrics.register(new Registry()),
    },
    { host: '127.0.0.1', port: 0, flag: 'ws.port', limits: { maxHeldBytes: 1_000_000 } },
  )
  await using client = await openSocket(server.url)
  const [small, large] = [await begin(server.port, 300_000), await begin(server.port, 600_000)]
  const ended = once(large, 'close')
  const late = await begin(server.port, 300_000)
  await ended
  expect([small.destroyed, late.destroyed]).toEqual([false, false])
  for (let each = 0; each < 30; each++) expect(await client.call('web3_sha3', `0x${'00'.repeat(50_000)}`)).toHaveProperty('result')
  for (const socket of [small, late]) socket.destroy()
})
