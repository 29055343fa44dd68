import { join } from 'node:path'
import type { Registry } from 'prom-client'
import type { Genesis } from '#chain/genesis'
import type { RollupConfig } from '#chain/rollupConfig'
import { type ExecutionWorker, startExecutionWorker } from '#execution/executionWorker'
import type { HeadRecord } from '#execution/headRecord'
import { executionMetrics, measurePool } from '#execution/metrics'
import type { TxPoolFacts } from '#execution/txPool'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'

export type ExecutionHalfDeps = {
  readonly clock: Clock
  readonly log: Log
  readonly registry: Registry
  /** Told right before and right after each transaction that moves the chain. */
  readonly onCommit?: (phase: 'begin' | 'end') => void
  /** Told of each record right after it can be read. */
  readonly onPublish?: (record: HeadRecord) => void
}

export type ExecutionHalfOptions = {
  readonly config: RollupConfig
  readonly genesis: () => Genesis
  readonly datadir: string
  readonly minFreeBytes: number
}

/** The execution half of this process. */
export interface ExecutionHalf extends AsyncDisposable {
  readonly execution: ExecutionWorker
  /** of all blocks executed since the start */
  executedGas(): bigint
  /** Measures what it holds: before metrics are read. */
  collect(): void
}

/** @throws Fault of the store, WRONG_GENESIS, GENESIS_MISMATCH, EXECUTION_STOPPED (fatal) */
export async function openExecutionHalf(deps: ExecutionHalfDeps, options: ExecutionHalfOptions): Promise<ExecutionHalf> {
  const { registry } = deps
  const { config, genesis, datadir, minFreeBytes } = options
  const executed = executionMetrics.register(registry)
  let executedGas = 0n
  const execution = await startExecutionWorker(
    {
      ...deps,
      genesis,
      onExecuted({ number, gasUsed, transactions, ms }): void {
        executedGas += gasUsed
        executed.blocks.inc({})
        executed.gas.inc({}, Number(gasUsed))
        executed.milliseconds.inc({}, ms)
        executed.transactions.inc({}, transactions)
        executed.lastBlock.set({}, number)
      },
    },
    { dir: join(datadir, 'chain'), config, minFreeBytes },
  )
  let poolBefore: TxPoolFacts | undefined
  function collect(): void {
    const { journalBytes, treeBytes, overlayBlocks, pool } = execution.sizes()
    executed.journal.set({}, journalBytes)
    executed.tree.set({}, treeBytes)
    executed.overlays.set({}, overlayBlocks)
    if (pool) measurePool(executed, pool, poolBefore)
    poolBefore = pool
  }
  return { execution, collect, executedGas: () => executedGas, [Symbol.asyncDispose]: () => execution[Symbol.asyncDispose]() }
}
