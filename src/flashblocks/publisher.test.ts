import { connect, type Socket } from 'node:net'
import { Registry } from 'prom-client'
import { expect, it, vi } from 'vitest'
import { type Clock, systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { hashOf } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { openSocket } from '#test/harness/process/socketClient'
import type { BuiltFlashblock } from '#types/flashblock'
import { parseAddress, zeroHash } from '#types/ids'
import { createReceipt } from '#types/receipt'
import { decodeMessage } from './decode.ts'
import { encodeMessage, maxMetadataBytes } from './encode.ts'
import { publisherMetrics } from './metrics.ts'
import { createPublisher, type PublisherOptions } from './publisher.ts'

const account = parseAddress(`0x${'42'.repeat(20)}`)

const outcome = {
  stateRoot: zeroHash,
  receiptsRoot: hashOf('receipts'),
  logsBloom: new Uint8Array(256),
  gasUsed: 21_000n,
  withdrawalsRoot: hashOf('withdrawals'),
  blobGasUsed: 0n,
}

const handshake = `GET / HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: ${'A'.repeat(22)}==\r\nsec-websocket-version: 13\r\n\r\n`

/** Flashblock `index` of a build, with a transaction of the given number of bytes. */
const flashblock = (index: number, payload = 'a', bytes = 3): BuiltFlashblock => ({
  payloadId: `0x03${payload.repeat(14)}`,
  blockNumber: 7,
  index,
  ...(index === 0 && {
    base: {
      parentHash: hashOf('parent'),
      parentBeaconBlockRoot: hashOf('beacon'),
      feeRecipient: account,
      prevRandao: hashOf('randao'),
      gasLimit: 30_000_000n,
      timestamp: 1_700_000_000,
      extraData: Uint8Array.of(1, 2),
      baseFee: 7n,
    },
  }),
  transactions: [new Uint8Array(bytes).fill(index + 1)],
  outcome,
  blockHash: hashOf('block'),
  receipts: [
    {
      hash: hashOf('transaction'),
      receipt: createReceipt({
        ...{ type: 2, succeeded: true, cumulativeGasUsed: 21_000n },
        logs: [{ address: account, topics: [hashOf('topic')], data: Uint8Array.of(9) }],
      }),
    },
  ],
  balances: [{ address: account, balanceWei: 5n }],
})

async function start(options: Partial<PublisherOptions> = {}, clock: Clock = systemClock) {
  const registry = new Registry()
  const metrics = publisherMetrics.register(registry)
  const publisher = await createPublisher({ clock, log: silentLog, metrics }, { host: '127.0.0.1', port: 0, ...options })
  const counted = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values.map(({ value }) => value)
  const dropped = async (why: string) =>
    (await registry.getSingleMetric('basalt_flashblocks_dropped_clients_total')?.get())?.values.find(
      ({ labels }) => labels['reason'] === why,
    )?.value
  return { publisher, counted, dropped, [Symbol.asyncDispose]: () => publisher[Symbol.asyncDispose]() }
}

const indexes = (messages: readonly unknown[]) => messages.map((message) => (message as { index: number }).index)

it('flashblocks/encode: writes a message that decodes to the same flashblock', () => {
  const { blockHash: _hash, receipts: _receipts, balances: _balances, ...plain } = flashblock(0)
  expect(decodeMessage(Buffer.from(encodeMessage(flashblock(0))))).toEqual({ kind: 'flashblock', flashblock: plain })
})

it('flashblocks/encode: writes receipts and balances into the metadata as publishers of Base do', () => {
  const { metadata, diff } = JSON.parse(encodeMessage(flashblock(1)))
  expect(diff.block_hash).toBe(hashOf('block'))
  expect(metadata).toEqual({
    access_list: null,
    block_number: 7,
    new_account_balances: { [account]: '0x5' },
    receipts: {
      [hashOf('transaction')]: {
        cumulativeGasUsed: '0x5208',
        logs: [{ address: account, data: '0x09', topics: [hashOf('topic')] }],
        status: '0x1',
        type: '0x2',
      },
    },
  })
})

it('flashblocks/encode: leaves out receipts and balances that are larger than 4 MB, so that followers take the message', () => {
  const withData = (bytes: number): BuiltFlashblock => {
    const logs = [{ address: account, topics: [], data: new Uint8Array(bytes) }]
    const receipt = createReceipt({ type: 2, succeeded: true, cumulativeGasUsed: 21_000n, logs })
    return { ...flashblock(0), receipts: [{ hash: hashOf('transaction'), receipt }] }
  }
  const half = maxMetadataBytes / 2
  const { metadata } = JSON.parse(encodeMessage(withData(half - 1_000)))
  expect(metadata.receipts[hashOf('transaction')].logs[0].data).toHaveLength(2 + 2 * (half - 1_000))
  expect(JSON.parse(encodeMessage(withData(half))).metadata).toEqual({ access_list: null, block_number: 7 })
  const { blockHash: _hash, receipts: _receipts, balances: _balances, ...plain } = flashblock(0)
  expect(decodeMessage(Buffer.from(encodeMessage(withData(half))))).toEqual({ kind: 'flashblock', flashblock: plain })
})

it('flashblocks/publisher: sends each flashblock to each client, and the block from its first flashblock to a late one', async () => {
  await using world = await start()
  await using early = await openSocket(`${world.publisher.url}/any/path`)
  for (const index of [0, 1]) world.publisher.publish(flashblock(index))
  await using late = await openSocket(world.publisher.url)
  world.publisher.publish(flashblock(2))
  const three = async (client: typeof early) => [await client.next(), await client.next(), await client.next()]
  expect(indexes(await three(early))).toEqual([0, 1, 2])
  expect(indexes(await three(late))).toEqual([0, 1, 2])
  expect(await world.counted('basalt_flashblocks_published_total')).toEqual([3])
})

it('flashblocks/publisher: sends a late client nothing of a build that another one replaced', async () => {
  await using world = await start()
  for (const index of [0, 1, 2]) world.publisher.publish(flashblock(index))
  world.publisher.publish(flashblock(0, 'b'))
  await using late = await openSocket(world.publisher.url)
  expect(await late.next()).toMatchObject({ payload_id: `0x03${'b'.repeat(14)}`, index: 0 })
  expect(late.waiting).toEqual([])
})

it('flashblocks/publisher: disconnects and counts a client that does not read; other clients are not affected', async () => {
  await using world = await start({ maxUnreadBytes: 1_000_000 })
  const { hostname, port } = new URL(world.publisher.url)
  const slow = connect(Number(port), hostname)
  slow.write(handshake)
  await new Promise((resolve) => slow.once('readable', resolve))
  await using reading = await openSocket(world.publisher.url)
  const ended = new Promise((resolve) => slow.once('close', resolve))
  slow.on('error', () => {})
  const count = 30
  for (let index = 0; index < count; index++) {
    world.publisher.publish(flashblock(index, 'a', 400_000))
    expect(await reading.next()).toMatchObject({ index })
  }
  slow.resume()
  await ended
  expect([await world.dropped('slow'), await world.dropped('no-pong')]).toEqual([1, 0])
})

it('flashblocks/publisher: keeps a client that reads, also when one message is larger than the bound of unread bytes', async () => {
  await using world = await start({ maxUnreadBytes: 1_000_000 })
  await using reading = await openSocket(world.publisher.url)
  for (const index of [0, 1]) {
    world.publisher.publish(flashblock(index, 'a', 6_000_000))
    expect(await reading.next()).toMatchObject({ index })
  }
  expect(await world.dropped('slow')).toBe(0)
})

it('flashblocks/publisher: sends a late client a block that is larger than the bound of unread bytes, then what follows', async () => {
  await using world = await start({ maxUnreadBytes: 1_000_000 })
  for (const index of [0, 1]) world.publisher.publish(flashblock(index, 'a', 6_000_000))
  await using late = await openSocket(world.publisher.url)
  world.publisher.publish(flashblock(2))
  for (const index of [0, 1, 2]) expect(await late.next()).toMatchObject({ index })
  world.publisher.publish(flashblock(3))
  expect(await late.next()).toMatchObject({ index: 3 })
  expect(await world.dropped('slow')).toBe(0)
})

it('flashblocks/publisher: sends a late client that reads slowly the next block instead of the rest of a replaced one', async () => {
  await using world = await start()
  for (let index = 0; index < 12; index++) world.publisher.publish(flashblock(index, 'a', 1_000_000))
  await using late = await openSocket(world.publisher.url)
  late.socket.pause()
  for (const index of [0, 1]) world.publisher.publish(flashblock(index, 'b'))
  late.socket.resume()
  const seen = [await late.next()]
  while (seen.at(-1)?.['payload_id'] !== `0x03${'b'.repeat(14)}`) seen.push(await late.next())
  expect(indexes(seen)).toEqual([...seen.slice(1).keys(), 0])
  expect(seen.length).toBeLessThan(13)
  expect(await late.next()).toMatchObject({ index: 1 })
})

it('flashblocks/publisher: refuses clients beyond its limit with close code 1013', async () => {
  await using world = await start({ maxClients: 1 })
  await using first = await openSocket(world.publisher.url)
  await using second = await openSocket(world.publisher.url)
  expect(await second.closed).toEqual({ code: 1013, reason: 'too many connections' })
  world.publisher.publish(flashblock(0))
  expect(await first.next()).toMatchObject({ index: 0 })
})

/** Opens a TCP connection and sends `text`. @param from one of the loopback addresses */
function openRaw(url: string, text: string, from = '127.0.0.1') {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, localAddress: from })
  socket.on('error', () => {})
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.write(text)
  return { socket, ended, [Symbol.dispose]: () => socket.destroy() }
}
const readable = ({ socket }: { readonly socket: Socket }) => new Promise<void>((resolve) => socket.once('readable', resolve))

it('flashblocks/publisher: ends a connection that leaves a ping unanswered until the next, and keeps a connection that answers', async () => {
  const clock = createManualClock()
  await using world = await start({}, clock)
  await using answers = await openSocket(world.publisher.url)
  using silent = openRaw(world.publisher.url, handshake)
  await readable(silent)
  silent.socket.resume()
  const pinged = new Promise((resolve) => answers.socket.once('ping', resolve))
  await clock.advanceMs(15_000)
  await pinged
  answers.socket.ping('mine')
  // answers come in order: the pong to the publisher's ping was read before this one was sent
  await new Promise((resolve) => answers.socket.once('pong', resolve))
  await clock.advanceMs(15_000)
  await silent.ended
  world.publisher.publish(flashblock(0))
  expect(await answers.next()).toMatchObject({ index: 0 })
  expect(await world.dropped('no-pong')).toBe(1)
})

it.each([
  ['nothing', ''],
  ['half a handshake', handshake.slice(0, 40)],
])('flashblocks/publisher: ends a connection that sends %s after five seconds', async (_case, text) => {
  const clock = createManualClock()
  await using world = await start({}, clock)
  using slow = openRaw(world.publisher.url, text)
  await vi.waitFor(() => expect(clock.waiting).toBe(2))
  await clock.advanceMs(5_000)
  slow.socket.resume()
  await slow.ended
  expect(await world.dropped('handshake')).toBe(1)
})

it('flashblocks/publisher: ends a refused connection that stays open after five seconds', async () => {
  const clock = createManualClock()
  await using world = await start({ maxClients: 1 }, clock)
  await using _first = await openSocket(world.publisher.url)
  using refused = openRaw(world.publisher.url, handshake)
  await readable(refused)
  await clock.advanceMs(5_000)
  refused.socket.resume()
  await refused.ended
  expect([await world.dropped('address'), await world.dropped('handshake')]).toEqual([1, 0])
})

it('flashblocks/publisher: gives one address half of the seats, and evicts its oldest connection for another address', async () => {
  const clock = createManualClock()
  await using world = await start({ maxClients: 4 }, clock)
  const hostile: ReturnType<typeof openRaw>[] = []
  try {
    for (const from of ['127.0.0.2', '127.0.0.2', '127.0.0.3', '127.0.0.3']) {
      const one = openRaw(world.publisher.url, handshake, from)
      await readable(one)
      hostile.push(one)
    }
    await using other = await openSocket(world.publisher.url)
    hostile[0]?.socket.resume()
    await hostile[0]?.ended
    world.publisher.publish(flashblock(0))
    expect(await other.next()).toMatchObject({ index: 0 })
    using third = openRaw(world.publisher.url, handshake, '127.0.0.3')
    await readable(third)
    third.socket.resume()
    await clock.advanceMs(5_000)
    await third.ended
    expect([await world.dropped('evicted'), await world.dropped('address')]).toEqual([1, 1])
  } finally {
    for (const { socket } of hostile) socket.destroy()
  }
})

it('flashblocks/publisher: keeps room for a subscriber when five addresses open 33 connections each without a handshake', async () => {
  await using world = await start()
  const open: ReturnType<typeof openRaw>[] = []
  try {
    for (let i = 0; i < 165; i++) open.push(openRaw(world.publisher.url, '', `127.0.0.${2 + (i % 5)}`))
    await Promise.all(open.map(({ socket }) => (socket.connecting ? new Promise((resolve) => socket.once('connect', resolve)) : undefined)))
    await using subscriber = await openSocket(world.publisher.url)
    world.publisher.publish(flashblock(0))
    expect(await subscriber.next()).toMatchObject({ index: 0 })
  } finally {
    for (const { socket } of open) socket.destroy()
  }
})

it('flashblocks/publisher: leaves pings unanswered when a client leaves pongs unread', async () => {
  await using world = await start()
  using loud = openRaw(world.publisher.url, handshake)
  await readable(loud)
  // masked with zeros: 125 bytes of ping
  const ping = Buffer.concat([Buffer.of(0x89, 0x80 | 125, 0, 0, 0, 0), Buffer.alloc(125)])
  const many = Buffer.concat(new Array<Buffer>(8_000).fill(ping))
  const before = process.memoryUsage().arrayBuffers
  for (let round = 0; round < 30; round++) {
    if (!loud.socket.write(many)) await new Promise((resolve) => loud.socket.once('drain', resolve))
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000)
})

it('flashblocks/publisher: ignores messages of a client, and ends the connection at a large one', async () => {
  await using world = await start()
  await using loud = await openSocket(world.publisher.url)
  loud.socket.send('x'.repeat(2_000))
  expect((await loud.closed).code).toBe(1009)
})

it('flashblocks/publisher: names the flag when the port is in use; answers a plain request with 426', async () => {
  await using world = await start()
  const { port } = new URL(world.publisher.url)
  await expect(start({ port: Number(port) })).rejects.toMatchObject({
    code: 'PORT_IN_USE',
    message: expect.stringContaining('--flashblocks.port'),
  })
  expect((await fetch(world.publisher.url.replace('ws', 'http'))).status).toBe(426)
})
