import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import { requireFreeSpace } from '#store/freeSpace'
import type { Kv, KvReader } from '#store/ports'
import { putSegment, writeMoved } from '#store/segments/segmentRecords'
import type { SegmentBuilder } from './buildSegments.ts'
import type { RowPruner, StepLimits } from './rowPruner.ts'
import type { BuiltSegments } from './segmentCut.ts'
import { nextSegments, type SegmentBounds } from './segmentCut.ts'
import { waitingRows } from './waitingRows.ts'

/** Duration of a step that the mover aims at; the number of rows of the next one of its kind follows from it. */
const stepMs = 10
/** Time in which a step chooses its rows. */
const choiceMs = 5
const firstSize: StepSize = { rows: 32 }
const mostRows = 1_024
/** A step is followed by a pause of this many times its duration: steps take a quarter of the time. */
const pauseFactor = 3
/** Time until a build is tried again after a full disk. */
const retryMs = 60_000

/**
 * Result of a step: rows deleted, files recorded or removed, blocks moved, and files whose record was deleted. These are removed a minute later: until then
 * readers must get new snapshots, in which their blocks are pruned.
 */
export type MoverStep = {
  readonly ms: number
  readonly rows: number
  readonly files: number
  readonly moved: number
  readonly unrecorded: number
}

/** Rows of the next step of a table, and the step before it. */
type StepSize = { readonly rows: number; readonly before?: { readonly rows: number; readonly ms: number } }

type MoverWork = 'record files' | 'delete moved rows' | 'remove old rows' | 'build files'

export type SegmentMoverDeps = {
  /** tables with segment files, written in this thread */
  readonly kv: Kv
  readonly clock: Pick<Clock, 'elapsedMs' | 'after'>
  readonly log: Log
  readonly builder: SegmentBuilder
  readonly pruner: RowPruner
  /** directory of segment files */
  readonly dir: string
  readonly minFreeBytes: number
  /** of a segment; absent: the usual ones */
  readonly bounds?: SegmentBounds
  /** called after each step */
  readonly onStep?: (step: MoverStep) => void
}

/**
 * Moves finalized blocks and their log index to segment files, and removes rows that are not retained, in the thread that writes transactions of blocks, between these.
 *
 * Effects, in order: 1 the builder writes and flushes the files of one range, in another thread, 2 one transaction records them, 3 transactions of some
 * 10 ms delete the rows of the range. After a kill before 2 the next start removes the files and the range is built again; after a kill before the end
 * of 3 the next mover continues. A full disk is retried; any other error ends moving and is logged: the chain goes on, with its rows in the tables.
 */
export class SegmentMover implements AsyncDisposable {
  readonly #deps: SegmentMoverDeps
  /** sizes of steps by the table of the rows: rows of bodies take longer than those of headers */
  readonly #sizes = new Map<number, StepSize>()
  #timer: (Disposable & { readonly isIdle: boolean }) | undefined
  #building: Promise<void> | undefined
  #built: BuiltSegments | undefined
  #notBeforeMs = 0
  /** for the log when the step fails */
  #doing: MoverWork = 'record files'
  #isEnded = false

  constructor(deps: SegmentMoverDeps) {
    this.#deps = deps
  }

  /**
   * Called after each transaction of blocks.
   * @param aloneMs duration of the transaction, in a thread that only writes. Then steps follow before this returns, for about a quarter of it: the
   * thread may have the next transaction already. 0: each step has a turn of the event loop
   */
  committed(aloneMs = 0): void {
    const { clock } = this.#deps
    const untilMs = clock.elapsedMs() + aloneMs / (1 + pauseFactor)
    let ms: number | undefined = 0
    while (ms !== undefined && clock.elapsedMs() < untilMs) ms = this.#run()
    this.#scheduleAfter(ms)
  }

  /** Ends moving; waits for the builder. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true
    this.#timer?.[Symbol.dispose]()
    await this.#deps.builder[Symbol.asyncDispose]()
    await this.#building
  }

  /** @param ms duration of the last step; undefined: there was nothing to do */
  #scheduleAfter(ms: number | undefined): void {
    const pauseMs = ms === undefined ? this.#idleMs() : pauseFactor * ms
    if (pauseMs !== undefined) this.#schedule(pauseMs, ms === undefined)
  }

  /** Returns the time until there is something to do without a further transaction of blocks; undefined: there is nothing. */
  #idleMs(): number | undefined {
    const waitMs = this.#deps.pruner.waitMs()
    const untilBuildMs = this.#notBeforeMs - this.#deps.clock.elapsedMs()
    return untilBuildMs > 0 ? Math.min(untilBuildMs, waitMs ?? untilBuildMs) : waitMs
  }

  /** Schedules a step unless one is scheduled. @param isIdle whether a step that is due replaces it */
  #schedule(pauseMs: number, isIdle = false): void {
    if (this.#isEnded || (this.#timer && (isIdle || !this.#timer.isIdle))) return
    this.#timer?.[Symbol.dispose]()
    const timer = this.#deps.clock.after(pauseMs, () => {
      this.#timer = undefined
      this.#scheduleAfter(this.#run())
    })
    this.#timer = Object.assign(timer, { isIdle })
  }

  /** Does a step. @returns its duration; undefined: there is nothing to do now */
  #run(): number | undefined {
    if (this.#isEnded) return undefined
    const { clock, onStep } = this.#deps
    const startMs = clock.elapsedMs()
    try {
      const done = this.#step({
        rowsIn: (table) => this.#rowsIn(table),
        hasTime: () => clock.elapsedMs() - startMs < choiceMs,
      })
      if (done === undefined) return undefined
      const ms = clock.elapsedMs() - startMs
      const { table, rows = 0, files = 0, moved = 0, unrecorded = 0 } = done
      if (table !== undefined && rows > 0) this.#sizes.set(table, nextSize(this.#sizes.get(table) ?? firstSize, ms))
      onStep?.({ ms, rows, files, moved, unrecorded })
      return ms
    } catch (error) {
      this.#failed(this.#doing, error)
      return undefined
    }
  }

  #rowsIn(table: number): number {
    return (this.#sizes.get(table) ?? firstSize).rows
  }

  /** Does one thing. @returns undefined when there is nothing to do now */
  #step(limits: StepLimits): (Partial<MoverStep> & { readonly table?: number | undefined }) | undefined {
    const { kv, pruner } = this.#deps
    this.#doing = 'remove old rows'
    // it needs no transaction: on a full disk it gives space back
    if (pruner.waitMs() === 0) return pruner.step(limits)
    this.#doing = 'record files'
    if (this.#built) return this.#record(this.#built)
    this.#doing = 'delete moved rows'
    const found = read(kv, (reader) => waitingRows(reader, limits))
    if (found) {
      const { table, keys } = found
      kv.write((tx) => {
        for (const key of keys) tx.delete(table, key)
      })
      return { table, rows: keys.length }
    }
    this.#doing = 'build files'
    this.#build()
    this.#doing = 'remove old rows'
    return pruner.step(limits)
  }

  #record({ of, last, records }: BuiltSegments): Partial<MoverStep> {
    const { kv, log } = this.#deps
    kv.write((tx) => {
      for (const record of records) putSegment(tx, record)
      if (of === 'blocks') writeMoved(tx, last + 1)
    })
    this.#built = undefined
    const first = records[0]?.first ?? last
    const fileBytes = records.reduce((sum, record) => sum + record.fileBytes, 0)
    const rowBytes = records.reduce((sum, record) => sum + record.rowBytes, 0)
    if (of === 'logs') {
      log.info('log index moved to a segment file', { first, last, fileBytes, rowBytes })
      return { files: records.length }
    }
    log.info('blocks moved to segment files', { first, last, fileBytes, rowBytes })
    return { files: records.length, moved: last - first + 1 }
  }

  /**
   * Begins to build the files of the next range if it is whole: in another thread, so beside the steps. Without room on the disk it is tried again later:
   * other steps remove files.
   */
  #build(): void {
    const { kv, clock, builder, dir, minFreeBytes, bounds } = this.#deps
    if (this.#building || clock.elapsedMs() < this.#notBeforeMs) return
    const range = read(kv, (reader) => nextSegments(reader, bounds))
    if (range === undefined) return
    try {
      requireFreeSpace(kv, minFreeBytes)
    } catch (error) {
      this.#failed('build files', error)
      return
    }
    this.#building = builder
      .build({ dir, ...range, bounds })
      .then((built) => {
        this.#built = built
        if (built) this.#schedule(0)
      })
      .catch((error: unknown) => this.#failed('build files', error))
      .finally(() => {
        this.#building = undefined
      })
  }

  #failed(step: MoverWork, error: unknown): void {
    const willRetry = isFault(error) && error.severity === 'retry'
    this.#deps.log.error('blocks not moved to segment files', { step, error, willRetry })
    if (willRetry) this.#notBeforeMs = this.#deps.clock.elapsedMs() + retryMs
    else this.#isEnded = true
  }
}

/**
 * Returns the size of the step after one that took `ms`: half the rows after a long step, more after a short one. When half the rows took more than four fifths
 * of the time, the step waits for the disk, and the next one has more rows than both.
 */
function nextSize({ rows, before }: StepSize, ms: number): StepSize {
  const waits = before !== undefined && before.rows >= 2 * rows && ms > 0.8 * before.ms
  let next = rows >> 1
  if (ms < stepMs / 3) next = rows * 2
  else if (ms <= stepMs) next = rows + 1 + (rows >> 3)
  else if (waits) next = before.rows * 2
  return { rows: Math.min(mostRows, Math.max(1, next)), before: { rows, ms } }
}

function read<T>(kv: Kv, use: (reader: KvReader) => T): T {
  using reader = kv.snapshot()
  return use(reader)
}
