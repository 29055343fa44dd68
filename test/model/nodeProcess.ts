import { join } from 'node:path'
import type { BlockDeps } from '#block/execution/executeBlock'
import { createSenders } from '#block/execution/senders'
import type { ExecutionConfig } from '#block/executionConfig'
import { createExecution, type Execution } from '#blockchain/execution'
import type { ForkSchedule } from '#chainspec/forks'
import type { Genesis } from '#chainspec/genesis'
import { createWasmEvm } from '#evm/wasmEvm'
import type { Clock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { openFileJournal } from '#store/fileJournal'
import { openLmdbKv } from '#store/lmdbKv'
import type { Journal, Kv } from '#store/ports'
import { tables } from '#store/tables'
import { scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { createManualClock, type ManualClock } from '#test/harness/clock'
import { Fate, mortalJournal, mortalKv } from '#test/harness/process/mortalStore'
import { genesisAccounts, type Roll } from './transactions.ts'

/** Settings of one seed. */
export type Settings = {
  readonly fork: 'canyon' | 'isthmus' | 'jovian'
  readonly segmentBytes: number
  readonly commitSliceMs: number
  /** Milliseconds that pass at each look at the clock, so that executed blocks reach the bound of a commit. */
  readonly tickMs: number
  /** Small: the block tree forgets side blocks, and half of it is the bound of a commit. */
  readonly maxTreeBytes: number
}

export function settingsOf(roll: Roll): Settings {
  const of = <T>(...values: [T, ...T[]]): T => values[roll(values.length)] ?? values[0]
  return {
    fork: of('canyon', 'isthmus', 'jovian'),
    segmentBytes: of(2_500, 30_000, 64 * 2 ** 20),
    commitSliceMs: of(0, 25),
    tickMs: of(0, 0, 8),
    maxTreeBytes: of(256 * 2 ** 20, 256 * 2 ** 20, 300_000),
  }
}

/** When a process is killed: before or after one of its writes, counted from its start. */
export type Death = { readonly at: number; readonly when: 'before' | 'after' }

const evm = createWasmEvm()

function tickingClock(clock: ManualClock, tickMs: number): Clock {
  let ticks = 0
  return { ...clock, nowMs: () => clock.nowMs() + tickMs * ++ticks }
}

/** The execution half over a store and a journal on disk, which outlive each of its processes. */
export class NodeProcess {
  readonly schedule: ForkSchedule
  readonly config: ExecutionConfig
  readonly genesis: Genesis
  readonly settings: Settings
  readonly #dir: string
  #files: { readonly kv: Kv; readonly journal: Journal; readonly clock: ManualClock; readonly fate: Fate } | undefined
  #execution: Execution | undefined

  constructor(dir: string, settings: Settings) {
    this.#dir = dir
    this.settings = settings
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

  /** Whether a write was the last one of the process. */
  get isDead(): boolean {
    return this.#files?.fate.isDead === true
  }

  /** @throws Killed when the process ends while it starts */
  start(death?: Death): void {
    const { segmentBytes, commitSliceMs, maxTreeBytes, tickMs } = this.settings
    const kv = openLmdbKv(join(this.#dir, 'chain'), Object.values(tables))
    const journal = openFileJournal(join(this.#dir, 'journal'), silentLog, segmentBytes)
    const fate = new Fate(death?.at, death?.when)
    const clock = createManualClock()
    this.#files = { kv, journal, clock, fate }
    const deps = { kv: mortalKv(kv, fate), journal: mortalJournal(journal, fate), evm, config: this.config, log: silentLog }
    this.#execution = createExecution(
      { ...deps, genesis: () => this.genesis, clock: tickMs > 0 ? tickingClock(clock, tickMs) : clock },
      { commitSliceMs, maxTreeBytes },
    )
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
    files?.journal[Symbol.dispose]()
    await files?.kv[Symbol.asyncDispose]()
  }
}
