import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '#lib/fault'
import { fromHex, toHex } from '#lib/hex'
import type { Difference } from '#store/rowCheck'
import type { Hash } from '#types/ids'
import { databaseFault } from './faults.ts'

/** In the order of the work. The history of states is checked with the help of the latest state, and the log index with that of the receipts. */
export const phases = ['state', 'code', 'files', 'blocks', 'hashes', 'transactions', 'history', 'index', 'logs'] as const
export type Phase = (typeof phases)[number]

/** Number of differences that are kept with their rows; all are counted. */
export const mostKept = 20
/** Version of the file. A file of another version is not continued. */
const version = 3

/** How far a verification is. */
export type VerifyState = {
  /** Genesis block of the chain. */
  readonly genesis: Hash
  readonly phase: Phase | 'done'
  /** Next key of the phase; undefined: its first one. `slot`: in the storage of the account `key`. */
  readonly position: { readonly key: Uint8Array; readonly slot: Uint8Array | undefined } | undefined
  readonly checked: Record<Phase, number>
  found: number
  readonly differences: Difference[]
}

export const emptyProgress = (genesis: Hash): VerifyState => ({
  genesis,
  phase: 'state',
  position: undefined,
  checked: { state: 0, code: 0, files: 0, blocks: 0, hashes: 0, transactions: 0, history: 0, index: 0, logs: 0 },
  found: 0,
  differences: [],
})

const fileIn = (datadir: string): string => join(datadir, 'db-verify.json')

/** Writes the position beside the database, replacing the file at once. @throws Fault VERIFY_NOT_SAVED */
export function saveProgress(datadir: string, state: VerifyState): void {
  const { position } = state
  const key = position && toHex(position.key)
  const slot = position?.slot && toHex(position.slot)
  const path = fileIn(datadir)
  try {
    // another verification of the directory may write its position too
    const next = `${path}.${process.pid}.new`
    writeFileSync(next, JSON.stringify({ ...state, version, position: key && { key, slot } }), { mode: 0o600 })
    renameSync(next, path)
  } catch (error) {
    throw databaseFault('VERIFY_NOT_SAVED', { path, reason: errorMessage(error) }, error)
  }
}

/** Returns the state of an interrupted verification of the same chain; undefined when there is none, or its file is damaged. */
export function readProgress(datadir: string, genesis: Hash): VerifyState | undefined {
  try {
    const read = JSON.parse(readFileSync(fileIn(datadir), 'utf8')) as Omit<VerifyState, 'position'> & {
      readonly version: number
      readonly position?: { readonly key: string; readonly slot?: string }
    }
    if (read.version !== version || read.genesis !== genesis || !phases.some((phase) => phase === read.phase)) return undefined
    const { phase, checked, found, differences, position } = read
    const at = position && { key: fromHex(position.key), slot: position.slot === undefined ? undefined : fromHex(position.slot) }
    return { genesis, phase, position: at, checked, found, differences }
  } catch {
    return undefined
  }
}

/** Removes the position. Where it cannot be removed, a later verification continues from it. */
export function removeProgress(datadir: string): void {
  try {
    rmSync(fileIn(datadir), { force: true })
  } catch {
    // the checks are done, whether the disk can be written or not
  }
}
