import type { Genesis } from '#chainspec/genesis'
import type { RollupConfig } from '#chainspec/rollupConfig'
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
  /** of blocks with blobs the transactions are taken on trust: a devnet's anvil */
  readonly trustTransactions?: boolean
  /** between slots, when the beacon API does not say */
  readonly slotSec?: number
}

/** Another node of the same chain that is followed. */
export type SourceOptions = {
  readonly url: string
  /** the execution half records proofs, and the source is followed only as far as it has them */
  readonly hasProofs: boolean
  /** how far the head may be ahead of recorded proofs */
  readonly maxAheadSec: number
  readonly pollMs?: number
}

/** Blocks are made here. */
export type SequencerNodeOptions = {
  /** an L1 block is an origin once it has as many on top of it */
  readonly l1ConfirmationBlocks: number
  /** nothing is sequenced before admin_startSequencer */
  readonly isStopped: boolean
  /** nothing is built while the safe head is so far behind; absent: however far it is */
  readonly maxSafeLagSec?: number
}

/** Where the Engine API of another half is, and the secret it asks for. */
export type EngineEndpoint = {
  readonly url: string
  /** 32 bytes */
  readonly jwtSecret: () => Uint8Array
}

/** Publishers of this chain that are listened to. */
export type FlashblocksOptions = {
  /** WebSockets */
  readonly urls: readonly string[]
  /** without a slice that fits; absent: two block times */
  readonly maxAgeMs?: number
  /** for executing one block that is not sealed; absent: two block times */
  readonly maxTimeMs?: number
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
  /** with L1, and not in execution mode */
  readonly sequencer?: SequencerNodeOptions
  /** consensus mode: the other half, its Engine API */
  readonly engine?: { readonly url: string }
  /** 32 bytes; consensus mode, and wherever the Engine API is served */
  readonly jwtSecret?: () => Uint8Array
  readonly listen: ListenOptions
  /** not in consensus mode: JSON-RPC of a sequencer elsewhere, to which transactions are passed on */
  readonly sequencerUrl?: string
  /** time that one eth_call or eth_estimateGas has for running code; 0: no bound; absent: five seconds */
  readonly callTimeoutMs?: number
  /** not in consensus mode: publishers of this chain, whose blocks are pending before they are sealed; absent: pending is what is sealed */
  readonly flashblocks?: FlashblocksOptions
  /** the sealed block that `pending` names while there is no newer one; absent: latest */
  readonly pendingFallback?: 'latest' | 'finalized'
  /** threads that answer JSON-RPC over HTTP and WebSocket; 0 or absent: the main thread does */
  readonly rpcThreads?: number
  /** admin_* on the rollup port */
  readonly isAdminOn: boolean
  /** With a source of unsafe blocks: a head older than this is not fresh. */
  readonly readyMaxLagSec: number
  /** for executing one payload of another half or source; 0: no bound; absent: a minute */
  readonly maxPayloadMs?: number
  /** of the disk under the data directory: below it nothing more is written */
  readonly minFreeBytes: number
}

/** Whether blocks are known before they are sealed. */
export const hasPendingBlocks = ({ flashblocks }: NodeOptions): boolean => flashblocks !== undefined

/** Where the other half is; undefined: it is in this process, or nobody asks for it. */
export function endpointOf({ mode, engine, jwtSecret }: NodeOptions): EngineEndpoint | undefined {
  return mode === 'consensus' && engine && jwtSecret ? { url: engine.url, jwtSecret } : undefined
}

/**
 * Refuses options that do not go together.
 * @throws Fault OPTION_MISSING, OPTION_UNSUPPORTED (fatal): in `all` mode one consensus half moves the chain, and another one must not
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
