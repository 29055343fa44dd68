import { join } from 'node:path'
import { systemClock } from '../../src/lib/clock.ts'
import { type Log, silentLog } from '../../src/lib/log.ts'
import { type Node, startNode } from '../../src/node/node.ts'
import type { NodeOptions } from '../../src/node/nodeOptions.ts'
import { freePort } from '../devnet/process.ts'
import { createNodeProcess, type NodeProcess, type Served } from '../nodeProcess.ts'
import type { PeerChain } from './chain.ts'
import { hashFrom, type Joining, metricAt, type Participant, peersAt, selfAt, unsafeHeadAt } from './participant.ts'

const filesOf = ({ files }: PeerChain): readonly string[] => ['--rollup.config', files.rollup, '--genesis', files.genesis]

/** Starts an execution half for a consensus client of another kind. @param executionPeers enodes; none: it is not on the execution network */
export async function startEngine(chain: PeerChain, name: string, executionPeers: readonly string[] = []): Promise<NodeProcess> {
  const peers = ['--p2p.execution.addr', '127.0.0.1', '--p2p.execution.port', '0', '--p2p.execution.no-discovery']
  const node = await createNodeProcess({
    name,
    folder: join(chain.folder, name),
    args: [
      ...['--mode', 'execution', ...filesOf(chain), '--jwt', chain.files.jwt],
      ...(executionPeers.length > 0 ? [...peers, '--p2p.execution.static', executionPeers.join(',')] : []),
    ],
    serves: ['http', 'engine', 'metrics'],
  })
  node.spawn()
  await node.up()
  return node
}

/** Returns the flags of a consensus half with peers. */
const consensusFlags = (
  { l1Url }: PeerChain,
  port: number,
  { bootnodes = [], staticPeers = [], hasDiscovery }: Joining,
): readonly string[] => [
  ...['--l1.rpc', l1Url, '--l1.beacon', l1Url, '--l1.poll-interval', '500'],
  ...['--p2p.enable', '--p2p.addr', '127.0.0.1', '--p2p.port', String(port)],
  ...(bootnodes.length > 0 ? ['--p2p.bootnodes', bootnodes.join(',')] : []),
  ...(staticPeers.length > 0 ? ['--p2p.static', staticPeers.join(',')] : []),
  ...(hasDiscovery ? [] : ['--p2p.no-discovery']),
]

/** Returns what others see of a running node. @param execution process that serves its blocks */
async function participantOf(
  node: NodeProcess,
  name: string,
  port: number,
  execution: NodeProcess,
): Promise<Omit<Participant, typeof Symbol.asyncDispose>> {
  const rollup = node.url('rollup')
  const { peerId, enr } = await selfAt(rollup)
  return {
    ...{ name, kind: 'ours', peerId, enr, port, rollup },
    address: `/ip4/127.0.0.1/tcp/${port}/p2p/${peerId}`,
    unsafeHead: () => unsafeHeadAt(rollup),
    hashAt: (number) => hashFrom(execution.url('http'), number),
    peers: () => peersAt(rollup),
    metric: (metric, labels) => metricAt(`${node.url('metrics')}/metrics`, metric, labels),
    tail: () => node.tail(),
  }
}

/** Starts the two halves of a verifying node as processes of their own. */
export async function startOursApart(
  chain: PeerChain,
  name: string,
  joining: Joining,
): Promise<Participant & { readonly engine: NodeProcess }> {
  await using parts = new AsyncDisposableStack()
  const engine = parts.use(await startEngine(chain, `${name}-engine`, joining.executionPeers))
  const port = await freePort()
  const half = ['--mode', 'consensus', ...filesOf(chain), '--engine', engine.url('engine'), '--jwt', chain.files.jwt]
  const node = await createNodeProcess({
    name,
    folder: join(chain.folder, name),
    args: [...half, ...consensusFlags(chain, port, joining)],
    serves: ['rollup', 'metrics'],
  })
  parts.use(node)
  node.spawn()
  await node.up()
  const participant = await participantOf(node, name, port, engine)
  const kept = parts.move()
  return { ...participant, engine, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** Starts a verifying node with peers, as a process. @param more further flags, and ports that it serves */
export async function startOurs(
  chain: PeerChain,
  name: string,
  joining: Joining,
  more: { readonly args?: readonly string[]; readonly serves?: readonly Served[] } = {},
): Promise<Participant & { readonly node: NodeProcess }> {
  const port = await freePort()
  const node = await createNodeProcess({
    name,
    folder: join(chain.folder, name),
    args: [...filesOf(chain), ...consensusFlags(chain, port, joining), ...(more.args ?? [])],
    serves: ['http', 'rollup', 'metrics', ...(more.serves ?? [])],
  })
  node.spawn()
  await node.up()
  return { ...(await participantOf(node, name, port, node)), node, [Symbol.asyncDispose]: () => node[Symbol.asyncDispose]() }
}

const anyPort = { host: '127.0.0.1', port: 0 }

/** Starts a sequencer in this process, which signs with the key that L1 names. @param isStopped it waits for `startSequencing` */
export async function startOurSequencer(
  chain: PeerChain,
  name: string,
  {
    log = silentLog,
    executionPeers,
    isStopped = false,
  }: { readonly log?: Log; readonly executionPeers?: NodeOptions['executionPeers']; readonly isStopped?: boolean } = {},
): Promise<Participant & Pick<Node, 'execution' | 'urls'>> {
  const node = await startNode(
    { clock: systemClock, random: Math.random, fetch, log },
    {
      ...{ mode: 'all', config: chain.config, genesis: chain.genesis, version: 'e2e', datadir: join(chain.folder, name) },
      l1: { rpcUrls: [chain.l1Url], beaconUrls: [chain.l1Url], pollMs: 500, slotSec: chain.slotSec },
      ...{ isAdminOn: isStopped, readyMaxLagSec: 30, minFreeBytes: 100_000_000 },
      sequencer: { l1ConfirmationBlocks: 0, isStopped },
      listen: { http: anyPort, rollup: anyPort, metrics: anyPort },
      ...(executionPeers && { executionPeers }),
      p2p: {
        ...{ host: '127.0.0.1', port: 0, hasDiscovery: true, bootnodes: [], trustedPeers: [], staticPeers: [], maxPeers: 30 },
        bans: { isOn: true, belowScore: -100, durationMs: 60_000 },
        blockSigner: { kind: 'keyFile', file: chain.sequencerKeyFile },
      },
    },
  )
  const { http = '', rollup = '', metrics = '' } = node.urls
  const { peerId, enr, tcpPort } = node.peers() ?? { peerId: '', enr: '', tcpPort: 0 }
  return {
    ...{ name, kind: 'ours', peerId, enr, port: tcpPort, rollup, execution: node.execution, urls: node.urls },
    address: `/ip4/127.0.0.1/tcp/${tcpPort}/p2p/${peerId}`,
    unsafeHead: () => unsafeHeadAt(rollup),
    hashAt: (number) => hashFrom(http, number),
    peers: () => peersAt(rollup),
    metric: (metric, labels) => metricAt(metrics.endsWith('/metrics') ? metrics : `${metrics}/metrics`, metric, labels),
    tail: () => '',
    [Symbol.asyncDispose]: () => node[Symbol.asyncDispose](),
  }
}
