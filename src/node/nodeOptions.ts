import type { RowRetention } from '#blockchain/segments/rowPruner'
import type { Genesis } from '#chainspec/genesis'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { ExecutionPeersSettings } from '#executionPeers/thread/protocol'
import type { P2pSettings } from '#p2p/thread/protocol'
import type { Retention } from '#types/chainDistance'
import type { Address } from '#types/ids'
import type { Grade } from '#types/trust'
import { nodeFault } from './faults.ts'
import type { ListenOptions } from './serving/servers.ts'

export type NodeMode = 'all' | 'execution' | 'consensus'

/** L1 to derive from; absent: execution mode, or follow mode without L1. */
export type L1Options = {
  /** best first */
  readonly rpcUrls: readonly string[]
  readonly beaconUrls: readonly string[]
  readonly pollMs: number
  readonly maxRequestsPerSec?: number
  /** accept transactions of blocks with blobs without verification: a devnet's anvil */
  readonly trustTransactions?: boolean
  /** slot time, if the beacon API does not give it */
  readonly slotSec?: number
}

/** Another node of the same chain to follow. */
export type SourceOptions = {
  readonly url: string
  /** the execution half records proofs, and the source is followed only as far as proofs reach */
  readonly hasProofs: boolean
  /** maximum time that the head may be ahead of recorded proofs */
  readonly maxAheadSec: number
  readonly pollMs?: number
}

export type SequencerNodeOptions = {
  /** an L1 block becomes an origin once this many blocks follow it */
  readonly l1ConfirmationBlocks: number
  /** no block is sequenced before admin_startSequencer */
  readonly isStopped: boolean
  /** no block is built while the safe head is further behind; absent: no limit */
  readonly maxSafeLagSec?: number
}

/** Consensus network. */
export type P2pOptions = Omit<P2pSettings, 'config' | 'identity' | 'agent' | 'peersFile' | 'signer'> & {
  /** key of the identity; absent: from a file in the data directory, made at the first start */
  readonly identity?: Uint8Array
  /** file of the identity key; absent: `p2p/identity.hex` in the data directory */
  readonly identityFile?: string
  /** unsafe block signer until L1 returns one, on a chain without a published signer */
  readonly unsafeSigner?: Address
  /** signs blocks that are built here; absent: they are not gossiped */
  readonly blockSigner?:
    | { readonly kind: 'key'; readonly key: Uint8Array }
    | { readonly kind: 'keyFile'; readonly file: string }
    | { readonly kind: 'remote'; readonly url: string; readonly address: Address; readonly headers: Readonly<Record<string, string>> }
}

/** Execution network. */
export type ExecutionPeersOptions = Omit<
  ExecutionPeersSettings,
  'config' | 'identity' | 'agent' | 'chain' | 'bootnodes' | 'knownNodesFile'
> & {
  /** enode URLs and ENRs; none: those of the network */
  readonly bootnodes: readonly string[]
  /** file of the identity key; absent: `p2p/execution.hex` in the data directory, made at the first start */
  readonly identityFile?: string
}

/** Engine API of an execution half in another process, and its secret. */
export type EngineEndpoint = {
  readonly url: string
  /** 32 bytes */
  readonly jwtSecret: () => Uint8Array
}

export type FlashblocksOptions = {
  /** WebSocket URLs */
  readonly urls: readonly string[]
  /** longest time without a fitting flashblock; absent: two block times */
  readonly maxAgeMs?: number
  /** maximum time to execute one pending block; absent: two block times */
  readonly maxTimeMs?: number
}

/** Recording of proofs for older blocks. */
export type ProofsOptions = {
  /** directory of its database */
  readonly dir: string
  readonly windowSec: number
  /** present: the operator gave the window as this number of blocks, converted with the block time at the start of the node */
  readonly windowBlocks?: number
  /** the node is not ready while proofs are not recorded */
  readonly isRequired: boolean
  /** pause between two steps of recording that are due, with which a test slows it; absent: none */
  readonly stepPauseMs?: number
}

/** Where spans are sent. */
export type TraceOptions = {
  /** base URL of a collector of OpenTelemetry */
  readonly url: string
  /** of each request */
  readonly headers?: Readonly<Record<string, string>>
  /** name of the node in the collector */
  readonly service: string
  /** share of the blocks that are traced, from 0 to 1 */
  readonly sample: number
}

/** Limits of the fill of an anchored state. */
export type FillOptions = {
  /** 0: nothing is filled; absent: no limit */
  readonly bytesPerSec?: number
  /** size of the chain's files above which it pauses; absent: no limit */
  readonly maxDiskBytes?: number
}

export type NodeOptions = {
  readonly mode: NodeMode
  readonly config: RollupConfig
  /** Read only when the data directory is empty. */
  readonly genesis: () => Genesis
  readonly datadir: string
  readonly version: string
  readonly l1?: L1Options
  readonly source?: SourceOptions
  /** not in consensus mode: nodes that have what a partial state lacks */
  readonly stateUrls?: readonly string[]
  readonly fill?: FillOptions
  /** a difference between the fork times on L1 and the built-in ones stops the node; absent: it is a warning */
  readonly forksFromL1?: boolean
  /** with L1, and not in execution mode */
  readonly sequencer?: SequencerNodeOptions
  /** not in execution mode; absent: there are no peers */
  readonly p2p?: P2pOptions
  /** port mapping for peers; absent: none */
  readonly nat?: 'upnp'
  /** not in consensus mode; absent: there are no execution peers */
  readonly executionPeers?: ExecutionPeersOptions
  /** consensus mode: Engine API of the other half */
  readonly engine?: { readonly url: string }
  /** 32 bytes; consensus mode, and whenever the Engine API is served */
  readonly jwtSecret?: () => Uint8Array
  readonly listen: ListenOptions
  /** not in consensus mode: JSON-RPC of the sequencer to which transactions are forwarded */
  readonly sequencerUrl?: string
  /** maximum time of one eth_call or eth_estimateGas; 0: no limit; absent: five seconds */
  readonly callTimeoutMs?: number
  /** not in consensus mode: publishers of flashblocks; absent: there are no pending blocks */
  readonly flashblocks?: FlashblocksOptions
  /** the sealed block that `pending` names without a pending block; absent: latest */
  readonly pendingFallback?: 'latest' | 'finalized'
  /** calls that take at least this time are logged; absent: none */
  readonly slowCallMs?: number
  /** absent: no spans are made */
  readonly trace?: TraceOptions
  /** threads that answer JSON-RPC over HTTP and WebSocket; 0 or absent: the main thread answers */
  readonly rpcThreads?: number
  /** minimum trust grade of the block on which the state begins; below it the node is not ready; absent: attested */
  readonly trustRequired?: Grade
  /** samples for the local page, which the metrics port serves */
  readonly hasPage?: boolean
  /** serve admin_* on the rollup port */
  readonly isAdminOn: boolean
  /** With a source of unsafe blocks: maximum age of a head that counts as fresh. */
  readonly readyMaxLagSec: number
  /** maximum time to execute one payload of another half or source; 0: no limit; absent: a minute */
  readonly maxPayloadMs?: number
  /** bound of the anonymous memory of the process; absent: by the memory of the machine */
  readonly memoryMaxBytes?: number
  /** bytes of all caches together; absent: by the memory of the machine */
  readonly cacheBytes?: number
  /** older states to keep; absent: all */
  readonly retention?: Retention
  /** not in consensus mode; absent: no proofs are recorded */
  readonly proofs?: ProofsOptions
  /** free bytes of the data directory's disk below which new blocks are refused */
  readonly minFreeBytes: number
  /** rows of finalized blocks to keep; absent: all */
  readonly rows?: RowRetention
}

export const hasPendingBlocks = ({ flashblocks }: NodeOptions): boolean => flashblocks !== undefined

/** Returns the Engine API of the other half; undefined: it is in this process, or there is none. */
export function endpointOf({ mode, engine, jwtSecret }: NodeOptions): EngineEndpoint | undefined {
  return mode === 'consensus' && engine && jwtSecret ? { url: engine.url, jwtSecret } : undefined
}

/**
 * Refuses options that exclude each other. In `all` mode the node's consensus half moves the chain, so no other one may.
 * @throws Fault OPTION_MISSING, OPTION_UNSUPPORTED (fatal)
 */
export function checkOptions(options: NodeOptions): void {
  const { mode, l1, source, engine, jwtSecret, listen } = options
  const need = (option: string, isThere: boolean): void => {
    if (!isThere) throw nodeFault('OPTION_MISSING', { mode, option })
  }
  if (mode !== 'execution')
    need('an L1 endpoint (--l1.rpc) or a node to follow (--source.l2.rpc)', l1 !== undefined || source !== undefined)
  if (mode === 'consensus') need('the Engine API of the other half (--engine)', engine !== undefined)
  if (mode === 'consensus' || listen.engine !== undefined) need('the secret both halves share (--jwt)', jwtSecret !== undefined)
  if (mode !== 'execution' && listen.engine !== undefined)
    throw nodeFault('OPTION_UNSUPPORTED', { option: `--engine.port with --mode ${mode}` })
  checkSequencer(options)
}

/** @throws Fault OPTION_MISSING, OPTION_UNSUPPORTED (fatal) */
function checkSequencer({ mode, l1, source, sequencer, config: { blockTimeSec } }: NodeOptions): void {
  if (sequencer === undefined) return
  if (mode === 'execution') throw nodeFault('OPTION_UNSUPPORTED', { option: 'a sequencer with --mode execution' })
  if (l1 === undefined) throw nodeFault('OPTION_MISSING', { mode: `${mode} and a sequencer`, option: 'an L1 endpoint (--l1.rpc)' })
  if (source !== undefined) throw nodeFault('OPTION_UNSUPPORTED', { option: 'a sequencer that follows another node (--source.l2.rpc)' })
  if (!Number.isInteger(blockTimeSec) || blockTimeSec < 1)
    throw nodeFault('OPTION_UNSUPPORTED', {
      option: `a block time of ${blockTimeSec * 1000} ms: the sequencer makes blocks of whole seconds`,
    })
}

/** Memory that an operator gives a process; a default is a share of the memory of the machine or its cgroup. */
export type MemoryOptions = Pick<NodeOptions, 'cacheBytes' | 'memoryMaxBytes'>
