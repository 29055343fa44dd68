import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import { encodeRlp, rlpScalar } from '#lib/rlp'
import { attack } from '#test/harness/executionPeers/attacker'
import { fast, filledChain, readGap, startTestNode, type TestNode, until, viewOf } from '#test/harness/executionPeers/nodes'
import { configNow } from '#test/harness/p2p/chain'
import { parseHash } from '#types/ids'
import type { Payload } from '#types/payload'
import { rangeOf, readBodies, readHeaders } from './chainReads.ts'
import { encodeGetHeaders, encodeHashes, encodeResponse, ethMessage } from './eth/messages.ts'
import { parseNode } from './net/nodeId.ts'

const config = configNow(5_000, Date.now())
const chain = filledChain(config, 1, 600)
const at = (number: number): Payload => chain[number - 1] ?? expect.fail(`no block ${number}`)
const view = viewOf(config, chain)
const elapsedMs = () => systemClock.elapsedMs()

const other = parseHash(`0x${'22'.repeat(32)}`)

it.each([
  ['network', { networkId: 1 }],
  ['genesis', { genesis: other }],
  ['fork id', { forkId: { hash: '0x12345678', next: 0 } }],
] as const)('executionPeers: ends the connection with a peer of another %s', async (_, more) => {
  await using victim = await startTestNode(config, () => chain)
  for (const version of [68, 69] as const) {
    const peer = await attack(victim.enode, config, { version, more })
    expect(await peer.ended).toMatchObject({ reason: 'useless_peer', by: 'peer' })
  }
  expect(victim.node.peers.ready()).toEqual([])
})

/** Starts a victim with an honest peer and a liar, both dialled. */
async function withLiar(
  floor: number,
  lies: Parameters<typeof startTestNode>[4],
): Promise<AsyncDisposable & { readonly victim: TestNode; readonly liar: string }> {
  await using parts = new AsyncDisposableStack()
  const liar = parts.use(await startTestNode(config, () => chain, {}, systemClock, lies))
  const honest = parts.use(await startTestNode(config, () => chain))
  const victim = parts.use(await startTestNode(config, () => chain.slice(0, floor), { staticPeers: [liar.enode, honest.enode] }))
  await until(() => victim.node.peers.ready().length === 2, 'two peers')
  const kept = parts.move()
  return { victim, liar: parseNode(liar.enode).id, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

const foreign = async () => readHeaders(view, { origin: 9, amount: 5, skip: 0, isReverse: false }, elapsedMs)
const endless = async () => readHeaders(view, { origin: 590, amount: 96, skip: 0, isReverse: true }, elapsedMs)

it.each([
  ['bodies of other blocks', 50, { bodies: async () => readBodies(view, [at(7).blockHash, at(8).blockHash], elapsedMs) }],
  ['bodies that are no lists', 50, { bodies: async () => ({ items: [Uint8Array.of(1), Uint8Array.of(2)], ms: 0 }) }],
  ['bodies with ommers', 50, { bodies: async () => ({ items: [Uint8Array.of(0xc3, 0xc0, 0xc1, 0xc0)], ms: 0 }) }],
  ['headers of other blocks', 50, { headers: foreign }],
  ['more headers than requested', 580, { headers: endless }],
  ['headers that are no lists', 50, { headers: async () => ({ items: [Uint8Array.of(1)], ms: 0 }) }],
])(
  'executionPeers: fills a gap from an honest peer and bans the one that returns %s',
  async (_, floor, lies) => {
    await using scene = await withLiar(floor, lies)
    const { victim, liar } = scene
    for (let i = 0; i < 8 && victim.node.peers.ready().length === 2; i++) {
      const opened = await victim.node.openGap(i, { number: 590, hash: at(590).blockHash }, floor, 10)
      if (opened.kind !== 'opened') throw new Error(opened.kind)
      expect(await readGap(victim.node, i)).toEqual(chain.slice(floor, 590))
      victim.node.closeGap(i)
    }
    expect(victim.node.peers.ready().map(({ id }) => id)).not.toContain(liar)
  },
  60_000,
)

it('executionPeers: a gap fails when no peer has its blocks', async () => {
  await using empty = await startTestNode(config, () => chain.slice(0, 20))
  await using victim = await startTestNode(config, () => chain.slice(0, 10), { staticPeers: [empty.enode] }, fast(10))
  await until(() => victim.node.peers.ready().length === 1)
  expect(await victim.node.openGap(1, { number: 590, hash: at(590).blockHash }, 10, 5)).toEqual({ kind: 'unavailable' })
}, 30_000)

it('executionPeers: ends the connection when a message that answers no request is larger than a mebibyte, by its header alone', async () => {
  await using victim = await startTestNode(config, () => chain)
  const peer = await attack(victim.enode, config)
  await peer.status
  peer.send(2, new Uint8Array(randomBytes(3 * 2 ** 20)))
  expect(await peer.ended).toMatchObject({ by: 'peer', reason: 'protocol_error' })
})

const [zero, one] = [rlpScalar(0), rlpScalar(1)]
const rangeFields = [one, one, fromHex(other)]
const manyItems = new Array<Uint8Array>(10_000).fill(zero)

it.each([
  ['a message that declares more than ten mebibytes', ethMessage.getBlockHeaders, new Uint8Array(10 * 2 ** 20 + 1)],
  ['a range with ten thousand further fields', ethMessage.blockRangeUpdate, encodeRlp([...rangeFields, ...manyItems])],
  [
    'a request for headers with ten thousand further fields',
    ethMessage.getBlockHeaders,
    encodeRlp([one, [one, one, one, zero], ...manyItems]),
  ],
  ['a message that is no list', ethMessage.getBlockHeaders, Uint8Array.of(0x80)],
  ['a list nested deeply', ethMessage.getBlockHeaders, Uint8Array.from([...new Array(40_000).fill(0xc1), 0xc0])],
  ['a response to no request', ethMessage.blockHeaders, encodeResponse(1, [])],
  ['a second Status', ethMessage.status, Uint8Array.of(0xc0)],
  ['a range that ends before it begins', ethMessage.blockRangeUpdate, Uint8Array.from([0xe3, 2, 1, 0xa0, ...new Uint8Array(32)])],
  ['too many hashes', ethMessage.getBlockBodies, encodeHashes(1, new Array(5_000).fill(other))],
])(
  'executionPeers: ends the connection after %s',
  async (_, message, body) => {
    await using victim = await startTestNode(config, () => chain)
    const peer = await attack(victim.enode, config)
    await peer.status
    await until(() => victim.node.peers.ready().length === 1)
    peer.send(message, body)
    expect(await peer.ended).toMatchObject({ by: 'peer' })
    expect(victim.node.peers.ready()).toEqual([])
  },
  30_000,
)

it('executionPeers: ends the connection with a peer that sends requests without waiting for responses', async () => {
  await using victim = await startTestNode(config, () => chain)
  const peer = await attack(victim.enode, config)
  await peer.status
  for (let i = 0; i < 200; i++)
    peer.send(ethMessage.getBlockHeaders, encodeGetHeaders(i, { origin: 1, amount: 600, skip: 0, isReverse: false }))
  expect(await peer.ended).toMatchObject({ by: 'peer', reason: 'subprotocol_error' })
})

it('executionPeers: ends the connection with a peer that floods it with small messages', async () => {
  await using victim = await startTestNode(config, () => chain)
  const peer = await attack(victim.enode, config)
  await peer.status
  // announcements of transactions, which are not read
  for (let i = 0; i < 3_000; i++) peer.send(8, Uint8Array.of(0xc0))
  expect(await peer.ended).toMatchObject({ by: 'peer', reason: 'protocol_error' })
})

it('executionPeers: bounds a response by number and bytes', async () => {
  await using victim = await startTestNode(config, () => chain)
  const sizes: number[] = []
  const peer = await attack(victim.enode, config, {
    onMessage: (message, body) => message === ethMessage.blockHeaders && sizes.push(body.length),
  })
  await peer.status
  peer.send(ethMessage.getBlockHeaders, encodeGetHeaders(1, { origin: 600, amount: 2 ** 40, skip: 0, isReverse: true }))
  peer.send(ethMessage.getBlockHeaders, encodeGetHeaders(2, { origin: 1, amount: 5, skip: 2 ** 50, isReverse: false }))
  peer.send(ethMessage.getBlockHeaders, encodeGetHeaders(3, { origin: 1, amount: 5, skip: 2 ** 50, isReverse: true }))
  await until(() => sizes.length === 3)
  // genesis is not in this view: 600 headers
  expect(sizes[0]).toBeGreaterThan(600 * 500)
  expect(Math.max(sizes[1] ?? 0, sizes[2] ?? 0)).toBeLessThan(1_000)
})

it('executionPeers: drops a peer that requests and does not read, before its responses take the memory', async () => {
  const large = filledChain(config, 1, 40, 300_000)
  await using victim = await startTestNode(config, () => large, {}, fast(5))
  const bytesBefore = process.memoryUsage.rss()
  const peer = await attack(victim.enode, config)
  await peer.status
  peer.socket.pause()
  const hashes = large.map(({ blockHash }) => blockHash)
  for (let i = 0; i < 20; i++) peer.send(ethMessage.getBlockBodies, encodeHashes(i, hashes))
  await until(() => victim.node.peers.ready().length === 0, 'the peer is dropped')
  expect(process.memoryUsage.rss() - bytesBefore).toBeLessThan(200 * 2 ** 20)
  peer.socket.destroy()
}, 60_000)

it('executionPeers: half-open connections of one address leave places to others, and end after seconds', async () => {
  await using victim = await startTestNode(config, () => chain, {}, fast(4))
  const sockets = Array.from({ length: 40 }, () =>
    connectSocket({ host: '127.0.0.1', port: victim.node.peers.port, localAddress: '127.0.0.2' }),
  )
  for (const socket of sockets) socket.on('error', () => {})
  await systemClock.delay(200)
  const peer = await attack(victim.enode, config)
  await peer.status
  expect(sockets.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(40)
  await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')))
  expect(victim.node.peers.ready().length).toBe(1)
  peer.socket.destroy()
}, 60_000)

it('executionPeers: ends connections that send garbage, or a handshake byte by byte', async () => {
  await using victim = await startTestNode(config, () => chain, {}, fast(4))
  for (const bytes of [randomBytes(400), Buffer.from([1, 100, ...randomBytes(500)]), Buffer.from('GET / HTTP/1.1\r\n\r\n')]) {
    const socket = connectSocket({ host: '127.0.0.1', port: victim.node.peers.port })
    socket.on('error', () => {})
    socket.write(bytes)
    await once(socket, 'close')
  }
  const slow = connectSocket({ host: '127.0.0.1', port: victim.node.peers.port })
  slow.on('error', () => {})
  const timer = setInterval(() => slow.write(Uint8Array.of(1)), 100)
  await once(slow, 'close')
  clearInterval(timer)
  expect(rangeOf(view).latest).toBe(600)
}, 60_000)

it('executionPeers: thirty identities of one address leave places to other peers', async () => {
  await using victim = await startTestNode(config, () => chain, { maxPeers: 15 })
  const attackers = []
  for (let i = 0; i < 30; i++) {
    const peer = await attack(victim.enode, config, { from: '127.0.0.2' })
    await Promise.race([peer.status, peer.ended])
    attackers.push(peer)
  }
  const late = await attack(victim.enode, config, { from: '127.0.0.3' })
  await late.status
  await until(() => victim.node.peers.ready().length === 8)
  for (const { socket } of [...attackers, late]) socket.destroy()
}, 60_000)
