import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { BlockDeps } from '#block/execution/executeBlock'
import { createSenders } from '#block/execution/senders'
import type { ExecutionConfig } from '#block/executionConfig'
import { createExecution, type Execution } from '#blockchain/execution'
import { buildSegments } from '#blockchain/segments/buildSegments'
import { RowPruner, type RowRetention, retainAllRows } from '#blockchain/segments/rowPruner'
import { SegmentMover } from '#blockchain/segments/segmentMover'
import type { ForkSchedule } from '#chainspec/forks'
import type { Genesis } from '#chainspec/genesis'
import { createWasmEvm } from '#evm/wasmEvm'
import type { Clock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { openProofs } from '#proofs/openProofs'
import { Recorder } from '#proofs/recorder'
import { openChainKv, segmentsDir } from '#store/chainTables'
import { openFileJournal } from '#store/fileJournal'
import type { Journal, Kv, SnapshotSource } from '#store/ports'
import { scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { createManualClock, type ManualClock } from '#test/harness/clock'
import { Fate, mortalJournal, mortalKv } from '#test/harness/process/mortalStore'
import { joinLogs } from '#test/harness/store/logRuns'
import type { ChainDistance, Retention } from '#types/chainDistance'
import { genesisAccounts, type Roll } from './transactions.ts'

/** Settings of one seed. */
export type Settings = {
  readonly fork: 'canyon' | 'isthmus' | 'jovian'
  readonly segmentBytes: number
  readonly commitSliceMs: number
  /** Small: the block tree forgets side blocks, and half of it is the bound of a commit. */
  readonly maxTreeBytes: number
  /** Milliseconds that pass at each reading of the elapsed time, so that executed blocks reach the bound of a commit, and pruning takes several steps. */
  readonly tickMs: number
  /** of the first process */
  readonly retention: Retention | undefined
  /** states that are recorded for proofs */
  readonly proofsWindow: ChainDistance | 'all'
}

const retentions: readonly (Retention | undefined)[] = [
  undefined,
  { history: 'all' },
  { history: { blocks: 3 } },
  { history: { blocks: 25 } },
  { history: { sec: 100 } },
]
export const anyRetention = (roll: Roll): Retention | undefined => retentions[roll(retentions.length)]

/** Returns the number of blocks before the head whose states a retention keeps. Blocks are two seconds apart. */
export function keptBlocks(retention: Retention | undefined): number {
  const { history = 'all' } = retention ?? {}
  if (history === 'all') return Number.POSITIVE_INFINITY
  return 'blocks' in history ? history.blocks : Math.floor(history.sec / 2)
}

/** Rows of old blocks that a process keeps. */
const rowRetentions: readonly RowRetention[] = [
  retainAllRows,
  retainAllRows,
  { bodies: { blocks: 40 }, receipts: { blocks: 30 }, logs: { blocks: 20 } },
  { bodies: 'all', receipts: 'all', logs: { blocks: 25 } },
]
export const anyRows = (roll: Roll): RowRetention => rowRetentions[roll(rowRetentions.length)] ?? retainAllRows

/** Segments of few blocks, so that a run has many. */
const segmentBounds = { blocks: 10, rowBytes: 2 ** 20, windowSec: 3_600 }
const blocksOfLogs = 4

export function settingsOf(roll: Roll): Settings {
  const of = <T>(...values: [T, ...T[]]): T => values[roll(values.length)] ?? values[0]
  return {
    fork: of('canyon', 'isthmus', 'jovian'),
    segmentBytes: of(2_500, 30_000, 64 * 2 ** 20),
    commitSliceMs: of(0, 25),
    maxTreeBytes: of(256 * 2 ** 20, 256 * 2 ** 20, 300_000),
    tickMs: of(0, 0, 4, 8),
    retention: anyRetention(roll),
    proofsWindow: of<ChainDistance | 'all'>('all', { blocks: 30 }),
  }
}

/** When a process is killed: before or after one of its writes, counted from its start. */
export type Death = { readonly at: number; readonly when: 'before' | 'after' }

const evm = createWasmEvm()

function tickingClock(clock: ManualClock, { tickMs }: Settings): Clock {
  let ticks = 0
  return { ...clock, elapsedMs: () => clock.elapsedMs() + tickMs * ++ticks }
}

/** The execution half over a store and a journal on disk, which outlive each of its processes. */
export class NodeProcess {
  readonly schedule: ForkSchedule
  readonly config: ExecutionConfig
  readonly genesis: Genesis
  readonly settings: Settings
  readonly #dir: string
  #files: { readonly kv: Kv; readonly proofs: Kv; readonly journal: Journal; readonly clock: ManualClock; readonly fate: Fate } | undefined
  #moving: { readonly mover: SegmentMover; readonly clock: ManualClock } | undefined
  /** blocks that all processes have moved to segment files */
  moved = 0
  /** files of the log index that all processes have built */
  logFiles = 0
  /** of the next process, and of the present one */
  rows: RowRetention = retainAllRows
  #execution: Execution | undefined
  #isCommitting = false
  /** of the next process, and of the present one */
  retention: Retention | undefined
  /** The next process finds no recorded proofs. */
  losesProofs = false
  /** Number of kills in a write that removes older states. */
  killsInPruning = 0
  /** kill in a later write of this kind; `at` counts from now */
  #deathInPruning: Death | undefined

  constructor(dir: string, settings: Settings) {
    this.#dir = dir
    this.settings = settings
    this.retention = settings.retention
    this.schedule = scheduleTo(settings.fork)
    const { genesis, config } = smallChain(this.schedule, genesisAccounts)
    this.genesis = genesis
    this.config = config
  }

  /** Dependencies for blocks that are built outside of the product. */
  get block(): BlockDeps {
    return { evm, config: this.config, senders: createSenders({ maxBytes: 0 }) }
  }

  get execution(): Execution {
    if (this.#execution === undefined) throw new Error('no process')
    return this.#execution
  }

  /** The committed tables of the chain. */
  get chain(): SnapshotSource {
    if (this.#files === undefined) throw new Error('no process')
    return this.#files.kv
  }

  /** The tables of recorded proofs; the process may end in a write. */
  get proofs(): Kv {
    if (this.#files === undefined) throw new Error('no process')
    return mortalKv(this.#files.proofs, this.#files.fate)
  }

  /** Records proofs as their thread does. */
  get recorder(): Recorder {
    const clock = tickingClock(createManualClock(), this.settings)
    return new Recorder({ kv: this.proofs, chain: this.chain, clock }, this.settings.proofsWindow)
  }

  /** Whether a write was the last one of the process. */
  get isDead(): boolean {
    return this.#files?.fate.isDead === true
  }

  /** @throws Killed when the process ends while it starts */
  start(death?: Death): void {
    const { segmentBytes, commitSliceMs, maxTreeBytes } = this.settings
    const kv = openChainKv(join(this.#dir, 'chain'))
    if (this.losesProofs) rmSync(join(this.#dir, 'proofs'), { recursive: true })
    this.losesProofs = false
    const proofs = openProofs(join(this.#dir, 'proofs'))
    const journal = openFileJournal(join(this.#dir, 'journal'), silentLog, segmentBytes)
    const fate = new Fate(death?.at, death?.when)
    const clock = createManualClock()
    this.#files = { kv, proofs, journal, clock, fate }
    this.#moving = this.#mover(mortalKv(kv, fate))
    this.#isCommitting = true
    this.#deathInPruning = undefined
    const deps = {
      kv: this.#watched(mortalKv(kv, fate), fate),
      journal: mortalJournal(journal, fate),
      evm,
      config: this.config,
      log: silentLog,
    }
    const onCommit = (phase: 'begin' | 'end'): void => {
      this.#isCommitting = phase === 'begin'
    }
    this.#execution = createExecution(
      { ...deps, genesis: () => this.genesis, clock: tickingClock(clock, this.settings), onCommit },
      { commitSliceMs, maxTreeBytes, retention: this.retention },
    )
    this.#isCommitting = false
  }

  /** Creates what moves finalized blocks to segment files and removes rows that are not kept, in this thread. */
  #mover(kv: Kv): { mover: SegmentMover; clock: ManualClock } {
    const clock = createManualClock()
    const files = { kv, clock, log: silentLog, dir: segmentsDir(join(this.#dir, 'chain')) }
    const builder = {
      build: async (request: Parameters<typeof buildSegments>[1]) => {
        const built = buildSegments(kv, request)
        if (built?.of === 'logs') this.logFiles++
        return built
      },
      async [Symbol.asyncDispose]() {},
    }
    const pruner = new RowPruner({ ...files, retention: this.rows })
    const onStep = ({ moved }: { readonly moved: number }): void => {
      this.moved += moved
    }
    const mover = new SegmentMover({ ...files, builder, pruner, minFreeBytes: 0, bounds: segmentBounds, onStep })
    return { mover, clock }
  }

  /** Lets the mover do some steps. The log index has short segments, so that some of them are finalized. */
  async move(steps: number): Promise<void> {
    if (this.#files && !this.isDead) joinLogs(this.#files.kv, blocksOfLogs)
    this.#moving?.mover.committed()
    for (let i = 0; i < steps && !this.isDead; i++) await this.#moving?.clock.advanceToNext()
  }

  /** Kills the process in a write that removes older states. @param death `at` counts such writes from now on */
  killInPruning(death: Death): void {
    this.#deathInPruning = death
  }

  /** Writes outside of commits remove older states. */
  #watched(kv: Kv, fate: Fate): Kv {
    const write: Kv['write'] = (run) => {
      const death = this.#deathInPruning
      if (this.#isCommitting || death === undefined) return kv.write(run)
      this.#deathInPruning = { ...death, at: death.at - 1 }
      const result = death.at === 0 && death.when === 'before' ? undefined : kv.write(run)
      if (death.at > 0) return result as ReturnType<typeof run>
      this.killsInPruning++
      return fate.die()
    }
    return { ...kv, write }
  }

  /** Runs the next timers: each is one transaction of a commit. */
  async runTimers(count: number): Promise<void> {
    for (let i = 0; i < count && !this.isDead; i++) await this.#files?.clock.advanceToNext()
  }

  /** Ends the process: nothing is written any more, and the operating system closes its files. */
  async end(): Promise<void> {
    const files = this.#files
    this.#files = undefined
    this.#execution = undefined
    await this.#moving?.mover[Symbol.asyncDispose]()
    files?.journal[Symbol.dispose]()
    await files?.proofs[Symbol.asyncDispose]()
    await files?.kv[Symbol.asyncDispose]()
  }
}
