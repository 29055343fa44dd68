import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '../nodeProcess.ts'
import { forkSteps, type PeerChain, startPeerChain } from './chain.ts'
import { startOurSequencer, startOurs } from './ours.ts'
import type { Joining, Participant, PeerView } from './participant.ts'
import { type OpNode, startTheirs } from './theirs.ts'

/** A node of a mesh: one of ours, or a binary of another client. */
export type Client = OpNode | 'ours'

export const startMs = 60_000
/** Requests a second that a server of op-node answers to one peer. */
const servedPerSec = 4
/** Returns the time in which a node gets a number of blocks from one peer. */
export const fillMs = (blocks: number): number => startMs + (1_250 * blocks) / servedPerSec
/** Score below which a peer gets no gossip. */
const gossipThreshold = -10
/** Blocks of a second that a head may be behind the sequencer's. */
export const allowedLag = 4

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
export async function follows(node: Participant, sequencer: Participant, least: number, maxMs: number): Promise<void> {
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

export async function meetsAll(node: Participant, all: readonly Participant[]): Promise<void> {
  await eventually(`${node.name} is connected with all others`, startMs, async () => {
    const connected = new Set((await node.peers()).map(({ peerId }) => peerId))
    const absent = all.filter((other) => other !== node && !connected.has(other.peerId))
    return absent.length === 0 || `without ${absent.map(({ name }) => name).join(', ')}`
  })
}

/**
 * Returns the first problem of a node; undefined: it is healthy. Scores between two nodes of the other client do not count. op-node lowers the score of a peer
 * that is seldom among the first with a message, to −5 at most: in a small mesh also that of another op-node.
 */
function illnessOf(node: Participant, peers: readonly PeerView[], all: readonly Participant[]): string | undefined {
  if (peers.length < all.length - 1) return `${node.name}: ${peers.length} peers instead of ${all.length - 1}`
  const ours = new Set(all.filter(({ kind }) => kind === 'ours').map(({ peerId }) => peerId))
  const judged = peers.filter(({ peerId }) => node.kind === 'ours' || ours.has(peerId))
  const least = node.kind === 'ours' ? 0 : gossipThreshold
  const bad = judged.find(({ score, offences, gossipBlocks }) => score < least || offences > 0 || !gossipBlocks)
  if (bad === undefined) return undefined
  return `${node.name}: score ${bad.score}, offences ${bad.offences} of ${bad.peerId}${bad.gossipBlocks ? '' : ', which does not subscribe'}`
}

const everyMs = 2_000
/** Time within which a head must be current again: other work of the machine may delay a node for a moment. */
const maxLagMs = 30_000

type Sample = { readonly illness: string | undefined; readonly lowest: number; readonly isBehind: boolean }

async function sampleOf(node: Participant, sequencer: Participant, all: readonly Participant[]): Promise<Sample> {
  const peers = await node.peers()
  const [head, first] = [await node.unsafeHead(), await sequencer.unsafeHead()]
  return {
    illness: illnessOf(node, peers, all),
    lowest: Math.min(...peers.map(({ score }) => score)),
    isBehind: head.number < first.number - allowedLag,
  }
}

/** Checks peers, scores and heads for a while. @throws Error with the first failures */
export async function staysHealthy(all: readonly Participant[], sequencer: Participant, ms: number): Promise<string> {
  const fromMs = performance.now()
  const failures: string[] = []
  let samples = 0
  let lowest = Number.POSITIVE_INFINITY
  let longestLagMs = 0
  const currentMs = new Map(all.map((node) => [node, fromMs]))
  while (performance.now() - fromMs < ms) {
    for (const node of all) {
      // a read that fails is repeated: a node that answers none for a while is behind
      const sample = await sampleOf(node, sequencer, all).catch(() => ({ illness: undefined, lowest, isBehind: true }))
      if (sample.illness !== undefined) failures.push(sample.illness)
      lowest = Math.min(lowest, sample.lowest)
      if (!sample.isBehind) currentMs.set(node, performance.now())
      const lagMs = performance.now() - (currentMs.get(node) ?? fromMs)
      if (lagMs > maxLagMs) failures.push(`${node.name}: behind the sequencer for ${Math.round(lagMs / 1_000)} s`)
      longestLagMs = Math.max(longestLagMs, lagMs)
      samples++
    }
    await delay(everyMs)
  }
  if (failures.length > 0) throw new Error(`${failures.length} of ${samples} samples unhealthy: ${failures.slice(0, 5).join('; ')}`)
  return `${samples} samples healthy, lowest score ${lowest.toFixed(1)}, no head behind for more than ${Math.round(longestLagMs / 1_000)} s`
}

/** Checks that a node which joins late, connected with one other node only, gets all earlier blocks from it. @returns blocks filled */
async function joinsLate(client: Client, chain: PeerChain, source: Participant, sequencer: Participant): Promise<number> {
  const { number } = await sequencer.unsafeHead()
  await using late = await start(client, chain, `late-${nameOf(client)}-of-${source.name}`, {
    staticPeers: [source.address],
    hasDiscovery: false,
  })
  await follows(late, sequencer, number, fillMs(number))
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
  for (const node of nodes) await follows(node, sequencer, chain.lastFork + 3, startMs)
  const { number: from } = await sequencer.unsafeHead()
  const before = await Promise.all(nodes.map((node) => node.metric('basalt_p2p_messages_total', 'outcome="accepted"')))
  const blocks = 20
  for (const node of nodes) await follows(node, sequencer, from + blocks, startMs)
  const after = await Promise.all(nodes.map((node) => node.metric('basalt_p2p_messages_total', 'outcome="accepted"')))
  const gained = after.map((count, i) => count - (before[i] ?? 0))
  if (gained.some((count) => count < blocks / 2)) throw new Error(`messages received: ${gained.join(', ')}`)
  return `${blocks} blocks, messages received: ${gained.join(' and ')}`
}
