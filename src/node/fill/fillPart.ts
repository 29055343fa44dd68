import { join } from 'node:path'
import { storedBelow } from '#blockchain/completedEngine'
import type { ExecutionWorker } from '#executionThread/executionThread'
import { errorMessage } from '#lib/fault'
import type { Log } from '#lib/log'
import { askedWaitMs, backoffMs, isRetryable } from '#lib/retry'
import type { FetchedState } from '#state/fetchedState'
import { type FillProgress, readFill } from '#state/fillProgress'
import { isPartialState } from '#state/partialState'
import type { RangeSource } from '#state/stateSource'
import { openChainReader } from '#store/chainTables'
import { freeIn } from '../health/health.ts'
import { folderBytes } from '../metrics/nodeMetrics.ts'
import { fillMetrics } from '../metrics.ts'
import type { PartDeps } from '../nodeDeps.ts'
import type { NodeOptions } from '../nodeOptions.ts'
import { createBandwidth } from './bandwidth.ts'
import { FillRate } from './fillRate.ts'
import { FillWalk } from './fillWalk.ts'

/** Progress of the fill of an anchored state. */
export type FillStatus = {
  /** `off`: it does not run, and the sources stay necessary */
  readonly phase: 'walk' | 'check' | 'paused' | 'off' | 'whole'
  /** part of the keys that is stored; 1: the state is whole and checked */
  readonly ratio: number
  readonly leavesPerSec: number
  /** until the walk ends; Infinity: no progress; undefined: not known yet */
  readonly leftSec: number | undefined
  /** why it pauses, or has ended */
  readonly reason: string | undefined
}

/** Fill of a partial state in the background. Disposing ends it after the request in progress. */
export interface FillPart extends AsyncDisposable {
  status(): FillStatus
  /** Updates the metrics. */
  collect(): void
}

export type FillPartDeps = Pick<PartDeps, 'clock' | 'log' | 'registry'> & {
  readonly execution: Pick<ExecutionWorker, 'view' | 'published' | 'enter'>
  /** absent: the node has no sources */
  readonly source: RangeSource | undefined
}

/** Waits after failures, and after a full disk. */
const backoff = { baseMs: 500, maxMs: 10_000, jitter: 0 }
/** Free space that the fill leaves, as a multiple of that without which no block is written. */
const spaceForBlocks = 2

const noLimit = async (): Promise<void> => {}

/** Part of all keys before a key, by its first bytes. */
const ratioOf = (key: Uint8Array): number => Buffer.from(key.subarray(0, 6)).readUIntBE(0, 6) / 2 ** 48

/** Returns why nothing is written now. */
function diskReason({ datadir, minFreeBytes, fill }: FillPartOptions): string | undefined {
  const free = freeIn(datadir)
  if (free !== undefined && free < spaceForBlocks * minFreeBytes) {
    return `the disk has ${free} bytes free, and the fill leaves ${spaceForBlocks} times --db.min-free ${minFreeBytes} for blocks`
  }
  const max = fill?.maxDiskBytes
  const used = max === undefined ? 0 : folderBytes(join(datadir, 'chain'))
  return max !== undefined && used > max ? `the chain has ${used} bytes, more than --fill.max-disk ${max}` : undefined
}

type ChainReader = ReturnType<typeof openChainReader>
type FillPartOptions = Pick<NodeOptions, 'datadir' | 'fill' | 'minFreeBytes'>
type Stored = { readonly store: ChainReader; readonly progress: FillProgress }

/** Opens the fill. @returns undefined when the state is whole: there is nothing to fill */
export function openFill(deps: FillPartDeps, options: FillPartOptions): FillPart | undefined {
  const store = openChainReader(join(options.datadir, 'chain'))
  const progress = readStored(store)
  if (progress === undefined) {
    void store[Symbol.asyncDispose]()
    return undefined
  }
  return new Fill(deps, options, { store, progress })
}

class Fill implements FillPart {
  readonly #deps: FillPartDeps
  readonly #options: FillPartOptions
  readonly #log: Log
  readonly #stored: Stored
  readonly #metrics: ReturnType<typeof fillMetrics.register>
  readonly #stop = new AbortController()
  readonly #rate = new FillRate()
  readonly #walk: FillWalk | undefined
  readonly #running: Promise<void>
  /** why it pauses, or has ended */
  #reason: string | undefined
  #isEnded: boolean
  #isWhole = false
  /** progress that the metrics have */
  #counted: FillProgress

  constructor(deps: FillPartDeps, options: FillPartOptions, stored: Stored) {
    const { clock, execution, source } = deps
    const { fill: { bytesPerSec } = {} } = options
    this.#deps = deps
    this.#options = options
    this.#stored = stored
    this.#counted = stored.progress
    this.#log = deps.log.child('fill')
    this.#metrics = fillMetrics.register(deps.registry)
    const pace = bytesPerSec === undefined ? noLimit : createBandwidth(clock, bytesPerSec)
    const enter = (parts: FetchedState): Promise<void> => execution.enter(parts)
    const at = (): ReturnType<typeof storedBelow> => {
      using view = execution.view()
      return storedBelow(view, execution.published.heads.unsafe)
    }
    this.#walk = source && new FillWalk({ clock, source, store: stored.store, at, enter, pace }, stored.progress)
    this.#reason = bytesPerSec === 0 ? '--fill.bandwidth is 0' : source ? undefined : 'no --source.state'
    this.#isEnded = this.#reason !== undefined
    this.#running = this.#isEnded ? Promise.resolve() : this.#run()
    this.#running.catch((error) => this.#log.error('fill of the state ended', { error }))
  }

  status(): FillStatus {
    return {
      phase: this.#phase,
      ratio: this.#ratio,
      leavesPerSec: this.#isWhole ? 0 : this.#rate.leavesPerSec,
      leftSec: this.#isWhole ? 0 : this.#rate.leftSec,
      reason: this.#reason,
    }
  }

  collect(): void {
    const [now, counted, metrics] = [this.#progress, this.#counted, this.#metrics]
    const { phase, ratio, leavesPerSec, leftSec } = this.status()
    metrics.ratio.set({}, ratio)
    metrics.leaves.inc({ kind: 'account' }, now.accounts - counted.accounts)
    metrics.leaves.inc({ kind: 'slot' }, now.slots - counted.slots)
    metrics.bytes.inc({}, now.bytes - counted.bytes)
    this.#counted = now
    metrics.rate.set({}, leavesPerSec)
    metrics.left.set({}, leftSec ?? Number.NaN)
    for (const each of fillMetrics.specs.phase.labels.phase) metrics.phase.set({ phase: each }, each === phase ? 1 : 0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running.catch(() => {})
    await this.#stored.store[Symbol.asyncDispose]()
  }

  get #progress(): FillProgress {
    return this.#walk?.progress ?? this.#stored.progress
  }

  /** The check of all rows does not count: the part of the keys is stored. */
  get #ratio(): number {
    const { phase, position } = this.#progress
    return this.#isWhole ? 1 : phase === 'check' ? 0.999_999 : ratioOf(position.account)
  }

  get #phase(): FillStatus['phase'] {
    if (this.#isWhole) return 'whole'
    if (this.#isEnded) return 'off'
    return this.#reason === undefined ? this.#progress.phase : 'paused'
  }

  async #run(): Promise<void> {
    const { clock } = this.#deps
    const { accounts: known, slots: knownSlots } = this.#stored.progress
    this.#log.info('fill of the state begins', { ratio: this.#ratio, accounts: known, slots: knownSlots })
    for (let failures = 0; ; ) {
      const waitMs = await this.#step(failures)
      if (waitMs === undefined) break
      failures = this.#reason === undefined ? 0 : failures + 1
      const { accounts, slots } = this.#progress
      this.#rate.add(clock.elapsedMs(), this.#ratio, accounts + slots)
      try {
        if (waitMs > 0) await clock.delay(waitMs, this.#stop.signal)
      } catch {
        break
      }
    }
    this.#isEnded = true
    const { accounts, slots, bytes } = this.#progress
    if (this.#isWhole) this.#log.info('state is whole, its sources are no longer needed', { accounts, slots, bytes })
  }

  /** @returns milliseconds until the next step; undefined: there is none */
  async #step(failures: number): Promise<number | undefined> {
    const full = diskReason(this.#options)
    if (full !== undefined) {
      this.#pause(full)
      return backoff.maxMs
    }
    try {
      this.#isWhole = (await this.#walk?.step(this.#stop.signal)) ?? false
      if (this.#reason !== undefined) this.#log.info('fill of the state resumed')
      this.#reason = undefined
      return this.#isWhole ? undefined : 0
    } catch (error) {
      if (this.#stop.signal.aborted) return undefined
      if (this.#deps.source?.enumerates() === false) {
        return this.#end(
          'no source enumerates the state (basalt_stateRange and debug_codeByHash): it stays partial, and the sources stay necessary',
        )
      }
      if (!isRetryable(error)) return this.#end(errorMessage(error))
      this.#pause(errorMessage(error))
      return Math.max(askedWaitMs(error), backoffMs(backoff, failures + 1, 0))
    }
  }

  #end(why: string): undefined {
    this.#log.error('fill of the state ended before the state was whole', { reason: why })
    this.#reason = why
  }

  #pause(why: string): void {
    if (this.#reason === undefined) this.#log.warn('fill of the state paused', { reason: why })
    this.#reason = why
  }
}

function readStored(store: ChainReader): FillProgress | undefined {
  using reader = store.snapshot()
  return isPartialState(reader) ? readFill(reader) : undefined
}

const percent = (ratio: number): string => `${(Math.floor(ratio * 10_000) / 100).toFixed(2)} %`

/** Returns the progress in one line, for `/readyz`. Pure. */
export function fillText({ phase, ratio, leavesPerSec, leftSec, reason }: FillStatus): string {
  if (phase === 'whole') return 'whole'
  if (phase === 'check') return 'all keys are stored, their rows are checked'
  const part = `${percent(ratio)} of the keys are stored`
  if (phase !== 'walk') return `${part}; ${phase}: ${reason ?? 'it has ended'}`
  const left = leftSec === undefined || !Number.isFinite(leftSec) ? 'time left not known yet' : `about ${Math.ceil(leftSec)} s left`
  return `${part}, ${Math.round(leavesPerSec)} accounts and slots a second, ${left}`
}
