import { Registry } from 'prom-client'
import { createExecution, type Execution } from '#blockchain/execution'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { Driver, type DriverOptions, defaultDriverOptions } from '#consensus/driver'
import { consensusMetrics } from '#consensus/metrics'
import type { L1Source, SafeHeadStore } from '#consensus/ports'
import { createSafeHeadStore } from '#consensus/safeHeadStore'
import { createPipeline } from '#derive/pipeline'
import type { Pipeline } from '#derive/ports'
import { type RecordedChainName, readRecordedChain } from '#devnet/recordedChain'
import { silentLog } from '#lib/log'
import { createMemoryJournal } from '#store/memoryJournal'
import type { Kv } from '#store/ports'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { Payload } from '#types/payload'
import { createManualClock } from '../clock.ts'
import { createMemoryTable, runSession, type Session } from './execution.ts'
import { createRecordedHost } from './recorded.ts'

export type OpenExecution = {
  readonly engine: Execution
  /** Number of blocks executed so far. */
  readonly executed: () => number
}

/** Run of both halves in this process. */
export type NodeSession = Omit<Session, 'engine'> & OpenExecution & { readonly store: SafeHeadStore }

export type RecordedNodes = {
  readonly config: RollupConfig
  readonly l1: L1Source
  /** Opens the execution half without the consensus half. */
  open(effect?: (name: string) => void): OpenExecution
  /** Starts both halves. @param effect called before and after each durable effect; an exception from it is the kill */
  start(effect?: (name: string) => void, options?: Partial<DriverOptions>, alter?: (pipeline: Pipeline) => Pipeline): NodeSession
  /** Shows L1 blocks up to this number. */
  reveal(l1Number: number): void
  loseStore(): void
  /** Loses blocks that are acknowledged but not committed, as a power failure can. */
  loseJournal(): void
  /** All L2 blocks, genesis first, in the format of their forks. */
  readonly payloads: readonly Payload[]
  readonly safeHeads: readonly number[]
}

/** Both halves on a recorded L1. Their stores in memory survive a restart. */
export function createRecordedNodes(name: RecordedChainName, kv: Kv = createMemoryKv()): RecordedNodes {
  const chain = readRecordedChain(name)
  const { config, genesis } = chain
  const { l1, safeHeads, reveal, recording } = createRecordedHost(chain)
  const { payloads } = recording
  const clock = createManualClock()
  const segments: Parameters<typeof createMemoryJournal>[0] = new Map()
  let rows: Parameters<typeof createMemoryTable>[1] = []

  function open(effect: (name: string) => void = () => {}): OpenExecution {
    let executed = 0
    const engine = createExecution({
      kv,
      journal: createMemoryJournal(segments),
      evm: sharedEvm,
      config,
      genesis: () => genesis,
      clock,
      log: silentLog,
      onCommit: (phase) => effect(phase),
      onExecuted: () => void executed++,
    })
    return { engine, executed: () => executed }
  }

  return {
    config,
    l1,
    open,
    reveal,
    payloads,
    safeHeads,
    loseStore: () => {
      rows = []
    },
    loseJournal: () => segments.clear(),
    start(effect = () => {}, options = {}, alter = (pipeline) => pipeline): NodeSession {
      const { engine, executed } = open(effect)
      const registry = new Registry()
      const store = createSafeHeadStore(createMemoryTable(effect, rows))
      const driver = new Driver(
        {
          engine,
          createPipeline: (point) => alter(createPipeline(config, point, silentLog)),
          l1,
          store,
          clock,
          random: () => 0,
          log: silentLog,
          metrics: consensusMetrics.register(registry),
        },
        { ...defaultDriverOptions, config, ...options },
      )
      return { engine, store, registry, executed, ...runSession(driver, clock, l1) }
    },
  }
}
