import { setTimeout as delay } from 'node:timers/promises'
import { startProxy } from '#test/harness/process/proxy'
import { numberAt } from '../../src/chainspec/blockTime.ts'
import { forksUpTo } from '../../src/devnet/forkSchedule.ts'
import { eventually } from '../nodeProcess.ts'
import { forkSteps, type PeerChain, startPeerChain } from './chain.ts'
import { startOurSequencer, startOurs } from './ours.ts'
import type { Joining, Participant } from './participant.ts'
import { type OpNode, startTheirs } from './theirs.ts'

/** A node of a mesh: one of ours, or a binary of another client. */
export type Client = OpNode | 'ours'

const [startMs, fillMs] = [60_000, 90_000]
/** Blocks of a second that a head may be behind the sequencer's. */
const allowedLag = 4

const nameOf = (client: Client): string => (client === 'ours' ? 'ours' : client.name)
const isOld = (client: Client): boolean => client !== 'ours' && client.isOld

function start(client: Client, chain: PeerChain, name: string, joining: Joining): Promise<Participant> {
  return client === 'ours' ? startOurs(chain, name, joining) : startTheirs(client, chain, name, 'verifier', joining)
}

function startSequencer(client: Client, chain: PeerChain, more: readonly string[] = []): Promise<Participant> {
  if (client === 'ours') return startOurSequencer(chain, 'sequencer')
  return startTheirs(client, chain, 'sequencer', 'sequencer', { hasDiscovery: true }, more)
}

/** Forks that all clients of a chain know. */
const forksOf = (clients: readonly Client[]) => (clients.some(isOld) ? forkSteps.holocene : forkSteps.jovian)

/** Waits until a node has the sequencer's blocks; compares the hash of a common height. @throws Error naming the node and its last log lines */
async function follows(node: Participant, sequencer: Participant, least: number, maxMs: number): Promise<void> {
  try {
    await eventually(
      `${node.name} follows the sequencer to block ${least}`,
      maxMs,
      async () => {
        const [head, first] = [await node.unsafeHead(), await sequencer.unsafeHead()]
        if (head.number < least || head.number < first.number - allowedLag) return `at ${head.number}, the sequencer at ${first.number}`
        const [own, its] = [await node.hashAt(head.number), await sequencer.hashAt(head.number)]
        return its === undefined || own === its || `block ${head.number} is ${own}, not ${its}`
      },
      200,
    )
  } catch (error) {
    throw new Error(`${String(error)}\n${node.tail()}`, { cause: error })
  }
}

async function meetsAll(node: Participant, all: readonly Participant[]): Promise<void> {
  await eventually(`${node.name} is connected with all others`, startMs, async () => {
    const connected = new Set((await node.peers()).map(({ peerId }) => peerId))
    const absent = all.filter((other) => other !== node && !connected.has(other.peerId))
    return absent.length === 0 || `without ${absent.map(({ name }) => name).join(', ')}`
  })
}

/** Returns what is unhealthy at a node; undefined: nothing. Scores between two nodes of the other client do not count. */
async function illnessOf(node: Participant, sequencer: Participant, all: readonly Participant[]): Promise<string | undefined> {
  const [peers, head, first] = [await node.peers(), await node.unsafeHead(), await sequencer.unsafeHead()]
  if (peers.length < all.length - 1) return `${node.name}: ${peers.length} peers instead of ${all.length - 1}`
  if (head.number < first.number - allowedLag) return `${node.name}: head ${head.number}, the sequencer's ${first.number}`
  const ours = new Set(all.filter(({ kind }) => kind === 'ours').map(({ peerId }) => peerId))
  const judged = peers.filter(({ peerId }) => node.kind === 'ours' || ours.has(peerId))
  const bad = judged.find(({ score, gossipBlocks }) => score < 0 || !gossipBlocks)
  return bad && `${node.name}: score ${bad.score} of ${bad.peerId}${bad.gossipBlocks ? '' : ', which does not subscribe'}`
}

const everyMs = 2_000

/** Checks peers, scores and heads for a while. @throws Error with the first failures */
async function staysHealthy(all: readonly Participant[], sequencer: Participant, ms: number): Promise<string> {
  const fromMs = performance.now()
  const failures: string[] = []
  let samples = 0
  let lowest = Number.POSITIVE_INFINITY
  while (performance.now() - fromMs < ms) {
    for (const node of all) {
      const illness = await illnessOf(node, sequencer, all)
      if (illness !== undefined) failures.push(illness)
      for (const { score } of await node.peers()) lowest = Math.min(lowest, score)
      samples++
    }
    await delay(everyMs)
  }
  if (failures.length > 0) throw new Error(`${failures.length} of ${samples} samples unhealthy: ${failures.slice(0, 5).join('; ')}`)
  return `${samples} samples healthy, lowest score ${lowest.toFixed(1)}`
}

/** Checks that a node which joins late, connected with one other node only, gets all earlier blocks from it. @returns blocks filled */
async function joinsLate(client: Client, chain: PeerChain, source: Participant, sequencer: Participant): Promise<number> {
  const { number } = await sequencer.unsafeHead()
  await using late = await start(client, chain, `late-${nameOf(client)}-of-${source.name}`, {
    staticPeers: [source.address],
    hasDiscovery: false,
  })
  await follows(late, sequencer, number, fillMs)
  if (client === 'ours') {
    const fetched = await late.metric('basalt_p2p_fetched_blocks_total', 'outcome="found"')
    if (fetched < number / 2) throw new Error(`${late.name} fetched ${fetched} blocks of ${number}`)
  }
  if (source.kind === 'ours') {
    const served = await source.metric('basalt_p2p_served_requests_total', 'outcome="found"')
    if (served < number / 2) throw new Error(`${source.name} served ${served} blocks of ${number}`)
  }
  return number
}

/** One sequencer and verifiers that find each other from its record: discovery, blocks of every fork, requests in both directions, health. */
export async function mesh(folder: string, first: Client, verifiers: readonly Client[], ms: number): Promise<string> {
  await using parts = new AsyncDisposableStack()
  const chain = parts.use(await startPeerChain(folder, forksOf([first, ...verifiers])))
  const sequencer = parts.use(await startSequencer(first, chain))
  const all: Participant[] = [sequencer]
  for (const [i, client] of verifiers.entries())
    all.push(parts.use(await start(client, chain, `${nameOf(client)}-${i + 1}`, { bootnodes: [sequencer.enr], hasDiscovery: true })))
  for (const node of all) await meetsAll(node, all)
  for (const node of all.slice(1)) await follows(node, sequencer, chain.lastFork + 3, startMs)
  const health = await staysHealthy(all, sequencer, ms)

  const theirs = all.find(({ kind }) => kind === 'theirs')
  const ours = all.find(({ kind }) => kind === 'ours')
  const other = [first, ...verifiers].find((client) => client !== 'ours')
  if (theirs === undefined || ours === undefined || other === undefined) throw new Error('one node of each kind is needed')
  const taken = await joinsLate('ours', chain, theirs, sequencer)
  const given = await joinsLate(other, chain, ours, sequencer)
  return `${all.length} nodes, ${health}; filled ${taken} blocks from ${theirs.name}, ${given} from ${ours.name}`
}

/** The sequencer keeps one peer in its mesh: the others get blocks by IHAVE and IWANT only. */
export async function outsideOfMesh(folder: string, first: OpNode): Promise<string> {
  await using parts = new AsyncDisposableStack()
  const chain = parts.use(await startPeerChain(folder, forksOf([first])))
  const narrow = ['d', 'lo', 'dhi'].flatMap((bound) => [`--p2p.gossip.mesh.${bound}`, '1'])
  const sequencer = parts.use(await startSequencer(first, chain, narrow))
  const joining = { staticPeers: [sequencer.address], hasDiscovery: false }
  const nodes = [parts.use(await start('ours', chain, 'ours-1', joining)), parts.use(await start('ours', chain, 'ours-2', joining))]
  const from = chain.lastFork + 3
  for (const node of nodes) await follows(node, sequencer, from, startMs)
  const before = await Promise.all(nodes.map((node) => node.metric('basalt_p2p_messages_total', 'outcome="accepted"')))
  const blocks = 20
  for (const node of nodes) await follows(node, sequencer, from + blocks, startMs)
  const after = await Promise.all(nodes.map((node) => node.metric('basalt_p2p_messages_total', 'outcome="accepted"')))
  const gained = after.map((count, i) => count - (before[i] ?? 0))
  if (gained.some((count) => count < blocks / 2)) throw new Error(`messages received: ${gained.join(', ')}`)
  return `${blocks} blocks, messages received: ${gained.join(' and ')}`
}

/** Blocks of 200 ms: a restart with `blocks` missing ones, and a partition of some seconds. L1 has none of the blocks. */
const missing = { blocks: 2_000, maxMs: 30_000 }

/** Returns the seconds until a node is at the sequencer's head. */
async function catchesUp(node: Participant, sequencer: Participant): Promise<number> {
  const fromMs = performance.now()
  await follows(node, sequencer, (await sequencer.unsafeHead()).number, missing.maxMs)
  return (performance.now() - fromMs) / 1_000
}

/** A node that starts with 2,000 missing blocks, and one that is cut off from all peers for a while, are at the head within 30 s. */
export async function gaps(folder: string, partitionMs: number): Promise<string> {
  await using parts = new AsyncDisposableStack()
  const chain = parts.use(await startPeerChain(folder, forksUpTo('denim', 2), { ageSec: missing.blocks / 5, blockTimeSec: 2 }))
  const sequencer = parts.use(await startOurSequencer(chain, 'sequencer'))
  await eventually(`the sequencer has ${missing.blocks} blocks and is at the due block`, 300_000, async () => {
    const [{ number }, due] = [await sequencer.unsafeHead(), numberAt(chain.config, Date.now()) ?? 0]
    return (number >= missing.blocks && number > due - 10) || `at ${number} of ${due}`
  })
  const joining = { staticPeers: [sequencer.address], hasDiscovery: false }
  const nodes = [parts.use(await startOurs(chain, 'ours-1', joining)), parts.use(await startOurs(chain, 'ours-2', joining))]
  for (const node of nodes) await follows(node, sequencer, missing.blocks, 120_000)

  const links = await Promise.all([sequencer, ...nodes].map(({ port }) => startProxy(port)))
  for (const link of links) parts.use(link)
  const staticPeers = [sequencer, ...nodes].map(({ peerId }, i) => `/ip4/127.0.0.1/tcp/${links[i]?.port}/p2p/${peerId}`)
  const late = parts.use(await startOurs(chain, 'late', { staticPeers, hasDiscovery: false }))
  const restartSec = await catchesUp(late, sequencer)

  for (const link of links) link.setMode({ kind: 'cut' })
  const { number: from } = await late.unsafeHead()
  await delay(partitionMs)
  const { number: to } = await sequencer.unsafeHead()
  if ((await late.unsafeHead()).number > from + allowedLag) throw new Error('blocks passed the partition')
  for (const link of links) link.setMode({ kind: 'pass' })
  const healingSec = await catchesUp(late, sequencer)
  return `${missing.blocks} blocks missing at the start: ${restartSec.toFixed(1)} s; ${to - from} after a partition: ${healingSec.toFixed(1)} s`
}
