import { constants, existsSync } from 'node:fs'
import { copyFile, open, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '#lib/clock'
import { stateFile } from './anvilDirectory.ts'

/** Copy of the last complete state: anvil truncates its file before each save, so a kill during a save leaves an incomplete one. */
const lastFile = `${stateFile}.last`
/** Incomplete state that the copy has replaced. */
const brokenFile = `${stateFile}.broken`

const lookEveryMs = 1_000
/** Age from which a file counts as complete: anvil writes without pauses during a save. */
const settledMs = 1_000

async function isComplete(path: string, size: number): Promise<boolean> {
  await using file = await open(path)
  const { buffer } = await file.read(new Uint8Array(1), 0, 1, size - 1)
  return buffer[0] === '}'.charCodeAt(0)
}

/** Copies the state if it is complete. @param knownMs modification time of the state that the copy has @returns that of the copy after it */
async function copyState(clock: Clock, datadir: string, knownMs: number): Promise<number> {
  const path = join(datadir, stateFile)
  const { mtimeMs, size } = await stat(path)
  if (mtimeMs === knownMs || size === 0 || clock.nowMs() - mtimeMs < settledMs || !(await isComplete(path, size))) return knownMs
  const copy = join(datadir, `${lastFile}.new`)
  await copyFile(path, copy, constants.COPYFILE_FICLONE)
  if ((await stat(path)).mtimeMs !== mtimeMs) return knownMs
  await rename(copy, join(datadir, lastFile))
  return mtimeMs
}

/** Copies the state after each save, until disposed; to be disposed before anvil ends. A failed copy is tried again. */
export function keepLastState(clock: Clock, datadir: string): AsyncDisposable {
  const stop = new AbortController()
  const copyAll = async (): Promise<void> => {
    let knownMs = 0
    while (!stop.signal.aborted) {
      knownMs = await copyState(clock, datadir, knownMs).catch(() => knownMs)
      await clock.delay(lookEveryMs, stop.signal).catch(() => {})
    }
  }
  const copying = copyAll()
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort()
      await copying
    },
  }
}

/** Replaces the state by the last complete one; the replaced file gets another name. @returns false: there is no complete state */
export async function restoreLastState(datadir: string): Promise<boolean> {
  const [path, last] = [join(datadir, stateFile), join(datadir, lastFile)]
  if (!existsSync(last)) return false
  await rename(path, join(datadir, brokenFile))
  await copyFile(last, path, constants.COPYFILE_FICLONE)
  return true
}
