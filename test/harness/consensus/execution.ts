import { Registry } from 'prom-client'
import type { ForkSchedule } from '#chainspec/forks'
import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { Driver, type DriverOptions, defaultDriverOptions } from '#consensus/driver'
import { consensusMetrics } from '#consensus/metrics'
import type { L1Source, OrderedTable, SafeHeadStore } from '#consensus/ports'
import { createSafeHeadStore } from '#consensus/safeHeadStore'
import type { Pipeline, StartPoint } from '#derive/ports'
import { compareBytes } from '#lib/bytes'
import { type Log, silentLog } from '#lib/log'
import type { L1Ref } from '#types/blockRef'
import { type Hash, zeroAddress, zeroHash } from '#types/ids'
import type { Payload } from '#types/payload'
import { createManualClock, type ManualClock, settle } from '../clock.ts'
import { createMemoryEngine, type Durable, type Execute, executeNothing, type MemoryEngine, payloadOf } from '../engine/engine.ts'
import { systemConfigWith } from '../l1/systemConfig.ts'
import { createMemoryL1, type MemoryL1 } from './l1.ts'
import { type Alter, ScriptedPipeline } from './pipeline.ts'

type Row = { readonly key: Uint8Array; readonly value: Uint8Array }

/** Durable table in memory. @param effect called before and after each write; an exception from it is the kill */
export function createMemoryTable(effect: (name: string) => void = () => {}, rows: Row[] = []): OrderedTable {
  return {
    floor: (key) => rows.findLast((row) => compareBytes(row.key, key) <= 0),
    write({ deleteAfter, puts }) {
      effect('write')
      const kept = rows.filter((row) => deleteAfter === undefined || compareBytes(row.key, deleteAfter) <= 0)
      rows.splice(0, rows.length, ...[...kept, ...puts].sort((a, b) => compareBytes(a.key, b.key)))
      effect('written')
    },
  }
}

const l1GenesisTime = 1_000_000
/** Number of the L1 block in which the rollup begins. */
const rollupGenesisL1 = 2

const systemConfig = systemConfigWith({})

/** Rollup whose block n is 2 n seconds after L1 block 2. All forks to Granite are active at genesis, later ones by the schedule. */
function testRollup(l1: MemoryL1, schedule: ForkSchedule = {}): { readonly config: RollupConfig; readonly genesis: Payload } {
  const origin = l1.at(rollupGenesisL1)
  const genesis = payloadOf({ number: -1, hash: zeroHash }, { timestamp: origin.timestamp, transactions: [] })
  const config: RollupConfig = {
    genesis: {
      l1: { number: origin.number, hash: origin.hash },
      l2: { number: 0, hash: genesis.blockHash },
      l2TimeSec: origin.timestamp,
      systemConfig,
    },
    blockTimeSec: 2,
    maxSequencerDriftSec: 600,
    sequencingWindowBlocks: 20,
    channelTimeoutBlocks: 6,
    channelTimeoutGraniteBlocks: 4,
    l1ChainId: 1,
    l2ChainId: 10,
    schedule: { bedrock: 0, regolith: 0, canyon: 0, delta: 0, ecotone: 0, fjord: 0, granite: 0, ...schedule },
    batchInbox: zeroAddress,
    depositContract: zeroAddress,
    l1SystemConfig: zeroAddress,
    eip1559: { elasticity: 6, denominator: 50, denominatorCanyon: 250 },
  }
  return { config, genesis }
}

/** Run of the driver from a start to a stop or a kill. */
export type Session = {
  readonly driver: Driver
  readonly engine: MemoryEngine
  readonly store: SafeHeadStore
  readonly registry: Registry
  /** Advances the clock until the condition holds. Fails when no timer is left, and with the driver's error when the driver ends. */
  until(condition: () => boolean | Promise<boolean>): Promise<void>
  /** Runs until the driver has read all of L1 and waits for the next block. */
  toTip(): Promise<void>
  stop(): Promise<void>
}

/** Disk on which one process after another runs. */
export type Host = {
  readonly clock: ManualClock
  /** Starts a process on the state that the last one left. @param effect see `createMemoryEngine` */
  start(effect?: (name: string) => void, options?: Partial<DriverOptions>): Session
  /** Deletes the safe head store. */
  loseStore(): void
}

export type HostParts = {
  readonly l1: L1Source
  readonly config: RollupConfig
  readonly genesis: Payload
  readonly execute: Execute
  readonly createPipeline: (start: StartPoint) => Pipeline
  readonly log?: Log
  /** Initial time of the clock. */
  readonly startMs?: number
}

export function createHost({ l1, config, genesis, execute, createPipeline, log = silentLog, startMs }: HostParts): Host {
  const clock = createManualClock(startMs)
  const ref = l2RefOf(config, genesis)
  const durable: Durable = { chain: [genesis], heads: { unsafe: ref, safe: ref, finalized: ref }, genesis: ref }
  let rows: Row[] = []
  let last: MemoryEngine | undefined

  return {
    clock,
    loseStore: () => {
      rows = []
    },
    start(effect, options): Session {
      const engine = createMemoryEngine(last?.durable ?? durable, execute, effect)
      last = engine
      const store = createSafeHeadStore(createMemoryTable(effect, rows))
      const registry = new Registry()
      const driver = new Driver(
        { engine, createPipeline, l1, store, clock, random: () => 0, log, metrics: consensusMetrics.register(registry) },
        { ...defaultDriverOptions, config, ...options },
      )
      return { engine, store, registry, ...runSession(driver, clock, l1) }
    },
  }
}

/** Runs a driver until it is stopped. */
export function runSession(driver: Driver, clock: ManualClock, l1: L1Source): Omit<Session, 'engine' | 'store' | 'registry'> {
  const control = new AbortController()
  let end: { readonly error: unknown } | undefined
  const stopped = driver.run(control.signal).then(
    () => {
      end = { error: undefined }
    },
    (error: unknown) => {
      end = { error }
    },
  )
  async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
    for (let turn = 0; turn < 500; turn++) {
      await settle()
      if (await condition()) return
      if (end) throw end.error ?? new Error('driver stopped')
      if (!(await clock.advanceToNext())) throw new Error('driver has no timer to wait for')
    }
    throw new Error(`condition not reached: ${JSON.stringify(driver.status())}`)
  }
  return {
    driver,
    until,
    toTip: () =>
      until(async () => {
        const { wait, origin } = driver.status()
        return wait?.reason === 'l1-head' && origin?.hash === (await tipOf(l1))
      }),
    async stop() {
      control.abort(new Error('stopped by the test'))
      await stopped
    },
  }
}

/** Hash of the L1 head, read without `head` where possible, so that its scripted failures do not apply. */
async function tipOf(l1: L1Source & { readonly tip?: L1Ref }): Promise<Hash | undefined> {
  return (l1.tip ?? (await l1.head('latest', new AbortController().signal)))?.hash
}

export type World = Host & {
  readonly l1: MemoryL1
  readonly config: RollupConfig
  readonly genesis: Payload
  /** Pipeline of the last session that has derived. */
  readonly pipeline: ScriptedPipeline
  /** Changes the derivation of later sessions. */
  alterDerivation(alter: Alter): void
}

/** An L1 of three blocks, and a rollup that begins in the last of them, derived by the scripted pipeline. */
export function createWorld(schedule: ForkSchedule = {}, log: Log = silentLog): World {
  const l1 = createMemoryL1(l1GenesisTime)
  l1.mine()
  l1.mine()
  const { config, genesis } = testRollup(l1, schedule)
  let pipeline = new ScriptedPipeline(config)
  let altered: Alter | undefined
  const createPipeline = (start: StartPoint): Pipeline => {
    pipeline = new ScriptedPipeline(config, altered)
    pipeline.reset(start)
    return pipeline
  }
  return {
    ...createHost({ l1, config, genesis, execute: executeNothing, createPipeline, log }),
    l1,
    config,
    genesis,
    get pipeline() {
      return pipeline
    },
    alterDerivation: (alter) => {
      altered = alter
    },
  }
}
