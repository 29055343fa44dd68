import { Registry } from 'prom-client'
import { l2RefOf, systemConfigOf } from '#chainspec/l2Ref'
import { Driver, defaultDriverOptions } from '#consensus/driver'
import { consensusMetrics, sequencerMetrics } from '#consensus/metrics'
import type { L1Label, L1Source } from '#consensus/ports'
import { createSafeHeadStore } from '#consensus/safeHeadStore'
import { Sequencer, type SequencerOptions } from '#consensus/sequencer'
import { createPipeline } from '#derive/pipeline'
import type { Engine } from '#engine/port'
import { createLog, silentLog } from '#lib/log'
import type { L1Ref } from '#types/blockRef'
import { type Hash, zeroHash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import { checkSequencerDrift } from '../../../src/derive/rules/sequencerDrift.ts'
import { createManualClock, type ManualClock, settle } from '../clock.ts'
import { type DeriveWorld, genesisTimeSec, stubBlock } from '../derive/world.ts'
import { createMemoryEngine, type Durable, type MemoryEngine, payloadOf } from '../engine/engine.ts'
import { createDerivedHost } from './derived.ts'
import { createMemoryTable } from './execution.ts'
import { l1Fault } from './l1.ts'

/** Returns the pool's transactions for the block with this number. */
export type Pool = (number: number) => readonly Uint8Array[]

type Row = { readonly key: Uint8Array; readonly value: Uint8Array }

/** Run of a sequencing node from a start to a stop. */
export type SequencerRun = {
  readonly sequencer: Sequencer
  readonly driver: Driver
  readonly engine: MemoryEngine
  readonly registry: Registry
  /** Fault that ended the run. */
  readonly ended: () => unknown
  stop(): Promise<void>
}

/** Sequencing node on the L1 of a small world, with its disk. The clock starts at the genesis time. */
export type SequencerHost = {
  readonly clock: ManualClock
  readonly world: DeriveWorld
  readonly lines: readonly Record<string, unknown>[]
  /** Replaces the set of L1 calls that fail. `numbered`: blocks by number, which derivation reads. */
  cutL1(...methods: readonly ('head' | 'ref' | 'block' | 'numbered')[]): void
  start(options?: Partial<SequencerOptions>): SequencerRun
  /** Attributes of all builds so far. */
  readonly asked: readonly PayloadAttributes[]
  /** Advances the clock. */
  pass(seconds: number): Promise<void>
}

export function createSequencerHost(world: DeriveWorld, pool: Pool = () => []): SequencerHost {
  const { config } = world
  const clock = createManualClock(genesisTimeSec * 1_000)
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) })
  const genesis: Payload = {
    ...payloadOf({ number: -1, hash: zeroHash }, { timestamp: genesisTimeSec, transactions: [] }),
    blockHash: config.genesis.l2.hash,
  }
  const ref = l2RefOf(config, genesis)
  const durable: Durable = { chain: [genesis], heads: { unsafe: ref, safe: ref, finalized: ref }, genesis: ref }
  const rows: Row[] = []
  const asked: PayloadAttributes[] = []
  let cut: readonly string[] = []
  let last: MemoryEngine | undefined

  const answer = (method: string): void => {
    if (cut.includes(method)) throw l1Fault('L1_TIMEOUT', {})
  }
  const lag: Record<L1Label, number> = { latest: 1, safe: 4, finalized: 6 }
  const l1: L1Source = {
    head: async (label) => {
      answer('head')
      return world.l1[Math.max(0, world.l1.length - lag[label])]?.ref
    },
    ref: async (number) => {
      answer('ref')
      return world.l1[number]?.ref
    },
    block: async (at) => {
      answer('block')
      if (typeof at === 'number') answer('numbered')
      return typeof at === 'number' ? world.l1[at] : world.l1.find((block) => block.ref.hash === at)
    },
    blobs: async () => 'missing',
  }

  function execute(parent: Payload, attributes: PayloadAttributes): Payload | undefined {
    const fromPool = attributes.noTxPool ? [] : pool(parent.blockNumber + 1)
    const safe = { ref: l2RefOf(config, parent), systemConfig: systemConfigOf(config, parent) }
    const block = stubBlock(config, safe, { ...attributes, transactions: [...attributes.transactions, ...fromPool] })
    return block === 'invalid' ? undefined : block.payload
  }

  function start(options: Partial<SequencerOptions> = {}): SequencerRun {
    const engine = createMemoryEngine(last?.durable ?? durable, execute)
    last = engine
    const port: Engine = {
      insert: (payload) => engine.insert(payload),
      setHeads: (heads) => engine.setHeads(heads),
      heads: () => engine.heads(),
      payload: (at) => engine.payload(at),
      storageRoot: (account, block) => engine.storageRoot(account, block),
      async build(parent, attributes, seal) {
        if (seal) asked.push(attributes)
        const result = await engine.build(parent, attributes)
        if (seal && !attributes.noTxPool && !seal.aborted)
          await new Promise<void>((resolve) => seal.addEventListener('abort', () => resolve(), { once: true }))
        return result
      },
    }
    const registry = new Registry()
    const store = createSafeHeadStore(createMemoryTable(undefined, rows))
    const driver = new Driver(
      {
        ...{ engine: port, l1, store, clock, random: () => 0, log, metrics: consensusMetrics.register(registry) },
        createPipeline: (point) => createPipeline(config, point, silentLog),
      },
      { ...defaultDriverOptions, headPollMs: 1_000, labelPollMs: 4_000, config },
    )
    const { sequenced: chain, waits, forks } = driver
    const sequencer = new Sequencer(
      { chain, waits, forks, l1, l1Head: () => driver.status().l1.latest, clock, log, metrics: sequencerMetrics.register(registry) },
      { config, l1ConfirmationBlocks: 0, isStopped: false, ...options },
    )
    const control = new AbortController()
    let fault: unknown
    const running = [driver.run(control.signal), sequencer.run(control.signal)].map((part) =>
      part.catch((error: unknown) => {
        fault = error
        control.abort(error)
      }),
    )
    return {
      ...{ sequencer, driver, engine, registry },
      ended: () => fault,
      async stop() {
        control.abort(new Error('stopped by the test'))
        await Promise.all(running)
      },
    }
  }

  return {
    ...{ clock, world, lines, asked, start },
    cutL1: (...methods) => {
      cut = methods
    },
    async pass(seconds) {
      await settle()
      await clock.advanceMs(seconds * 1_000)
      await settle()
    },
  }
}

export const headOf = ({ engine }: SequencerRun): Payload => engine.durable.chain.at(-1) as Payload

/** Returns batcher transactions with the canonical blocks after the safe head. */
export function postRest(world: DeriveWorld, { engine }: SequencerRun): readonly Uint8Array[] {
  const { chain, heads } = engine.durable
  const rest = chain.filter(({ blockNumber }) => blockNumber > heads.safe.number)
  return rest.length === 0
    ? []
    : world.post(rest.map((payload) => ({ ref: l2RefOf(world.config, payload), transactions: payload.transactions })))
}

/** Returns the L1 origin of each canonical block, genesis first. */
export const originsOf = ({ config }: DeriveWorld, { engine }: SequencerRun): readonly L1Ref['number'][] =>
  engine.durable.chain.map((payload) => l2RefOf(config, payload).l1Origin.number)

/** Returns the hashes of the safe chain that another node derives from this L1 alone. */
export async function derivedElsewhere(world: DeriveWorld): Promise<readonly Hash[]> {
  const session = createDerivedHost(world).start()
  await session.toTip()
  const { heads } = session.engine.durable
  await session.stop()
  return session.engine.hashes().slice(0, heads.safe.number + 1)
}

/** Returns derivation's verdict on the sequencer drift of a block. */
export const driftVerdict = (...block: Parameters<typeof checkSequencerDrift>): ReturnType<typeof checkSequencerDrift>['kind'] =>
  checkSequencerDrift(...block).kind
