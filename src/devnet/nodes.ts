import type { Genesis } from '#chainspec/genesis'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Node } from '#node/node'
import type { NodeOptions } from '#node/nodeOptions'
import type { Retention } from '#types/chainDistance'
import type { Hash } from '#types/ids'
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
}

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

export function sequencerOptions(basics: NodeBasics, datadir: string): NodeOptions {
  const { ports, hasFlashblocks } = basics
  return {
    ...common(basics, datadir),
    sequencer: { l1ConfirmationBlocks: 0, isStopped: false },
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
    source: { url: `${source.rpc},${source.ws}`, hasProofs: false, maxAheadSec: 0 },
    sequencerUrl: source.rpc,
    ...(source.flashblocks !== undefined && { flashblocks: { urls: [source.flashblocks] } }),
    listen: {
      http: { host, port: basics.ports.verifier ?? 0, cors, flag: 'verifier.port' },
      ws: { host, port: basics.ports.verifierWs ?? 0, cors, flag: 'verifier.ws-port' },
    },
  }
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
