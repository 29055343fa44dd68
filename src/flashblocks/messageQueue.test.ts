import { expect, it } from 'vitest'
import { settle } from '#test/harness/clock'
import { type DecodedMessage, maxMessageBytes } from './decode.ts'
import { MessageQueue } from './messageQueue.ts'

const badWith = (text: string): DecodedMessage => ({ kind: 'bad', reason: 'json', text })

/** Several queues over one decoder, which decodes in the order of calls when `next` is called. */
function open(count: number) {
  const calls: { readonly name: string; readonly answer: PromiseWithResolvers<DecodedMessage> }[] = []
  const results: string[] = []
  const queues = Array.from(
    { length: count },
    (_, number) =>
      new MessageQueue({
        decode: (message) => {
          const answer = Promise.withResolvers<DecodedMessage>()
          calls.push({ name: `${number}:${message[0]}`, answer })
          return answer.promise
        },
        onDecoded: (decoded) => results.push(decoded.kind === 'bad' ? decoded.text : 'flashblock'),
        onFailure: (error) => results.push(`failed ${(error as Error).message}`),
      }),
  )
  const next = async (): Promise<void> => {
    const { name, answer } = calls.shift() ?? expect.fail()
    if (name.endsWith('99')) answer.reject(new Error(name))
    else answer.resolve(badWith(name))
    await settle()
  }
  return { queues, calls, results, next }
}

it('flashblocks/messageQueue: has one message in the decoder at a time, so two upstreams take turns', async () => {
  const { queues, results, calls, next } = open(2)
  const [one, other] = [queues[0] ?? expect.fail(), queues[1] ?? expect.fail()]
  for (const byte of [1, 2, 3]) one.add(Uint8Array.of(byte))
  other.add(Uint8Array.of(1))
  expect(calls).toHaveLength(2)
  for (let i = 0; i < 4; i++) await next()
  expect(results).toEqual(['0:1', '1:1', '0:2', '0:3'])
})

it('flashblocks/messageQueue: continues after a message that the decoder failed on', async () => {
  const { queues, results, next } = open(1)
  for (const byte of [1, 99, 3]) queues[0]?.add(Uint8Array.of(byte))
  for (let i = 0; i < 3; i++) await next()
  expect(results).toEqual(['0:1', 'failed 0:99', '0:3'])
})

it('flashblocks/messageQueue: is full at 16 MB or at 4,096 small messages, and not full after messages were decoded or dropped', async () => {
  const { queues, calls, results, next } = open(1)
  const queue = queues[0] ?? expect.fail()
  queue.add(Uint8Array.of(1))
  queue.add(new Uint8Array(maxMessageBytes).fill(2))
  expect(queue.isFull).toBe(true)
  await next()
  expect(queue.isFull).toBe(false)
  for (let i = 0; i < 4_096; i++) queue.add(Uint8Array.of(3))
  expect(queue.isFull).toBe(true)
  queue.clear()
  expect(queue.isFull).toBe(false)
  await next()
  expect([calls, results]).toEqual([[], ['0:1', '0:2']])
})
