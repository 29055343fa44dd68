import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { expect, it, vi } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { parseEndpoint } from '#lib/endpoint'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { flashblockAt, messageOf } from '#test/harness/flashblocks/messages'
import { decodeMessage, type FeedMessage, maxMessageBytes } from './decode.ts'
import { flashblocksMetrics } from './metrics.ts'
import { createUpstream } from './upstream.ts'

const backoff = { baseMs: 1_000, maxMs: 10_000, jitter: 0 }

it('flashblocks/upstream: stops reading a publisher that sends faster than the decoder, and loses no message', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const flashblocks: FeedMessage[] = []
  const stuck = Promise.withResolvers<void>()
  using _upstream = createUpstream(
    {
      ...{ clock: createManualClock(), random: () => 0, log: silentLog, metrics: flashblocksMetrics.register(new Registry()) },
      decoder: { decode: async (message) => stuck.promise.then(() => decodeMessage(message)) },
      onFlashblock: (flashblock) => void flashblocks.push(flashblock),
      onChange() {},
    },
    {
      endpoint: parseEndpoint(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, ['ws:']) ?? expect.fail(),
      ...{ connectTimeoutMs: 10_000, pingMs: 1_500, idleMs: 10_000, backoff, maxFaults: 8 },
    },
  )
  try {
    const [client] = (await once(server, 'connection')) as [WebSocket]
    const count = 40
    const padding = ' '.repeat(1_000_000)
    for (let index = 1; index <= count; index++) client.send(padding + messageOf(flashblockAt(11, index)))
    let leftBytes = client.bufferedAmount
    await vi.waitFor(
      () => {
        const before = leftBytes
        leftBytes = client.bufferedAmount
        expect(leftBytes).toBe(before)
      },
      { timeout: 10_000, interval: 100 },
    )
    // the rest is in the buffers of two sockets
    expect(leftBytes).toBeGreaterThan(count * 1_000_000 - maxMessageBytes - 20_000_000)
    stuck.resolve()
    await vi.waitFor(() => expect(flashblocks).toHaveLength(count), { timeout: 20_000, interval: 20 })
    expect(flashblocks.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, i) => i + 1))
  } finally {
    for (const client of server.clients) client.terminate()
    server.close()
  }
})
