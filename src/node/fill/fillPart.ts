import { join } from 'node:path'
import { storedBelow } from '#blockchain/completedEngine'
import type { ExecutionWorker } from '#executionThread/executionThread'
import { errorMessage } from '#lib/fault'
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
  /** why it does not go on */
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
function diskReason(datadir: string, { minFreeBytes, fill }: Pick<NodeOptions, 'minFreeBytes' | 'fill'>): string | undefined {
  const free = freeIn(datadir)
  if (free !== undefined && free < spaceForBlocks * minFreeBytes) {
    return `the disk has ${free} bytes free, and the fill leaves ${spaceForBlocks} times --db.min-free ${minFreeBytes} for blocks`
  }
  const max = fill?.maxDiskBytes
  const used = max === undefined ? 0 : folderBytes(join(datadir, 'chain'))
  return max !== undefined && used > max ? `the chain has ${used} bytes, more than --fill.max-disk ${max}` : undefined
}

/** Opens the fill. @returns undefined when the state is whole: there is nothing to fill */
export function openFill(deps: FillPartDeps, options: Pick<NodeOptions, 'datadir' | 'fill' | 'minFreeBytes'>): FillPart | undefined {
  const { clock, execution, source } = deps
  const { datadir, fill: { bytesPerSec } = {} } = options
  const log = deps.log.child('fill')
  const store = openChainReader(join(datadir, 'chain'))
  const stored = readStored(store)
  if (stored === undefined) {
    void store[Symbol.asyncDispose]()
    return undefined
  }
  const metrics = fillMetrics.register(deps.registry)
  const stop = new AbortController()
  const rate = new FillRate()
  const pace = bytesPerSec === undefined ? noLimit : createBandwidth(clock, bytesPerSec)
  let reason: string | undefined = bytesPerSec === 0 ? '--fill.bandwidth is 0' : source ? undefined : 'no --source.state'
  const isOff = reason !== undefined
  let isEnded = isOff
  let isWhole = false
  let counted = stored
  const at = (): ReturnType<typeof storedBelow> => {
    using view = execution.view()
    return storedBelow(view, execution.published.heads.unsafe)
  }
  const enter = (parts: FetchedState): Promise<void> => execution.enter(parts)
  const walk = source && new FillWalk({ clock, source, store, at, enter, pace }, stored)
  const progress = (): FillProgress => walk?.progress ?? stored

  /** @returns milliseconds until the next step; undefined: there is none */
  async function step(failures: number): Promise<number | undefined> {
    const full = diskReason(datadir, options)
    if (full !== undefined) {
      pause(full)
      return backoff.maxMs
    }
    try {
      isWhole = (await walk?.step(stop.signal)) ?? false
      if (reason !== undefined) log.info('fill of the state resumed')
      reason = undefined
      return isWhole ? undefined : 0
    } catch (error) {
      if (stop.signal.aborted) return undefined
      if (source?.enumerates() === false) {
        pause('no source enumerates the state (basalt_stateRange and debug_codeByHash): it stays partial, and the sources stay necessary')
        return undefined
      }
      pause(errorMessage(error))
      return isRetryable(error) ? Math.max(askedWaitMs(error), backoffMs(backoff, failures + 1, 0)) : undefined
    }
  }

  function pause(why: string): void {
    if (reason === undefined) log.warn('fill of the state paused', { reason: why })
    reason = why
  }

  async function run(): Promise<void> {
    log.info('fill of the state begins', { ratio: ratioNow(), accounts: stored?.accounts, slots: stored?.slots })
    for (let failures = 0; ; ) {
      const waitMs = await step(failures)
      if (waitMs === undefined) break
      failures = reason === undefined ? 0 : failures + 1
      const { accounts, slots } = progress()
      rate.add(clock.elapsedMs(), ratioNow(), accounts + slots)
      try {
        if (waitMs > 0) await clock.delay(waitMs, stop.signal)
      } catch {
        break
      }
    }
    isEnded = true
    const { accounts, slots, bytes } = progress()
    if (isWhole) log.info('state is whole, its sources are not needed any more', { accounts, slots, bytes })
  }

  /** The check of all rows does not count: the part of the keys is stored. */
  function ratioNow(): number {
    const { phase, position } = progress()
    return isWhole ? 1 : phase === 'check' ? 0.999_999 : ratioOf(position.account)
  }

  function phaseNow(): FillStatus['phase'] {
    if (isWhole) return 'whole'
    if (isEnded) return 'off'
    return reason === undefined ? progress().phase : 'paused'
  }

  const running = isOff ? Promise.resolve() : run()
  running.catch((error) => log.error('fill of the state ended', { error }))
  return {
    status: () => ({
      phase: phaseNow(),
      ratio: ratioNow(),
      leavesPerSec: isWhole ? 0 : rate.leavesPerSec,
      leftSec: isWhole ? 0 : rate.leftSec,
      reason,
    }),
    collect(): void {
      const now = progress()
      metrics.ratio.set({}, ratioNow())
      metrics.leaves.inc({ kind: 'account' }, now.accounts - counted.accounts)
      metrics.leaves.inc({ kind: 'slot' }, now.slots - counted.slots)
      metrics.bytes.inc({}, now.bytes - counted.bytes)
      counted = now
      metrics.rate.set({}, isWhole ? 0 : rate.leavesPerSec)
      metrics.left.set({}, isWhole ? 0 : (rate.leftSec ?? Number.NaN))
      for (const phase of fillMetrics.specs.phase.labels.phase) metrics.phase.set({ phase }, phase === phaseNow() ? 1 : 0)
    },
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort()
      await running.catch(() => {})
      await store[Symbol.asyncDispose]()
    },
  }
}

function readStored(store: ReturnType<typeof openChainReader>): FillProgress | undefined {
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
