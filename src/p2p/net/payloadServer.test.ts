import type { Stream } from '@libp2p/interface'
import { expect, it } from 'vitest'
import { createManualClock, settle } from '#test/harness/clock'
import { configNow } from '#test/harness/p2p/chain'
import { encodeFailure, encodeRequest } from '../protocol/payloadRequest.ts'
import { PayloadServer } from './payloadServer.ts'
import { PeerCounts } from './peerEvents.ts'

const config = configNow(100, 1_700_000_000_000)

/** Stream of a peer, with the bytes that the server sends on it. */
class TestStream extends EventTarget {
  readonly status = 'open'
  readonly readableEnded = false
  readonly sent: Uint8Array[] = []
  isAborted = false
  send(bytes: Uint8Array): void {
    this.sent.push(bytes)
  }
  async close(): Promise<void> {}
  abort(): void {
    this.isAborted = true
  }
  request(number: number): void {
    this.dispatchEvent(Object.assign(new Event('message'), { data: encodeRequest(number) }))
  }
}

function opened() {
  const clock = createManualClock()
  const counts = new PeerCounts()
  const server = new PayloadServer({ clock, counts, canonical: async () => undefined }, config)
  const open = (peer: string) => {
    const stream = new TestStream()
    const handled = server.handle(stream as unknown as Stream, { remotePeer: { toString: () => peer } } as never)
    return { stream, handled }
  }
  return { counts, open }
}

it('p2p/net/payloadServer: one peer leaves places to other ones', async () => {
  const { counts, open } = opened()
  const flood = Array.from({ length: 40 }, () => open('flooding'))
  const taken = flood.filter(({ stream }) => !stream.isAborted)
  expect([taken.length, counts.take().served]).toEqual([12, { throttled: 28 }])
  const { stream, handled } = open('other')
  stream.request(90)
  await handled
  expect(stream.sent).toEqual([encodeFailure('notFound')])
  for (const one of taken) one.stream.request(90)
  await Promise.all(flood.map((one) => one.handled))
  const again = open('flooding')
  again.stream.request(90)
  await again.handled
  expect(again.stream.sent).toEqual([encodeFailure('notFound')])
})

it('p2p/net/payloadServer: a request that waits for its turn ends with its stream', async () => {
  const { counts, open } = opened()
  const request = (): ReturnType<typeof open> => {
    const one = open('peer')
    one.stream.request(90)
    return one
  }
  // the burst of one peer
  for (let i = 0; i < 15; i++) await request().handled
  const waiting = request()
  await settle()
  expect(waiting.stream.sent).toEqual([])
  counts.take()
  waiting.stream.dispatchEvent(new Event('close'))
  await waiting.handled
  expect(counts.take().served).toEqual({ failed: 1 })
})
