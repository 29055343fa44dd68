import { join } from 'node:path'
import { configOfGenesis } from '#block/executionConfig'
import { openEthereumChain } from '#blockchain/ethereumChain'
import { createExecution } from '#blockchain/execution'
import { type ImportResult, importPayloads } from '#blockchain/importPayloads'
import { importRlp } from '#blockchain/importRlp'
import type { Genesis } from '#chainspec/genesis'
import { createEthereumEvm } from '#evm/ethereumEvm'
import { createWasmEvm } from '#evm/wasmEvm'
import { journalDir } from '#executionThread/wire/protocol'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import { openFileJournal } from '#store/fileJournal'
import { openLmdbKv } from '#store/lmdbKv'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { tables } from '#store/tables'
import type { Block } from '#types/block'
import type { BlockId, L2Ref } from '#types/blockRef'
import type { Payload } from '#types/payload'

export type ImportDeps = {
  readonly clock: Clock
  readonly log: Log
  /** Called right before and right after each transaction that moves the chain. */
  readonly onCommit?: (phase: 'begin' | 'end') => void
  /** Called with each imported payload once it is acknowledged. */
  readonly onBlock?: (payload: Payload) => void
}

/**
 * Imports payloads into the chain of a data directory, and writes the genesis block first when the directory is empty.
 * @returns counts of the import, and the head at the end
 * @throws Fault of the store, GENESIS_MISMATCH, and those of `importPayloads`
 */
export async function importFile(
  deps: ImportDeps,
  options: { readonly genesis: Genesis; readonly datadir: string; readonly lines: Iterable<string> },
): Promise<ImportResult & { readonly head: L2Ref }> {
  const { genesis, datadir, lines } = options
  const dir = join(datadir, 'chain')
  await using kv = openLmdbKv(dir, Object.values(tables))
  agreeOnSchema(kv, chainSchema)
  const config = configOfGenesis(genesis)
  using journal = openFileJournal(journalDir(dir), deps.log)
  await using execution = createExecution(
    { ...deps, kv, journal, evm: createWasmEvm(), config, genesis: () => genesis },
    { maxPayloadMs: Number.POSITIVE_INFINITY },
  )
  const result = await importPayloads(execution, config, lines, deps.onBlock)
  return { ...result, head: execution.published.heads.unsafe }
}

/**
 * Imports Ethereum blocks into the chain of a data directory, and writes the genesis block first when the directory is empty. Such a chain serves
 * comparisons with other clients; no node opens it.
 * @param genesis of a chain that follows Ethereum's own forks
 * @param onBlock called with each committed block
 * @returns counts of the import, and the head at the end
 * @throws Fault of the store, GENESIS_MISMATCH, and those of `importRlp`
 */
export async function importRlpFile(options: {
  readonly genesis: Genesis
  readonly datadir: string
  readonly bytes: Uint8Array
  readonly onBlock?: (block: Block) => void
  readonly signal?: AbortSignal
}): Promise<ImportResult & { readonly head: BlockId }> {
  const { genesis, datadir, bytes, onBlock, signal } = options
  await using kv = openLmdbKv(join(datadir, 'chain'), Object.values(tables))
  agreeOnSchema(kv, chainSchema)
  const config = configOfGenesis(genesis)
  const chain = openEthereumChain({ kv, evm: createEthereumEvm(createWasmEvm()), config, genesis: () => genesis })
  const result = importRlp(chain, bytes, onBlock, signal)
  return { ...result, head: chain.head }
}
