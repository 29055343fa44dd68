import { readdirSync, statSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { rpcCall } from '#test/harness/process/cliProcess'
import { timeOf } from '../../src/chainspec/blockTime.ts'
import { freePort } from '../devnet/process.ts'
import { eventually } from '../nodeProcess.ts'
import { fillMs, follows, meetsAll, startMs, staysHealthy } from './cases.ts'
import { forkSteps, type PeerChain, startPeerChain } from './chain.ts'
import { identityFlags, startParticipant } from './otherParticipant.ts'
import { startEngine, startOurSequencer, startOurs } from './ours.ts'
import { type Joining, type Participant, startSequencing } from './participant.ts'

/** A binary of Base's consensus client. */
export type BaseConsensus = { readonly name: string; readonly path: string }

/** Returns the programs in a folder whose name begins with `base-consensus`. */
export function baseConsensusIn(folder: string): readonly BaseConsensus[] {
  const files = readdirSync(folder).filter((name) => name.startsWith('base-consensus') && statSync(join(folder, name)).isFile())
  return files.map((name) => ({ name, path: join(folder, name) }))
}

/** Starts base-consensus with an execution half of ours, whose Engine API it uses. A sequencer waits for `startSequencing`. */
async function startTheirs(
  { name: client, path }: BaseConsensus,
  chain: PeerChain,
  name: string,
  role: 'sequencer' | 'verifier',
  { bootnodes = [] }: Joining,
): Promise<Participant> {
  await using parts = new AsyncDisposableStack()
  const engine = parts.use(await startEngine(chain, `${name}-engine`))
  const [port, rpcPort, metricsPort] = [await freePort(), await freePort(), await freePort()]
  const { files, l1Url, slotSec, config } = chain
  const args = [
    ...['node', '--chain', String(config.l2ChainId), '--l2-config-file', files.theirRollup, '--l1-config-file', files.l1Config],
    ...['--l1-eth-rpc', l1Url, '--l1-beacon', l1Url, '--l1-slot-duration-override', String(slotSec)],
    ...['--l2-engine-rpc', engine.url('engine'), '--l2-engine-jwt-secret', files.jwt],
    ...['--rpc.addr', '127.0.0.1', '--port', String(rpcPort), '--rpc.enable-admin'],
    ...['--metrics.enabled', '--metrics.addr', '127.0.0.1', '--metrics.port', String(metricsPort)],
    ...[...identityFlags(chain, name, port), '--p2p.no-bootstore', '--p2p.scoring', 'light'],
    ...(bootnodes.length > 0 ? ['--p2p.bootnodes', bootnodes.join(',')] : []),
    ...(role === 'sequencer'
      ? ['--mode', 'Sequencer', '--sequencer.stopped', '--sequencer.l1-confs', '0', '--p2p.sequencer.key', chain.sequencerKey]
      : []),
  ]
  const urls = { rollup: `http://127.0.0.1:${rpcPort}`, metrics: `http://127.0.0.1:${metricsPort}/metrics` }
  const theirs = parts.use(await startParticipant({ client, path, args, name, port, folder: chain.folder, engine, ...urls }))
  const kept = parts.move()
  return { ...theirs, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** Time for a node to receive a few blocks that it cannot insert. */
const gapMs = 8_000

/**
 * Checks a node that joins late and is connected with base-consensus only: it gets blocks by gossip, but no ancestors, because base-consensus answers each
 * request with "not found". It has them once it is connected with a node of ours.
 */
async function joinsLate(chain: PeerChain, theirs: Participant, ours: Participant, sequencer: Participant): Promise<string> {
  const { number } = await sequencer.unsafeHead()
  await using late = await startOurs(chain, 'late', { staticPeers: [theirs.address], hasDiscovery: false }, { args: ['--rollup.admin'] })
  await eventually('the late node gets blocks by gossip and no ancestors', startMs, async () => {
    const accepted = await late.metric('basalt_p2p_messages_total', 'outcome="accepted"')
    const absent = await late.metric('basalt_p2p_fetched_blocks_total', 'outcome="not_found"')
    return (accepted > 0 && absent > 0) || `${accepted} blocks by gossip, ${absent} requests answered with "not found"`
  })
  await delay(gapMs)
  const head = await late.unsafeHead()
  const served = await late.metric('basalt_p2p_fetched_blocks_total', 'outcome="found"')
  if (head.number > 0 || served > 0) throw new Error(`the late node is at ${head.number}, ${served} blocks were served`)
  for (const [node, peer] of [
    [late, theirs],
    [theirs, late],
  ] as const) {
    const view = (await node.peers()).find(({ peerId }) => peerId === peer.peerId)
    if (view === undefined || view.score < 0 || view.offences > 0)
      throw new Error(`${node.name}: score ${view?.score}, offences ${view?.offences} of ${peer.name}`)
  }
  await rpcCall(late.rollup, 'opp2p_connectPeer', [ours.address])
  await follows(late, sequencer, number, fillMs(number))
  return `a late node fetched ${await late.metric('basalt_p2p_fetched_blocks_total', 'outcome="found"')} blocks from ours, none from theirs`
}

/** Seconds in which all nodes meet, on a machine with other work too. The genesis lies as far in the future, so that no block is too old for gossip then. */
const meetingSec = (): number => 30 + 8 * Math.ceil(loadavg()[0] ?? 0)

/**
 * A sequencer of either kind, base-consensus and nodes of ours that find each other from the sequencer's record. base-consensus does not request blocks by
 * number, so all nodes join before the first block.
 */
export async function baseConsensusMesh(folder: string, client: BaseConsensus, sequences: 'ours' | 'theirs', ms: number): Promise<string> {
  await using parts = new AsyncDisposableStack()
  const chain = parts.use(
    await startPeerChain(folder, sequences === 'ours' ? forkSteps.jovian : forkSteps.fromEcotone, { ageSec: -meetingSec() }),
  )
  const sequencer = parts.use(
    sequences === 'ours'
      ? await startOurSequencer(chain, 'sequencer', { isStopped: true })
      : await startTheirs(client, chain, 'sequencer', 'sequencer', { hasDiscovery: true }),
  )
  const joining = { bootnodes: [sequencer.enr], hasDiscovery: true }
  const theirs = parts.use(await startTheirs(client, chain, 'theirs', 'verifier', joining))
  const ours = [parts.use(await startOurs(chain, 'ours-1', joining)), parts.use(await startOurs(chain, 'ours-2', joining))]
  const all = [sequencer, theirs, ...ours]
  for (const node of all) await meetsAll(node, all)
  await startSequencing(sequencer, chain.config.genesis.l2.hash)
  const dueMs = timeOf(chain.config, chain.lastFork + 3) - Date.now()
  for (const node of all.slice(1)) await follows(node, sequencer, chain.lastFork + 3, Math.max(0, dueMs) + startMs)
  const health = await staysHealthy(all, sequencer, ms)
  return `${all.length} nodes, ${health}; ${await joinsLate(chain, theirs, ours[0] ?? sequencer, sequencer)}`
}
