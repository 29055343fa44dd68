import { join } from 'node:path'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import { defaultBackoff, type Random, retry } from '#lib/retry'
import { type Imported, type ImportOptions, type ImportProgress, importReth } from '#snapshot/reth/importReth'
import type { Hash } from '#types/ids'
import { nodeFault } from './faults.ts'
import { openSourceNode } from './sourceNode.ts'

export type ImportRethDeps = {
  readonly fetch: typeof fetch
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly signal: AbortSignal
  onProgress(progress: ImportProgress): void
}

export type ImportRethOptions = Pick<ImportOptions, 'given' | 'trust'> & {
  /** folder or URL */
  readonly source: string
  readonly datadir: string
  readonly config: RollupConfig
  /** node that supplies the transactions of the snapshot's block; absent: a fault once they are needed */
  readonly l2Url?: string | undefined
  /** command that continues an interrupted import */
  readonly command: string
}

const bodyTries = 10

/**
 * Imports a snapshot of the other client into the chain folder of a data directory, with the transactions of its block from a node of the chain.
 * @throws as `importReth`; Fault SNAPSHOT_BODY_NEEDED, SNAPSHOT_BODY_UNKNOWN (fatal), those of the node
 */
export async function importRethSnapshot(deps: ImportRethDeps, options: ImportRethOptions): Promise<Imported> {
  const { source, datadir, config, given, trust, l2Url, command } = options
  const { l2 } = config.genesis
  const fetchTransactions = async ({ number, hash }: { readonly number: number; readonly hash: Hash }): Promise<readonly Uint8Array[]> => {
    if (l2Url === undefined) throw nodeFault('SNAPSHOT_BODY_NEEDED', { number, hash })
    using node = openSourceNode(deps, config, l2Url)
    const payload = await retry(deps, { backoff: defaultBackoff, signal: deps.signal, maxTries: bodyTries }, (signal) =>
      node.payload(hash, signal),
    )
    if (payload === undefined) throw nodeFault('SNAPSHOT_BODY_UNKNOWN', { endpoint: node.endpoint, number, hash })
    return payload.transactions
  }
  const place = { dir: join(datadir, 'chain'), workDir: join(datadir, 'reth-import') }
  return await importReth(
    { ...deps, fetchTransactions },
    { source, given, trust, ...place, command, chainId: config.l2ChainId, genesis: l2 },
  )
}
