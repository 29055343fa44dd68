import { networkNames } from '#chainspec/networkNames'
import { networkOf } from '#chainspec/networks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { fromHex } from '#lib/hex'
import type { NodeMode, NodeOptions, P2pOptions } from '#node/nodeOptions'
import { parseAddress } from '#types/ids'
import { cliFault } from './faults.ts'
import { type FlagName, type FlagValues, flags } from './flags.ts'

/** Flags of the consensus network. */
export const p2pFlagNames = [
  'p2p.disable',
  'p2p.enable',
  'p2p.addr',
  'p2p.port',
  'p2p.advertise',
  'p2p.advertise.tcp',
  'p2p.advertise.udp',
  'p2p.no-discovery',
  'p2p.bootnodes',
  'p2p.static',
  'p2p.trusted',
  'p2p.max-peers',
  'p2p.key',
  'p2p.key.raw',
  'p2p.ban',
  'p2p.ban.duration',
  'p2p.signer',
  'p2p.sequencer.key',
  'p2p.signer.endpoint',
  'p2p.signer.address',
] as const satisfies readonly FlagName[]
export type P2pValues = FlagValues<(typeof p2pFlagNames)[number]> & { readonly mode: NodeMode }

/** Score below which a peer is banned. @see Base's `--p2p.ban.threshold` */
const banBelowScore = -100

const peersOf = (text: string | undefined): readonly string[] =>
  (text ?? '')
    .split(',')
    .map((peer) => peer.trim())
    .filter((peer) => peer !== '')

function isBuiltIn({ l2ChainId }: RollupConfig): boolean {
  return networkNames.some((name) => networkOf(name).config.l2ChainId === l2ChainId)
}

function blockSignerOf(given: P2pValues): Pick<P2pOptions, 'blockSigner'> {
  const { 'p2p.sequencer.key': file, 'p2p.signer.endpoint': url, 'p2p.signer.address': address } = given
  if (file !== undefined && url !== undefined)
    throw cliFault('BAD_FLAG', { flag: 'p2p.signer.endpoint', value: '(secret)', expected: 'no --p2p.sequencer.key beside it' })
  if (file !== undefined) return { blockSigner: { kind: 'keyFile', file } }
  if (url === undefined) return {}
  if (address === undefined)
    throw cliFault('MISSING_FLAG', {
      flag: 'p2p.signer.address',
      variable: flags['p2p.signer.address'].env,
      doc: flags['p2p.signer.address'].doc,
    })
  return { blockSigner: { kind: 'remote', url, address: parseAddress(address), headers: {} } }
}

/**
 * Returns the options of the consensus network: on for the built-in networks, and for a custom chain with --p2p.enable or a peer.
 * @throws Fault BAD_FLAG, MISSING_FLAG (fatal)
 */
export function p2pOf(given: P2pValues, config: RollupConfig): Pick<NodeOptions, 'p2p'> {
  const port = given['p2p.port']
  if (given.mode === 'execution' || given['p2p.disable'] || port === 'off') return {}
  const [bootnodes, staticPeers, trustedPeers] = [given['p2p.bootnodes'], given['p2p.static'], given['p2p.trusted']].map(peersOf)
  const hasPeers = [bootnodes, staticPeers, trustedPeers].some((peers) => peers !== undefined && peers.length > 0)
  if (!given['p2p.enable'] && !hasPeers && !isBuiltIn(config)) return {}
  const { 'p2p.advertise': host, 'p2p.advertise.tcp': tcpPort, 'p2p.advertise.udp': udpPort } = given
  const { 'p2p.key': identityFile, 'p2p.key.raw': identity, 'p2p.signer': unsafeSigner } = given
  return {
    p2p: {
      host: given['p2p.addr'],
      port,
      advertise: {
        ...(host !== undefined && { host }),
        ...(tcpPort !== undefined && { tcpPort }),
        ...(udpPort !== undefined && { udpPort }),
      },
      hasDiscovery: !given['p2p.no-discovery'],
      bootnodes: bootnodes ?? [],
      staticPeers: staticPeers ?? [],
      trustedPeers: trustedPeers ?? [],
      maxPeers: given['p2p.max-peers'],
      bans: { isOn: given['p2p.ban'] === 'on', belowScore: banBelowScore, durationMs: given['p2p.ban.duration'] },
      ...(identity !== undefined && { identity: fromHex(`0x${identity}`) }),
      ...(identityFile !== undefined && { identityFile }),
      ...(unsafeSigner !== undefined && { unsafeSigner: parseAddress(unsafeSigner) }),
      ...blockSignerOf(given),
    },
  }
}

/** Flags of the execution network. */
export const executionPeersFlagNames = [
  'p2p.execution',
  'p2p.execution.addr',
  'p2p.execution.port',
  'p2p.execution.advertise',
  'p2p.execution.no-discovery',
  'p2p.execution.bootnodes',
  'p2p.execution.static',
  'p2p.execution.trusted',
  'p2p.execution.max-peers',
  'p2p.execution.key',
] as const satisfies readonly FlagName[]
export type ExecutionPeersValues = FlagValues<(typeof executionPeersFlagNames)[number]> & { readonly mode: NodeMode }

/**
 * Returns the options of the execution network: on with --p2p.execution on or a peer, and by default on the built-in networks where something names blocks
 * whose ancestors are missing: the consensus network, or a consensus half elsewhere.
 * @param hasGossip whether this node is on the consensus network
 */
export function executionPeersOf(
  given: ExecutionPeersValues,
  config: RollupConfig,
  hasGossip: boolean,
): Pick<NodeOptions, 'executionPeers'> {
  const { 'p2p.execution': wanted, 'p2p.execution.port': port } = given
  if (given.mode === 'consensus' || wanted === 'off' || port === 'off') return {}
  const bootnodes = peersOf(given['p2p.execution.bootnodes'])
  const staticPeers = peersOf(given['p2p.execution.static'])
  const trustedPeers = peersOf(given['p2p.execution.trusted'])
  const hasPeers = bootnodes.length + staticPeers.length + trustedPeers.length > 0
  const isUseful = hasGossip || given.mode === 'execution'
  if (wanted === undefined && !hasPeers && !(isUseful && isBuiltIn(config))) return {}
  const { 'p2p.execution.advertise': advertisedHost, 'p2p.execution.key': identityFile } = given
  return {
    executionPeers: {
      host: given['p2p.execution.addr'],
      port,
      ...(advertisedHost !== undefined && { advertisedHost }),
      hasDiscovery: !given['p2p.execution.no-discovery'],
      ...{ bootnodes, staticPeers, trustedPeers },
      maxPeers: given['p2p.execution.max-peers'],
      ...(identityFile !== undefined && { identityFile }),
    },
  }
}
