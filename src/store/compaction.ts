import { chmodSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import { dataFile, lockFile } from './environmentFiles.ts'
import { environmentStats } from './environmentStats.ts'
import { storeFault } from './faults.ts'
import { flushPath } from './flush.ts'
import { freeBytes } from './freeSpace.ts'
import { damageOf } from './lmdb/damage.ts'
import { lockDir } from './lmdb/dirLock.ts'
import { openTables } from './lmdb/environment.ts'
import { storeFailure } from './lmdb/failure.ts'
import { copyDirIn, removeCopy } from './lmdb/leftCopy.ts'
import type { Root } from './lmdb/tableRows.ts'
import type { TableSpec } from './tables.ts'

/** Effects of a compaction, in order. After `swapped` the new file is in place; before it the old one is. */
export type CompactionStep = 'copied' | 'flushed' | 'checked' | 'unlocked' | 'swapped'

export type CompactionWatch = {
  readonly clock: Clock
  /** Called twice a second with the bytes of the copy so far, and about how many it will have. */
  onProgress(bytes: number, ofBytes: number): void
  /** Throws when the copy, opened in its own directory, differs from the original. */
  check(copyDir: string): Promise<void>
  /** Called after each step. */
  onStep?(step: CompactionStep): void
  /** Aborted: the copy is removed when LMDB has written it, and the database stays as it is. */
  readonly signal: AbortSignal
}

/** Room that the copy leaves on the disk. */
const marginBytes = 64 * 2 ** 20
const progressMs = 500

/**
 * Replaces the database file of a directory by a copy without free pages, with its rows in key order. Needs the directory's lock, and disk space for the
 * copy. The copy is complete, flushed and checked before one rename puts it in place, so that a kill or a power loss at any instant leaves the old file or
 * the new one, and at most a directory that the next start removes.
 * @returns sizes of the file; undefined when aborted
 * @throws Fault DATADIR_LOCKED, DATADIR_DAMAGED, DATADIR_READ, DISK_FULL, STORE_FAILED; errors of `check`
 */
export async function compactEnvironment(
  dir: string,
  specs: readonly TableSpec[],
  watch: CompactionWatch,
): Promise<{ readonly bytesBefore: number; readonly bytesAfter: number } | undefined> {
  using _lock = lockDir(dir)
  removeCopy(dir)
  const damage = damageOf(dir)
  if (damage !== undefined) throw storeFault('DATADIR_DAMAGED', { dir, reason: damage })
  const { fileBytes, usedBytes, freeBytes: unused } = environmentStats(dir)
  const expectedBytes = usedBytes - unused
  requireRoom(dir, expectedBytes)
  const { mode } = statSync(dataFile(dir))
  const copyDir = copyDirIn(dir)
  try {
    await copyTo(copyDir, { dir, specs, watch, expectedBytes })
    watch.onStep?.('copied')
    if (watch.signal.aborted) return undefined
    flushPath(dataFile(copyDir))
    watch.onStep?.('flushed')
    if (watch.signal.aborted) return undefined
    await watch.check(copyDir)
    watch.onStep?.('checked')
    if (watch.signal.aborted) return undefined
    chmodSync(dataFile(copyDir), mode)
    const bytesAfter = statSync(dataFile(copyDir)).size
    swap(dir, copyDir, watch)
    return { bytesBefore: fileBytes, bytesAfter }
  } catch (error) {
    throw isFault(error) ? error : storeFailure(dir, error)
  } finally {
    removeCopy(dir)
  }
}

function requireRoom(dir: string, copyBytes: number): void {
  const free = freeBytes(dir)
  const needed = copyBytes + marginBytes
  if (free < needed) throw storeFault('NO_ROOM_FOR_COPY', { dir, freeBytes: free, neededBytes: needed })
}

async function copyTo(
  copyDir: string,
  from: { readonly dir: string; readonly specs: readonly TableSpec[]; readonly watch: CompactionWatch; readonly expectedBytes: number },
): Promise<void> {
  const { dir, specs, watch, expectedBytes } = from
  const { root } = openTables(dir, specs, 'writer')
  const path = dataFile(copyDir)
  let timer: Disposable | undefined
  const tick = (): void => {
    watch.onProgress(statSync(path, { throwIfNoEntry: false })?.size ?? 0, expectedBytes)
    timer = watch.clock.after(progressMs, tick)
  }
  tick()
  try {
    requireNoReaders(dir, root)
    mkdirSync(copyDir, { mode: 0o700 })
    // the typings lack the second parameter of `backup`: a copy without free pages
    const { backup } = root as Root & { backup(path: string, isCompact: boolean): Promise<void> }
    await backup.call(root, copyDir, true)
  } finally {
    timer?.[Symbol.dispose]()
    await root.close()
  }
}

/** Another reader of the old file would share LMDB's lock file with the writer of the new one. */
function requireNoReaders(dir: string, root: Root): void {
  // the typings lack both; a killed reader leaves an entry, which the first call removes
  const env = root as Root & { readerCheck(): number; readerList(): string }
  env.readerCheck()
  for (const [, pid] of env.readerList().matchAll(/^\s*(\d+)\s+\S+\s+\S+\s*$/gm)) {
    if (Number(pid) !== process.pid) throw storeFault('DATADIR_READ', { dir, pid: Number(pid) })
  }
}

/** Puts the copy in place. LMDB's lock file belongs to the old file: it has the number of its last transaction. */
function swap(dir: string, copyDir: string, { onStep }: CompactionWatch): void {
  rmSync(lockFile(dir), { force: true })
  onStep?.('unlocked')
  renameSync(dataFile(copyDir), dataFile(dir))
  onStep?.('swapped')
  flushPath(dir)
}
