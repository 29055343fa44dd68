import { setImmediate as nextTurn } from 'node:timers/promises'
import { readGenesisId, readHead, readHeader } from '#blockchain/chainStore'
import { checkBlocks, checkHeads, checkHistory } from '#blockchain/check/blockCheck'
import { checkLogIndex } from '#blockchain/check/logIndexCheck'
import { checkBlockHashes, checkTransactionPlaces } from '#blockchain/check/placeCheck'
import { readIndexMark, readLogsPruned } from '#blockchain/logIndex/logIndex'
import { u64Bytes, u64FromBytes } from '#lib/bytes'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import { toHex } from '#lib/hex'
import { latestStateRoot, oldestState } from '#state/chainState'
import { checkHistoryIndex } from '#state/historyCheck'
import { requireWholeState } from '#state/partialState'
import { checkCodes, checkState, checkStateMarks } from '#state/stateCheck'
import { segmentsDir } from '#store/chainTables'
import { environmentStats } from '#store/environmentStats'
import type { KvReader, SnapshotSource } from '#store/ports'
import type { CheckWatch, Difference } from '#store/rowCheck'
import { checkSegmentFiles } from '#store/segments/segmentCheck'
import { readPruned } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import type { BlockId } from '#types/blockRef'
import { hashHeader } from '#types/header'
import type { Hash } from '#types/ids'
import { chainDir, openChain } from './openChain.ts'
import { remedyOf } from './remedies.ts'
import { emptyProgress, mostKept, type Phase, phases, readProgress, removeProgress, saveProgress, type VerifyState } from './verifyState.ts'

/** Damaged rows that are counted once each; more of them may count twice. */
const mostDamaged = 100_000
/** Time that one snapshot is held. Meanwhile a running node reuses no pages that it frees: some ten blocks' pages. */
const snapshotMs = 1_000
/** Time between writes of the position to the data directory. */
const saveMs = 10_000

export type VerifyDeps = {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called after each snapshot. */
  onProgress(progress: VerifyProgress): void
  /** Called once when the position cannot be written, with Fault VERIFY_NOT_SAVED. The verification goes on. */
  onNotSaved?(error: unknown): void
}
/** `rows` of about `total` rows are checked, `earlier` of them by the run that was interrupted. */
export type VerifyProgress = { readonly phase: Phase; readonly rows: number; readonly earlier: number; readonly total: number }

export type VerifyResult = {
  /** False after an interruption. The next run continues. */
  readonly done: boolean
  /** False after an interruption whose position could not be written. The next run does not continue from it. */
  readonly saved: boolean
  /** Whether this run continued an interrupted one. */
  readonly resumed: boolean
  /** Last block of the last snapshot. */
  readonly head: BlockId
  /** Number of rows checked in each phase. */
  readonly checked: Readonly<Record<Phase, number>>
  /** Number of differences. */
  readonly found: number
  /** The first of them, with what to do. */
  readonly differences: readonly (Difference & { readonly remedy: string })[]
}

/**
 * Verifies the chain of a data directory, also of a running node: state, codes, segment files, blocks, positions by hash. Works in runs of a second, each on a
 * snapshot of its own and sound by itself (`checkState`, `checkBlocks`). Continues an interrupted verification, which is as sound as a long time
 * between two runs: each row is proved at the time of the run that visits it.
 * @throws as `openChain`; Fault STATE_INCOMPLETE
 */
export async function verifyDatabase(
  { clock, signal, onProgress, onNotSaved }: VerifyDeps,
  { datadir, restart = false, runMs = snapshotMs }: { readonly datadir: string; readonly restart?: boolean; readonly runMs?: number },
): Promise<VerifyResult> {
  let verification: Verification | undefined
  await using source = await openChain(datadir, (table, key) => verification?.reportDamaged(table, key))
  const total = rowsToCheck(source, chainDir(datadir))
  verification = new Verification(source, clock, { runMs, filesDir: segmentsDir(chainDir(datadir)) })
  const earlier = restart ? undefined : readProgress(datadir, verification.genesis)
  if (earlier) verification.state = earlier
  const before = rowsIn(verification.state)
  let savedMs = clock.elapsedMs()
  let isReported = false
  /** @returns whether the position is written */
  const save = (): boolean => {
    try {
      saveProgress(datadir, verification.state)
      return true
    } catch (error) {
      if (!isReported) onNotSaved?.(error)
      isReported = true
      return false
    }
  }
  while (!verification.isDone && !signal.aborted) {
    verification.run()
    onProgress({ phase: verification.phase, rows: rowsIn(verification.state), earlier: before, total })
    if (clock.elapsedMs() - savedMs >= saveMs) {
      save()
      savedMs = clock.elapsedMs()
    }
    await nextTurn()
  }
  const saved = verification.isDone || save()
  if (verification.isDone) removeProgress(datadir)
  const { checked, found, differences } = verification.state
  const withRemedies = differences.map((difference) => ({ ...difference, remedy: remedyOf(difference) }))
  return {
    done: verification.isDone,
    saved,
    resumed: earlier !== undefined,
    head: verification.head,
    checked,
    found,
    differences: withRemedies,
  }
}

const rowsIn = ({ checked }: VerifyState): number => Object.values(checked).reduce((sum, rows) => sum + rows, 0)

/** @throws Fault STATE_INCOMPLETE */
function rowsToCheck(source: SnapshotSource, dir: string): number {
  using reader = source.snapshot()
  requireWholeState(reader)
  const { accounts, storage, code, segments, blockByHash, txByHash, historyIndex } = tables
  const { tables: stats } = environmentStats(dir)
  const rows = [accounts, storage, code, segments, blockByHash, txByHash, historyIndex].map(
    ({ name }) => stats.find((table) => table.name === name)?.rows ?? 0,
  )
  const end = headOf(reader).number + 1
  const firstBlock = Math.max(readGenesisId(reader)?.number ?? 0, readPruned(reader, tables.headers.id))
  const firstLogs = Math.max(readIndexMark(reader)?.from ?? end, readLogsPruned(reader))
  // a block is a row of three phases: blocks, history, logs
  const byBlock = [firstBlock, oldestState(reader) + 1, firstLogs].map((first) => Math.max(0, end - first))
  return [...rows, ...byBlock].reduce((sum, count) => sum + count, 0)
}

class Verification {
  readonly #source: SnapshotSource
  readonly #clock: Clock
  readonly #runMs: number
  readonly #filesDir: string
  /** damaged rows that are reported: several checks may read one */
  readonly #damaged = new Set<string>()
  readonly genesis: Hash
  head: BlockId
  state: VerifyState

  constructor(source: SnapshotSource, clock: Clock, { runMs, filesDir }: { readonly runMs: number; readonly filesDir: string }) {
    this.#source = source
    this.#clock = clock
    this.#runMs = runMs
    this.#filesDir = filesDir
    using reader = source.snapshot()
    this.head = headOf(reader)
    this.genesis = readGenesisId(reader)?.hash ?? this.head.hash
    this.state = emptyProgress(this.genesis)
  }

  get isDone(): boolean {
    return this.state.phase === 'done'
  }

  get phase(): Phase {
    return this.state.phase === 'done' ? 'logs' : this.state.phase
  }

  /** Checks for the time of one run, on one snapshot. A page that LMDB cannot read ends the verification. */
  run(): void {
    const untilMs = this.#clock.elapsedMs() + this.#runMs
    using reader = this.#source.snapshot()
    try {
      this.head = headOf(reader)
      this.#check(reader, () => this.#clock.elapsedMs() < untilMs)
    } catch (error) {
      if (!isFault(error, 'STORE_DAMAGED')) throw error
      this.#report({ table: this.phase, key: '0x', expected: 'pages that can be read', found: error.message })
      this.state = { ...this.state, phase: 'done' }
    }
  }

  #check(reader: KvReader, hasTime: () => boolean): void {
    const { phase } = this
    const watch: CheckWatch = { hasTime, report: (difference): void => this.#report(difference), onRow: (): void => this.#countRow(phase) }
    const next = this.#runPhase(reader, phase, watch)
    if (next === undefined) this.state = { ...this.state, phase: phases[phases.indexOf(phase) + 1] ?? 'done', position: undefined }
    else this.state = { ...this.state, position: next }
  }

  /** @returns the position of the next run in the phase; undefined when the phase is done */
  #runPhase(reader: KvReader, phase: Phase, watch: CheckWatch): VerifyState['position'] {
    const { position } = this.state
    if (phase === 'state') {
      const isFirst = position === undefined
      if (isFirst) checkHeads(reader, watch)
      if (isFirst) checkStateMarks(reader, this.head.number, watch)
      const next = checkState(reader, rootOf(reader, this.head), position && { account: position.key, slot: position.slot }, watch)
      return next && { key: next.account, slot: next.slot }
    }
    const from = position?.key ?? Uint8Array.of(0)
    if (phase === 'code') return positionAt(checkCodes(reader, from, watch))
    if (phase === 'files') return positionAt(this.#checkFiles(reader, from, watch))
    if (phase === 'hashes') return positionAt(checkBlockHashes(reader, from, watch))
    if (phase === 'transactions') return positionAt(checkTransactionPlaces(reader, from, watch))
    if (phase === 'index') return positionAt(checkHistoryIndex(reader, from, watch))
    const number = position && u64FromBytes(position.key)
    const head = this.head.number
    // from the head down, because the history of a block is read through that of the blocks after it
    if (phase === 'history') return blockPosition(checkHistory(reader, Math.min(number ?? head, head), watch))
    if (phase === 'logs') return blockPosition(checkLogIndex(reader, number, head, watch))
    return blockPosition(checkBlocks(reader, { from: number ?? readGenesisId(reader)?.number ?? 0, head, source: this.#source }, watch))
  }

  #checkFiles(reader: KvReader, from: Uint8Array, watch: CheckWatch): Uint8Array | undefined {
    const isRecorded = (key: Uint8Array): boolean => {
      using newest = this.#source.snapshot()
      return newest.look(tables.segments.id, key, () => true) ?? false
    }
    return checkSegmentFiles(reader, { dir: this.#filesDir, from, isRecorded }, watch)
  }

  #countRow(phase: Phase): void {
    this.state.checked[phase]++
  }

  reportDamaged(table: string, key: Uint8Array): void {
    const name = `${table} ${toHex(key)}`
    if (this.#damaged.has(name)) return
    if (this.#damaged.size < mostDamaged) this.#damaged.add(name)
    this.#report({ table, key: toHex(key), expected: 'a row with its checksum', found: 'another checksum' })
  }

  #report(difference: Difference): void {
    const { state } = this
    // runs that overlap at a damaged row report it twice
    if (state.differences.some((known) => JSON.stringify(known) === JSON.stringify(difference))) return
    state.found++
    if (state.differences.length < mostKept) state.differences.push(difference)
  }
}

const positionAt = (key: Uint8Array | undefined): VerifyState['position'] => key && { key, slot: undefined }

const blockPosition = (number: number | undefined): VerifyState['position'] =>
  positionAt(number === undefined ? undefined : u64Bytes(number))

const headOf = (reader: KvReader): BlockId => readHead(reader) as BlockId

/** Returns the state root in the header of the head. With a damaged header, the stored root, so that the rows are at least compared with each other. */
function rootOf(reader: KvReader, head: BlockId): Hash {
  try {
    const header = readHeader(reader, head)
    if (header !== undefined && hashHeader(header) === head.hash) return header.stateRoot
  } catch {
    // a header that cannot be decoded; the check of blocks reports it
  }
  return latestStateRoot(reader)
}
