import { join } from 'node:path'
import { createSenders } from '#block/execution/senders'
import { configOfGenesis } from '#block/executionConfig'
import { createExecution } from '#blockchain/execution'
import { type ImportOptions, type ImportResult, importPayloads } from '#blockchain/importPayloads'
import type { Genesis } from '#chainspec/genesis'
import { createWasmEvm } from '#evm/wasmEvm'
import { CommitThread } from '#executionThread/commitThread'
import { LinkedRootThreads } from '#executionThread/roots/rootThreads'
import { SenderThreads } from '#executionThread/senderThreads'
import { journalDir } from '#executionThread/wire/protocol'
import { CacheSet } from '#lib/caches'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import { createThreadGuard } from '#lib/memoryGuard'
import { shareBytes } from '#lib/packedBytes'
import { type ProofsOptions, startProofsThread } from '#proofs/proofsThread'
import { createHistoryCaches } from '#state/historyCache'
import { openChainKv } from '#store/chainTables'
import { openFileJournal } from '#store/fileJournal'
import { createMemoryJournal } from '#store/memoryJournal'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { Tries } from '#trie/tries'
import type { L2Ref } from '#types/blockRef'
import type { Retention } from '#types/chainDistance'
import { divideImportCache } from './memory/cacheBudget.ts'
import { memoryBounds } from './memory/nodeMemory.ts'
import type { MemoryOptions } from './nodeOptions.ts'
import { retentionBeside } from './parts/proofsPart.ts'

export type ImportDeps = {
  readonly clock: Clock
  readonly log: Log
  /** Called right before and right after each transaction that moves the chain. */
  readonly onCommit?: (phase: 'begin' | 'end') => void
} & Pick<ImportOptions, 'onBlock' | 'signal'>

/**
 * Returns the most execution time of blocks that are not committed, in ms: a millisecond for each MiB of the memory bound. Blocks of an import are not
 * journalled, as the file has them still, so a start after a kill does not bound their number. The more blocks a transaction has, the fewer pages it writes
 * for each; beyond a second, the sorted list of its pages costs more than that saves (ADR 0027).
 */
const maxUncommittedMs = (maxMemoryBytes: number): number => Math.min(1_000, Math.max(400, maxMemoryBytes / 2 ** 20))

/**
 * Imports payloads into the chain of a data directory, and writes the genesis block first when the directory is empty. Commits what it imported also when
 * it fails or is stopped. A kill loses the blocks since the last transaction.
 * @returns counts of the import, and the head at the end
 * @throws Fault of the store, GENESIS_MISMATCH, and those of `importPayloads`
 */
export async function importFile(
  deps: ImportDeps,
  options: {
    readonly genesis: Genesis
    readonly datadir: string
    readonly lines: Iterable<string> | AsyncIterable<string>
    readonly memory?: MemoryOptions
    /** older states to keep, besides those from the finalized block on; absent: all */
    readonly retention?: Retention
    /** absent: no proofs are recorded */
    readonly proofs?: Pick<ProofsOptions, 'dir' | 'window'>
  },
): Promise<ImportResult & { readonly head: L2Ref }> {
  const { genesis, datadir, lines, proofs } = options
  const retention = proofs ? retentionBeside(options.retention, deps.log) : options.retention
  const { maxBytes, cacheBytes } = memoryBounds(options.memory ?? {})
  const dir = join(datadir, 'chain')
  await using kv = openChainKv(dir)
  agreeOnSchema(kv, chainSchema)
  const config = configOfGenesis(genesis)
  const bytes = divideImportCache(cacheBytes)
  const caches = new CacheSet(bytes)
  using memory = createThreadGuard(deps.clock, maxBytes, caches)
  const evm = caches.add('code', (codeBytes) => createWasmEvm({ codeBytes }))
  const common = { ...deps, kv, config, genesis: (): Genesis => genesis, evm, memory }
  await commitJournal(common, dir)
  await using committer = new CommitThread(dir, { memoryMaxBytes: maxBytes })
  await using threads = new SenderThreads(deps, { dir })
  await using execution = await createExecution(
    {
      ...{ ...common, committer, journal: createMemoryJournal() },
      senders: createSenders({ known: caches.lru('senders') }),
      history: createHistoryCaches((share) => caches.lru('branches', share)),
      tries: caches.add('nodes', (nodeBytes) => new Tries(nodeBytes)),
      ...(threads.roots.length > 0 && { rootThreads: new LinkedRootThreads(threads.roots) }),
    },
    {
      maxPayloadMs: Number.POSITIVE_INFINITY,
      maxUncommittedMs: maxUncommittedMs(maxBytes),
      retention,
    },
  )
  await using recording = proofs && (await startProofsThread({ log: deps.log, onStep: () => {} }, dir, proofs))
  const recoverAhead: ImportOptions['recoverAhead'] = (transactions) => threads.post(shareBytes(transactions))
  const result = await importPayloads(execution, config, lines, { ...deps, recoverAhead })
  const head = execution.published.heads.unsafe
  await recording?.reached(head.number)
  return { ...result, head }
}

/** Commits the blocks that an earlier process journalled and did not commit. */
async function commitJournal(deps: Omit<Parameters<typeof createExecution>[0], 'journal'>, dir: string): Promise<void> {
  using journal = openFileJournal(journalDir(dir), deps.log)
  for (const _ of journal.records()) {
    await using execution = await createExecution({ ...deps, journal })
    execution.commit()
    return
  }
}
