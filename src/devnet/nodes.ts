import type { Genesis } from '#chainspec/genesis'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { addressOfKey } from '#lib/secp256k1'
import type { Node } from '#node/node'
import type { NodeOptions } from '#node/nodeOptions'
import type { Retention } from '#types/chainDistance'
import { addressFromBytes, type Hash } from '#types/ids'
import type { ComparedNode } from './agreement.ts'
import type { DevnetPorts } from './options.ts'
import type { DevnetL1 } from './ports.ts'

const host = '127.0.0.1'
/** Allows pages from any local port, for development. */
const cors = true
/** Minimum free disk space. A devnet writes little; below this the disk counts as full. */
const minFreeBytes = 100_000_000
/** Interval between flashblocks: ten in a block of 2 s. */
const flashblockMs = 200
/** Number of polls of the L1 head per slot. */
const looksPerSlot = 4

export type NodeBasics = {
  readonly config: RollupConfig
  readonly genesis: () => Genesis
  readonly version: string
  readonly l1: Pick<DevnetL1, 'kind' | 'rpcUrl' | 'beaconUrl' | 'slotSec'>
  readonly ports: DevnetPorts
  readonly hasFlashblocks: boolean
  readonly retention?: Retention | undefined
  /** absent: the nodes are no peers */
  readonly peers?: DevnetPeers | undefined
}

/** Key of the unsafe block signer, and the peers that a node begins with. */
export type DevnetPeers = { readonly key: Uint8Array; readonly staticPeers: readonly string[] }

function common({ config, genesis, version, l1, retention }: NodeBasics, datadir: string): Omit<NodeOptions, 'listen'> {
  return {
    mode: 'all',
    config,
    genesis,
    version,
    datadir,
    l1: {
      rpcUrls: [l1.rpcUrl],
      beaconUrls: [l1.beaconUrl],
      pollMs: (l1.slotSec * 1_000) / looksPerSlot,
      slotSec: l1.slotSec,
      // the transactions root of anvil's blob blocks does not match
      ...(l1.kind === 'anvil' && { trustTransactions: true }),
    },
    isAdminOn: true,
    readyMaxLagSec: 30,
    minFreeBytes,
    ...(retention && { retention }),
  }
}

/** Returns the consensus network of a node: on loopback, on any free port. */
function peersOf({ peers }: NodeBasics, role: 'sequencer' | 'verifier'): Pick<NodeOptions, 'p2p'> {
  if (peers === undefined) return {}
  return {
    p2p: {
      ...{ host, port: 0, hasDiscovery: true, bootnodes: [], trustedPeers: [], staticPeers: peers.staticPeers, maxPeers: 30 },
      bans: { isOn: true, belowScore: -100, durationMs: 60_000 },
      unsafeSigner: addressFromBytes(addressOfKey(peers.key)),
      ...(role === 'sequencer' && { blockSigner: { kind: 'key', key: peers.key } }),
    },
  }
}

/** Returns the address at which a node of the devnet is dialled. @throws RangeError when it has no peers */
export function peerAddressOf(node: Node): string {
  const listening = node.peers()
  if (listening === undefined) throw new RangeError('the node has no peers')
  return listening.enr
}

export function sequencerOptions(basics: NodeBasics, datadir: string): NodeOptions {
  const { ports, hasFlashblocks } = basics
  return {
    ...common(basics, datadir),
    ...peersOf(basics, 'sequencer'),
    sequencer: { l1ConfirmationBlocks: 0, isStopped: false },
    hasPage: true,
    listen: {
      http: { host, port: ports.rpc ?? 0, cors },
      ws: { host, port: ports.ws ?? 0, cors },
      rollup: { host, port: ports.rollup ?? 0 },
      ...(hasFlashblocks && { flashblocks: { host, port: ports.flashblocks ?? 0, intervalMs: flashblockMs, flag: 'publisher.port' } }),
    },
  }
}

/** Returns the options of the verifying node, which follows the sequencer and confirms all blocks by L1. */
export function verifierOptions(
  basics: NodeBasics,
  datadir: string,
  source: { readonly rpc: string; readonly ws: string; readonly flashblocks: string | undefined },
): NodeOptions {
  return {
    ...common(basics, datadir),
    ...peersOf(basics, 'verifier'),
    source: { url: `${source.rpc},${source.ws}`, hasProofs: false, maxAheadSec: 0 },
    sequencerUrl: source.rpc,
    ...(source.flashblocks !== undefined && { flashblocks: { urls: [source.flashblocks] } }),
    listen: {
      http: { host, port: basics.ports.verifier ?? 0, cors, flag: 'verifier.port' },
      ws: { host, port: basics.ports.verifierWs ?? 0, cors, flag: 'verifier.ws-port' },
    },
  }
}

/** Returns the options of a further verifying node, whose unsafe blocks come from its peers only. */
export function peerOptions(basics: NodeBasics, datadir: string): NodeOptions {
  return { ...common(basics, datadir), ...peersOf(basics, 'verifier'), listen: { http: { host, port: 0, cors } } }
}

/** Returns a node with an execution half for the agreement check. */
export function comparedNode(node: Node, execution: NonNullable<Node['execution']>): ComparedNode {
  return {
    view: () => execution.view(),
    derivedL1Head(): Hash | undefined {
      const status = node.status()
      const head = status?.l1.latest?.hash
      return head !== undefined && status?.origin?.hash === head ? head : undefined
    },
  }
}
