import { join } from 'node:path'
import type { Registry } from 'prom-client'
import type { RollupConfig } from '#chain/rollupConfig'
import { createDriver, type Driver, defaultDriverOptions } from '#consensus/driver'
import { consensusMetrics } from '#consensus/metrics'
import type { SafeHeadStore } from '#consensus/ports'
import { createSafeHeadStore } from '#consensus/safeHeadStore'
import { createPipeline } from '#derive/pipeline'
import type { Engine } from '#engine/port'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { Random } from '#lib/retry'
import { openLmdbKv } from '#store/lmdbKv'
import { agreeOnSchema, consensusSchema } from '#store/schema'
import { consensusTables } from '#store/tables'
import { checkL1, openL1 } from './l1Part.ts'
import type { L1Options } from './nodeOptions.ts'
import { safeHeadTable } from './safeHeadTable.ts'

export type ConsensusHalfDeps = {
  readonly engine: Engine
  readonly clock: Clock
  readonly random: Random
  readonly fetch: typeof fetch
  readonly log: Log
  readonly registry: Registry
}

export type ConsensusHalfOptions = { readonly config: RollupConfig; readonly datadir: string; readonly l1: L1Options }

/** The consensus half of this process, before it runs. */
export interface ConsensusHalf extends AsyncDisposable {
  readonly driver: Pick<Driver, 'status'>
  readonly store: SafeHeadStore
  /**
   * Runs until the signal is aborted; once. A fork without rules ends derivation, not the node.
   * @throws Fault that a running node cannot report by itself (fatal)
   */
  run(signal: AbortSignal): Promise<void>
}

/** Safe and finalized move once in minutes: they are asked for at every so many polls of the head. */
const labelPolls = 4

/** Derivation that a fork stopped leaves a node that serves what it has, not ready; any other fatal fault ends it. */
async function runDriver(driver: Driver, log: Log, signal: AbortSignal): Promise<void> {
  try {
    await driver.run(signal)
  } catch (error) {
    if (!isFault(error, 'UNSUPPORTED_FORK')) throw error
    log.error(error.message, { code: error.code, fix: error.fix })
  }
}

/** @throws Fault of the store (fatal) */
export async function openConsensusHalf(deps: ConsensusHalfDeps, options: ConsensusHalfOptions): Promise<ConsensusHalf> {
  const { engine, clock, random, log, registry } = deps
  const { config, datadir } = options
  await using opening = new AsyncDisposableStack()
  const kv = opening.use(openLmdbKv(join(datadir, 'consensus'), Object.values(consensusTables)))
  agreeOnSchema(kv, consensusSchema)
  const { pollMs } = options.l1
  const l1 = opening.use(openL1({ ...deps, kv }, options))
  const store = createSafeHeadStore(safeHeadTable(kv, consensusTables.safeHeads.id))
  const driver = createDriver(
    {
      engine,
      createPipeline: (start) => createPipeline(config, start, log.child('derive')),
      l1,
      store,
      clock,
      random,
      log: log.child('consensus'),
      metrics: consensusMetrics.register(registry),
    },
    { ...defaultDriverOptions, config, headPollMs: pollMs, labelPollMs: labelPolls * pollMs },
  )
  const open = opening.move()
  const run = async (signal: AbortSignal): Promise<void> => {
    await Promise.all([runDriver(driver, log, signal), checkL1(l1, signal)])
  }
  return { driver, store, run, [Symbol.asyncDispose]: () => open.disposeAsync() }
}
