import type { Genesis } from '#chain/genesis'
import type { RollupConfig } from '#chain/rollupConfig'
import { nodeFault } from './faults.ts'
import type { ListenOptions } from './servers.ts'

export type NodeMode = 'all' | 'execution' | 'consensus'

/** L1 to derive from; absent: execution mode, or follow mode without L1. */
export type L1Options = {
  /** best first */
  readonly rpcUrls: readonly string[]
  readonly beaconUrls: readonly string[]
  readonly pollMs: number
  readonly maxRequestsPerSec?: number
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

export type NodeOptions = {
  readonly mode: NodeMode
  readonly config: RollupConfig
  /** Read only when the data directory is empty. */
  readonly genesis: () => Genesis
  readonly datadir: string
  readonly version: string
  readonly l1?: L1Options
  readonly source?: SourceOptions
  /** consensus mode: the other half, its Engine API */
  readonly engine?: { readonly url: string }
  /** 32 bytes; consensus mode, and wherever the Engine API is served */
  readonly jwtSecret?: () => Uint8Array
  readonly listen: ListenOptions
  /** admin_* on the rollup port */
  readonly isAdminOn: boolean
  /** With a source of unsafe blocks: a head older than this is not fresh. */
  readonly readyMaxLagSec: number
  /** of the disk under the data directory: below it nothing more is written */
  readonly minFreeBytes: number
}

/**
 * Refuses options that do not go together.
 * @throws Fault OPTION_MISSING, OPTION_UNSUPPORTED (fatal)
 */
export function checkOptions({ mode, l1, source, engine, jwtSecret, listen }: NodeOptions): void {
  const need = (option: string, isThere: boolean): void => {
    if (!isThere) throw nodeFault('OPTION_MISSING', { mode, option })
  }
  if (mode !== 'execution')
    need('an L1 endpoint (--l1.rpc) or a node to follow (--source.l2.rpc)', l1 !== undefined || source !== undefined)
  if (mode === 'consensus') need('the Engine API of the other half (--engine)', engine !== undefined)
  if (mode === 'consensus' || listen.engine !== undefined) need('the secret both halves share (--jwt)', jwtSecret !== undefined)
  if (mode !== 'all') throw nodeFault('OPTION_UNSUPPORTED', { option: `--mode ${mode}` })
  if (source !== undefined) throw nodeFault('OPTION_UNSUPPORTED', { option: '--source.l2.rpc' })
  if (listen.ws !== undefined) throw nodeFault('OPTION_UNSUPPORTED', { option: '--ws.port' })
  if (listen.engine !== undefined) throw nodeFault('OPTION_UNSUPPORTED', { option: '--engine.port' })
}
