import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { numberAt } from '#chainspec/blockTime'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { encodeSnappyBlock } from '#lib/peers/snappy'
import { type Attacker, connectAttacker, frameOf, graft, halfOpen, message, zerosBlock } from '#test/harness/p2p/attacker'
import { blockOf, chainOf, configNow, signBlock } from '#test/harness/p2p/chain'
import { settingsOf, startTestNode, type TestNode } from '#test/harness/p2p/nodes'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import type { PeerEvents } from './net/peerEvents.ts'
import { encodeFailure, encodeFound, payloadProtocols } from './protocol/payloadRequest.ts'
import { blocksTopic, blocksTopics } from './protocol/topics.ts'
import { P2pThread } from './thread/p2pThread.ts'
import type { P2pSettings, SignedBlock } from './thread/protocol.ts'

/** Longest time from an honest block's publication to its arrival, on a machine with other work. */
const promptMs = 2_000
const config = configNow(100, systemClock.nowMs())
const chainId = config.l2ChainId
const topic = blocksTopic(chainId, 3)
const topics = blocksTopics(chainId)

/** A node of ours in its thread, which an honest node sends blocks to. */
interface Scene extends AsyncDisposable {
  readonly victim: P2pThread
  readonly honest: TestNode
  readonly address: string
  readonly port: number
  readonly events: readonly PeerEvents[]
  /** Sends honest blocks until the work has ended. @returns the longest time until one arrived, ms */
  during(work: () => Promise<void>): Promise<number>
}

/** Returns the number of the block that is due. */
const dueNumber = (): number => numberAt(config, systemClock.nowMs()) ?? 0

/** Returns an honest block: other than the ones before, of the last ten heights, of which each has less than six. */
const honestBlock = (n: number): Payload => blockOf(config, dueNumber() - (n % 10), undefined, 1_000 + n)

async function openScene(settings: Partial<P2pSettings> = {}, served: readonly Payload[] = []): Promise<Scene> {
  await using parts = new AsyncDisposableStack()
  const honest = parts.use(await startTestNode(config, {}, (number) => served.find(({ blockNumber }) => blockNumber === number)))
  const waiting = new Map<Hash, () => void>()
  const events: PeerEvents[] = []
  const here = {
    block: ({ blockHash }: Payload) => waiting.get(blockHash)?.(),
    canonical: async () => undefined,
    events: (report: PeerEvents) => void events.push(report),
  }
  const victim = parts.use(
    await P2pThread.start({ clock: systemClock, log: silentLog, here }, settingsOf(config, { staticPeers: [honest.address], ...settings })),
  )
  const { peerId, tcpPort } = victim.listening ?? { peerId: '', tcpPort: 0 }
  await honest.until(() => honest.node.gossip.meshPeers() === 1)
  let sent = 0

  async function arrivalMs(): Promise<number> {
    const block = honestBlock(sent++)
    const arrived = Promise.withResolvers<void>()
    waiting.set(block.blockHash, arrived.resolve)
    const fromMs = performance.now()
    await honest.node.publish(signBlock(config, block))
    await arrived.promise
    return performance.now() - fromMs
  }

  const kept = parts.move()
  return {
    ...{ victim, honest, events },
    address: `/ip4/127.0.0.1/tcp/${tcpPort}/p2p/${peerId}`,
    port: tcpPort,
    async during(work): Promise<number> {
      let isDone = false
      const working = work().finally(() => {
        isDone = true
      })
      const times: number[] = []
      while (!isDone) {
        times.push(await arrivalMs())
        await systemClock.delay(500)
      }
      await working
      return Math.max(...times)
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const sumOf = (events: readonly PeerEvents[], reason: string): number =>
  events.reduce((sum, { messages }) => sum + ((messages as Record<string, number>)[reason] ?? 0), 0)

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + 20_000
  while (!(await condition())) {
    if (performance.now() > untilMs) throw new Error(`not within 20 s: ${condition}`)
    await systemClock.delay(50)
  }
}

const framed = ({ message: bytes }: SignedBlock): Uint8Array => frameOf(message(topic, encodeSnappyBlock(bytes)))
const other = new Uint8Array(32).fill(7)

const wrongMessages: readonly (readonly [string, string, () => readonly Uint8Array[]])[] = [
  ['signed by another key', 'invalid_signer', () => [framed(signBlock(config, blockOf(config, 100), other))]],
  ['of another chain', 'invalid_signer', () => [framed(signBlock({ ...config, l2ChainId: 10 }, blockOf(config, 100)))]],
  ['of the future', 'timestamp_future', () => [framed(signBlock(config, blockOf(config, 200)))]],
  ['of the past', 'timestamp_past', () => [framed(signBlock(config, blockOf(config, 1)))]],
  ['of 10 MiB of zeros', 'timestamp_past', () => [frameOf(message(topic, zerosBlock(10 * 2 ** 20)))]],
  ['that declares 10 MiB and a byte', 'compression', () => [frameOf(message(topic, zerosBlock(10 * 2 ** 20 + 1)))]],
  ['that is no snappy block', 'compression', () => [frameOf(message(topic, Uint8Array.of(0xff, 0xff, 0xff, 0xff)))]],
  [
    'after six of its height',
    'too_many_blocks',
    () => {
      // peers still accept it, and no honest block has it
      const height = dueNumber() - 15
      return Array.from({ length: 7 }, (_, salt) => framed(signBlock(config, blockOf(config, height, undefined, salt))))
    },
  ],
]

/** Returns the score of a peer; a banned one has none. */
async function scoreOf({ victim }: Scene, id: string): Promise<number> {
  const { peers } = await victim.ask('peers', true)
  return peers.find(({ peerId }) => peerId === id)?.score ?? Number.NEGATIVE_INFINITY
}

it('p2p: peers with wrong messages are scored out, and blocks of honest peers arrive meanwhile', async () => {
  await using scene = await openScene()
  const slowestMs = await scene.during(async () => {
    for (const [, reason, framesOf] of wrongMessages) {
      const before = sumOf(scene.events, reason)
      await using attacker = await connectAttacker(scene.address, topics)
      for (const frame of framesOf()) await attacker.send(frame)
      await until(() => sumOf(scene.events, reason) > before)
      await until(async () => (await scoreOf(scene, attacker.peerId)) < -40)
    }
  })
  expect(slowestMs).toBeLessThan(promptMs)
}, 60_000)

const flood = { perSec: 5_000, seconds: 5 }

/** Sends messages at the rate of the flood, in frames of 10 ms. */
async function floodWith(attacker: Attacker, data: (n: number) => Uint8Array): Promise<void> {
  const atOnce = flood.perSec / 100
  const fromMs = performance.now()
  for (let n = 0; n < flood.perSec * flood.seconds; n += atOnce) {
    await attacker.send(frameOf(...Array.from({ length: atOnce }, (_, i) => message(topic, data(n + i)))))
    await systemClock.delay(Math.max(0, fromMs + (n + atOnce) / (flood.perSec / 1_000) - performance.now()))
  }
}

it.each([
  ['different wrong messages', (n: number) => Uint8Array.of(0xff, 0xff, 0xff, 0xff, n & 0xff, (n >> 8) & 0xff)],
  ['one valid message', undefined],
])(
  'p2p: a flood of 5,000 messages a second does not delay blocks of honest peers: %s',
  async (_, data) => {
    await using scene = await openScene()
    const valid = encodeSnappyBlock(signBlock(config, blockOf(config, dueNumber())).message)
    const bytesBefore = process.memoryUsage.rss()
    await using attacker = await connectAttacker(scene.address, topics)
    const slowestMs = await scene.during(() => floodWith(attacker, data ?? (() => valid)).catch(() => {}))
    expect(slowestMs).toBeLessThan(promptMs)
    expect(process.memoryUsage.rss() - bytesBefore).toBeLessThan(300 * 2 ** 20)
  },
  60_000,
)

it('p2p: connections without a handshake keep no place: other peers connect after seconds', async () => {
  await using scene = await openScene()
  using _ = halfOpen(scene.port, 40)
  const slowestMs = await scene.during(async () => {
    await systemClock.delay(500)
    for (let attempt = 0; ; attempt++) {
      const joined = await connectAttacker(scene.address, topics, '127.0.0.3').catch(() => undefined)
      if (joined) return await joined[Symbol.asyncDispose]()
      if (attempt === 30) throw new Error('no connection')
      await systemClock.delay(1_000)
    }
  })
  expect(slowestMs).toBeLessThan(promptMs)
}, 60_000)

it('p2p: a peer of the mesh that reads nothing is dropped before its queue takes the memory', async () => {
  await using scene = await openScene()
  const stuck = new Worker(new URL('../../test/harness/p2p/stuckPeer.ts', import.meta.url), {
    workerData: { victim: scene.address, topics },
  })
  try {
    await once(stuck, 'message')
    const bytesBefore = process.memoryUsage.rss()
    // 80 MB, of which a queue holds at most 40
    for (let i = 0; i < 80; i++) {
      const large = blockOf(config, dueNumber() - (i % 20), undefined, i, [new Uint8Array(randomBytes(2 ** 20))])
      await scene.honest.node.publish(signBlock(config, large))
      await systemClock.delay(20)
    }
    await scene.during(() => systemClock.delay(1_000))
    expect(sumOf(scene.events, 'accepted')).toBeGreaterThanOrEqual(80)
    expect(process.memoryUsage.rss() - bytesBefore).toBeLessThan(400 * 2 ** 20)
  } finally {
    await stuck.terminate()
  }
}, 60_000)

const chain = chainOf(config, 60, 8)

it.each([
  ['another block', () => encodeFound(blockOf(config, 50), 3)],
  ['no response at all', () => new Uint8Array(0)],
  ['garbage', () => Uint8Array.of(0, 1, 0, 0, 0, 0xff, 6, 0, 0)],
  ['an unknown result', () => Uint8Array.of(9)],
  ['a failure', () => encodeFailure('serverError')],
  ['a reset', () => undefined],
])(
  'p2p: blocks are fetched from the honest peer when another one responds with %s',
  async (what, response) => {
    await using scene = await openScene({}, chain)
    await until(async () => ((await scene.victim.ask('peers', true)).peers[0]?.protocols.length ?? 0) > 0)
    const handler = async (
      stream: Parameters<Attacker['host']['handle']>[1] extends (stream: infer S, ...rest: never[]) => unknown ? S : never,
    ) => {
      const bytes = response()
      if (bytes === undefined) return stream.abort(new Error('no answer'))
      stream.send(bytes)
      await stream.close().catch(() => {})
    }
    await using liar = await connectAttacker(
      scene.address,
      topics,
      '127.0.0.2',
      Object.fromEntries(payloadProtocols(chainId).map((id) => [id, handler])),
    )
    await until(async () => (await scene.victim.ask('peers', true)).peers.every(({ protocols }) => protocols.length > 0))
    const numbers = chain.map(({ blockNumber }) => blockNumber)
    expect(await scene.victim.ask('fetch', numbers)).toEqual(chain)
    if (what === 'a failure' || what === 'a reset') expect(await scoreOf(scene, liar.peerId)).toBeGreaterThanOrEqual(0)
    else await until(async () => (await scoreOf(scene, liar.peerId)) < -10)
  },
  60_000,
)

it('p2p: thirty identities of one address leave places to other peers', async () => {
  await using scene = await openScene()
  await using many = new AsyncDisposableStack()
  const slowestMs = await scene.during(async () => {
    for (let i = 0; i < 30; i++) {
      const one = await connectAttacker(scene.address, topics).catch(() => undefined)
      if (one) many.use(one)
      await one?.send(frameOf(...topics.map(graft))).catch(() => {})
      await systemClock.delay(110)
    }
    await using _late = await connectAttacker(scene.address, topics, '127.0.0.3')
    const { connected } = await scene.victim.ask('peerStats')
    expect(connected).toBe(1 + 10 + 1)
  })
  expect(slowestMs).toBeLessThan(promptMs)
}, 60_000)
