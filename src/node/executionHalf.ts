import { join } from 'node:path'
import type { Registry } from 'prom-client'
import type { Genesis } from '#chain/genesis'
import type { RollupConfig } from '#chain/rollupConfig'
import { createReferenceEvm } from '#evm/referenceEvm'
import type { ExecutedBlock } from '#execution/executedBlock'
import { createExecution, type Execution } from '#execution/execution'
import { executionMetrics } from '#execution/metrics'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import { openLmdbKv } from '#store/lmdbKv'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { tables } from '#store/tables'

export type ExecutionHalfDeps = {
  readonly clock: Clock
  readonly log: Log
  readonly registry: Registry
  /** Told right before and right after each transaction that moves the chain. */
  readonly onCommit?: (phase: 'begin' | 'end') => void
}

export type ExecutionHalfOptions = {
  readonly config: RollupConfig
  readonly genesis: () => Genesis
  readonly datadir: string
}

/** The execution half of this process. */
export interface ExecutionHalf extends AsyncDisposable {
  readonly execution: Execution
  /** of all blocks executed since the start */
  executedGas(): bigint
}

/** @throws Fault of the store, WRONG_GENESIS, GENESIS_MISMATCH (fatal) */
export async function openExecutionHalf(deps: ExecutionHalfDeps, options: ExecutionHalfOptions): Promise<ExecutionHalf> {
  const { registry, log } = deps
  const { config, genesis, datadir } = options
  await using opening = new AsyncDisposableStack()
  const kv = opening.use(openLmdbKv(join(datadir, 'chain'), Object.values(tables)))
  agreeOnSchema(kv, chainSchema)
  const executed = executionMetrics.register(registry)
  let executedGas = 0n
  const onExecuted = ({ header, transactions }: ExecutedBlock, ms: number): void => {
    executedGas += header.gasUsed
    executed.blocks.inc({})
    executed.gas.inc({}, Number(header.gasUsed))
    executed.milliseconds.inc({}, ms)
    executed.transactions.inc({}, transactions.length)
    executed.lastBlock.set({}, header.number)
  }
  const evm = createReferenceEvm()
  const execution = createExecution({ ...deps, kv, evm, config, genesis, log: log.child('execution'), onExecuted })
  const open = opening.move()
  return { execution, executedGas: () => executedGas, [Symbol.asyncDispose]: () => open.disposeAsync() }
}
