// Gossip between nodes of ours: time from the sealed block to its arrival at consensus over one and two hops, in a mesh of eight p2p threads; processor
// time of one p2p thread with 30 peers. Blocks of 8 Mgas every 200 ms. Execution is not part of it.

import { randomBytes } from 'node:crypto'
import { numberAt } from '#chainspec/blockTime'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { blockOf, configNow, signBlock } from '#test/harness/p2p/chain'
import { settingsOf, startTestNode, type TestNode } from '#test/harness/p2p/nodes'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { P2pThread } from '../../src/p2p/thread/p2pThread.ts'
import { distribution, type Row } from '../format.ts'

const [intervalMs, warmUpBlocks] = [200, 25]
/** Transfers of 21,000 gas in a block, and the bytes of one; they do not compress. */
const [transfers, transferBytes] = [380, 112]
const peers = 30

function denimConfig(): RollupConfig {
  const config = configNow(100, systemClock.nowMs())
  const { l2TimeSec } = config.genesis
  const forks = Object.keys(config.schedule).map((fork) => [fork, 1])
  const schedule = { ...Object.fromEntries(forks), jovian: 1, azul: 1, beryl: 1, cobalt: 1, denim: l2TimeSec + config.blockTimeSec }
  return { ...config, schedule: schedule as unknown as RollupConfig['schedule'] }
}

type Link = AsyncDisposable & {
  readonly thread: P2pThread
  readonly address: string
  /** milliseconds of `performance.now()` at which a block arrived */
  readonly arrived: ReadonlyMap<Hash, number>
  readonly cpuSec: number
  readonly meshPeers: number
}

async function startLink(config: RollupConfig, staticPeers: readonly string[]): Promise<Link> {
  const arrived = new Map<Hash, number>()
  let [cpuSec, meshPeers] = [0, 0]
  const here = {
    block: ({ blockHash }: Payload) => void arrived.set(blockHash, performance.now()),
    canonical: async () => undefined,
    events: (report: { readonly cpuSec: number; readonly meshPeers: number }) => {
      ;({ cpuSec, meshPeers } = report)
    },
  }
  const thread = await P2pThread.start({ clock: systemClock, log: silentLog, here }, settingsOf(config, { staticPeers }))
  const { peerId, tcpPort } = thread.listening ?? {}
  return {
    ...{ thread, arrived },
    address: `/ip4/127.0.0.1/tcp/${tcpPort}/p2p/${peerId}`,
    get cpuSec() {
      return cpuSec
    },
    get meshPeers() {
      return meshPeers
    },
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  }
}

const transactions = (): readonly Uint8Array[] => Array.from({ length: transfers }, () => new Uint8Array(randomBytes(transferBytes)))

/** Publishes a block at each interval. @returns its hash and the time at which it was sealed, without the warm-up */
async function publishAll(config: RollupConfig, blocks: number, publish: (block: ReturnType<typeof signBlock>) => Promise<unknown>) {
  const sealed: { readonly hash: Hash; readonly atMs: number }[] = []
  const fromMs = performance.now()
  for (let i = 0; i < warmUpBlocks + blocks; i++) {
    const number = numberAt(config, systemClock.nowMs()) ?? 0
    const block = blockOf(config, number, undefined, i, transactions())
    const atMs = performance.now()
    await publish(signBlock(config, block))
    if (i >= warmUpBlocks) sealed.push({ hash: block.blockHash, atMs })
    await systemClock.delay(Math.max(0, fromMs + (i + 1) * intervalMs - performance.now()))
  }
  return sealed
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await systemClock.delay(100)
}

const shareOf = (link: Link, cpuSec: number, fromMs: number): number =>
  (100 * (link.cpuSec - cpuSec)) / ((performance.now() - fromMs) / 1_000)

/** Eight threads in two levels: two nodes take blocks from the first, five from those two. */
async function hops(blocks: number): Promise<readonly Row[]> {
  await using parts = new AsyncDisposableStack()
  const config = denimConfig()
  const rssBefore = process.memoryUsage.rss()
  const links: Link[] = []
  for (const parents of [[], [0], [0], [1], [1, 2], [2], [1, 2], [1]])
    links.push(
      parts.use(
        await startLink(
          config,
          parents.map((i) => links[i]?.address ?? ''),
        ),
      ),
    )
  const [first, ...others] = links
  if (first === undefined) return []
  await until(() => first.meshPeers === 2 && others.every(({ meshPeers }) => meshPeers > 0))
  const [cpuSec, fromMs] = [links.map((link) => link.cpuSec), performance.now()]
  const sealed = await publishAll(config, blocks, (block) => first.thread.ask('publish', block))
  await systemClock.delay(1_500)
  const latencies = (of: readonly Link[]): readonly number[] =>
    of.flatMap(({ arrived }) => sealed.map(({ hash, atMs }) => (arrived.get(hash) ?? Number.POSITIVE_INFINITY) - atMs))
  const [one, two] = [latencies(others.slice(0, 2)), latencies(others.slice(2))]
  const lost = [...one, ...two].filter((ms) => ms === Number.POSITIVE_INFINITY).length
  const facts = { blocks, bytes: transfers * transferBytes, lost }
  const megabytes = (process.memoryUsage.rss() - rssBefore) / 2 ** 20 / links.length
  return [
    withFacts(distribution('sealed block to arrival, one hop, eight nodes', 'ms', one.filter(Number.isFinite)), facts),
    withFacts(distribution('sealed block to arrival, two hops, eight nodes', 'ms', two.filter(Number.isFinite)), facts),
    distribution(
      'processor time of a p2p thread, eight nodes',
      '% of a core',
      links.map((link, i) => shareOf(link, cpuSec[i] ?? 0, fromMs)),
    ),
    {
      name: 'memory of a p2p thread, eight nodes: resident bytes of the process, divided',
      value: megabytes,
      unit: 'MB',
      runs: [megabytes],
    },
  ]
}

const withFacts = (row: Row, facts: Readonly<Record<string, number>>): Row => ({ ...row, facts: { ...row.facts, ...facts } })

/** One thread with 30 peers, which send it and forward it blocks. */
async function crowd(blocks: number): Promise<readonly Row[]> {
  await using parts = new AsyncDisposableStack()
  const config = denimConfig()
  const link = parts.use(await startLink(config, []))
  const nodes: TestNode[] = []
  for (let i = 0; i < peers - 10; i++) nodes.push(parts.use(await startTestNode(config, { staticPeers: [link.address] })))
  for (let i = 0; i < 10; i++) {
    const node = parts.use(await startTestNode(config))
    await link.thread.ask('connect', node.address)
    nodes.push(node)
  }
  await until(async () => (await link.thread.ask('peerStats')).connected >= peers && link.meshPeers >= 6)
  const [cpuSec, fromMs] = [link.cpuSec, performance.now()]
  await publishAll(config, blocks, (block) => nodes[0]?.node.publish(block) ?? Promise.resolve())
  const share = shareOf(link, cpuSec, fromMs)
  const name = 'processor time of a p2p thread with 30 peers'
  return [{ name, value: share, unit: '% of a core', runs: [share], facts: { received: link.arrived.size, blocks } }]
}

/** Rows of the p2p threads alone. */
export async function arrivals(blocks: number): Promise<readonly Row[]> {
  return [...(await hops(blocks)), ...(await crowd(Math.round(blocks / 2)))]
}
