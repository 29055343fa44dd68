import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { freePort } from '../devnet/process.ts'
import type { NodeProcess } from '../nodeProcess.ts'
import type { PeerChain } from './chain.ts'
import { identityFlags, startParticipant } from './otherParticipant.ts'
import { startEngine } from './ours.ts'
import type { Joining, Participant } from './participant.ts'

/** A binary of op-node. `isOld`: it knows no fork after Holocene and no chain config of L1. */
export type OpNode = { readonly name: string; readonly path: string; readonly isOld: boolean }

/** Returns the programs in a folder whose name begins with `op-node`, newest first by name. */
export function opNodesIn(folder: string): readonly OpNode[] {
  const files = readdirSync(folder).filter((name) => name.startsWith('op-node') && statSync(join(folder, name)).isFile())
  return files
    .map((name) => {
      const path = join(folder, name)
      const help = execFileSync(path, ['--help'], { encoding: 'utf8' })
      return { name: basename(name), path, isOld: !help.includes('rollup.l1-chain-config') }
    })
    .sort((a, b) => Number(a.isOld) - Number(b.isOld))
}

/** A bootnode that never answers: without one, op-node looks up public host names. */
const noBootnode = `enode://${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8'}@127.0.0.1:9`

/** Writes the rollup config as a binary reads it: old versions refuse `chain_op_config`, newer ones need it. */
function writeRollup({ folder, files }: PeerChain, name: string, isOld: boolean): string {
  const { chain_op_config: eip1559, ...rollup } = JSON.parse(readFileSync(files.theirRollup, 'utf8')) as Record<string, unknown>
  const file = join(folder, `${name}-rollup.json`)
  writeFileSync(file, JSON.stringify({ ...rollup, ...(!isOld && { chain_op_config: eip1559 }) }))
  return file
}

/** Starts op-node with an execution half of ours, whose Engine API it uses. @param more further arguments */
export async function startTheirs(
  { name: client, path, isOld }: OpNode,
  chain: PeerChain,
  name: string,
  role: 'sequencer' | 'verifier',
  { bootnodes = [], staticPeers = [], hasDiscovery, executionPeers }: Joining,
  more: readonly string[] = [],
): Promise<Participant & { readonly engine: NodeProcess }> {
  await using parts = new AsyncDisposableStack()
  const engine = parts.use(await startEngine(chain, `${name}-engine`, executionPeers))
  const [port, rpcPort, metricsPort] = [await freePort(), await freePort(), await freePort()]
  const args = [
    ...['--l1', chain.l1Url, '--l1.beacon.ignore=true', '--l1.rpckind', 'standard'],
    ...[
      '--l1.http-poll-interval',
      '1s',
      '--l1.epoch-poll-interval',
      '2s',
      '--l2',
      engine.url('engine'),
      '--l2.jwt-secret',
      chain.files.jwt,
    ],
    ...[
      '--rollup.config',
      writeRollup(chain, name, isOld),
      '--verifier.l1-confs',
      '0',
      '--rpc.addr',
      '127.0.0.1',
      '--rpc.port',
      String(rpcPort),
    ],
    // without the second flag, newer versions leave missing blocks to the network of execution clients; from 1.19 on they do so with it
    ...(isOld ? [] : ['--rollup.l1-chain-config', chain.files.l1Config, '--syncmode.req-resp']),
    ...['--metrics.enabled', '--metrics.addr', '127.0.0.1', '--metrics.port', String(metricsPort)],
    ...[...identityFlags(chain, name, port), '--p2p.peerstore.path', 'memory', '--p2p.discovery.path', 'memory'],
    ...['--p2p.scoring', 'light', '--p2p.bootnodes', bootnodes.length > 0 ? bootnodes.join(',') : noBootnode],
    ...(staticPeers.length > 0 ? ['--p2p.static', staticPeers.join(',')] : []),
    ...(hasDiscovery ? [] : ['--p2p.no-discovery']),
    ...(role === 'sequencer' ? ['--sequencer.enabled', '--sequencer.l1-confs', '0', '--p2p.sequencer.key', chain.sequencerKey] : []),
    ...more,
  ]
  const urls = { rollup: `http://127.0.0.1:${rpcPort}`, metrics: `http://127.0.0.1:${metricsPort}/metrics` }
  const theirs = parts.use(await startParticipant({ client, path, args, name, port, folder: chain.folder, engine, ...urls }))
  const kept = parts.move()
  return { ...theirs, engine, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}
