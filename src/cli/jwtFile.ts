import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, linkSync, mkdirSync, openSync, readSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorMessage, isFault } from '#lib/fault'
import { fromHex } from '#lib/hex'
import { cliFault } from './faults.ts'

/** Longer than any valid file; the rest is not read. */
const maxFileBytes = 1_024

const codeOf = (error: unknown): string | undefined => (error instanceof Error && 'code' in error ? String(error.code) : undefined)
/** Reads the secret; undefined: the file does not exist. @throws Fault JWT_FILE_BAD, UNREADABLE_FILE (fatal) */
export function readSecret(path: string): Uint8Array | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw cliFault('UNREADABLE_FILE', { path, reason: errorMessage(error) }, error)
  }
  try {
    const { mode } = fstatSync(file)
    if ((mode & 0o077) !== 0) {
      throw cliFault('JWT_FILE_BAD', { path, problem: `others may read it (mode ${(mode & 0o777).toString(8)})` })
    }
    const buffer = Buffer.alloc(maxFileBytes)
    const text = buffer.toString('latin1', 0, readSync(file, buffer)).trim()
    const [, digits] = /^(?:0x)?([0-9a-f]{64})$/i.exec(text) ?? []
    if (digits === undefined) throw cliFault('JWT_FILE_BAD', { path, problem: `${text.length} characters are not 64 hex digits` })
    return fromHex(`0x${digits.toLowerCase()}`)
  } catch (error) {
    if (isFault(error)) throw error
    throw cliFault('UNREADABLE_FILE', { path, reason: errorMessage(error) }, error)
  } finally {
    closeSync(file)
  }
}

/**
 * Creates the file. Effects, in order: 1 a complete file under a temporary name, flushed to disk, 2 a link under the final name, which only one of
 * several processes gets, 3 removal of the temporary name. A crash leaves at most a file under a temporary name, which is never read.
 */
function makeSecret(path: string): void {
  const own = `${path}.${randomBytes(8).toString('hex')}`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const file = openSync(own, 'wx', 0o600)
    try {
      writeFileSync(file, randomBytes(32).toString('hex'))
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    try {
      linkSync(own, path)
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error // another process was first: its secret is used
    } finally {
      unlinkSync(own)
    }
  } catch (error) {
    throw cliFault('JWT_FILE_UNWRITABLE', { path, reason: errorMessage(error) }, error)
  }
}

/**
 * Reads the secret of the Engine API from its file, which is created (mode 0600) if it does not exist. Processes that start at once all get the same
 * secret.
 * @returns 32 bytes
 * @throws Fault JWT_FILE_BAD, JWT_FILE_UNWRITABLE, UNREADABLE_FILE (fatal); none contains the secret
 */
export function sharedSecret(path: string): Uint8Array {
  const there = readSecret(path)
  if (there) return there
  makeSecret(path)
  const made = readSecret(path)
  if (!made) throw cliFault('JWT_FILE_UNWRITABLE', { path, reason: 'it disappeared after it was created' })
  return made
}

/** Returns whether the file exists and holds a secret other than these 64 hex digits. @throws Fault JWT_FILE_BAD, UNREADABLE_FILE (fatal) */
function holdsAnother(path: string, digits: string): boolean {
  const there = readSecret(path)
  return there !== undefined && Buffer.compare(there, fromHex(`0x${digits}`)) !== 0
}

/**
 * Checks that the file of --jwt agrees with the secret of --jwt.secret.
 * @param digits 64 hex digits
 * @throws Fault JWT_CONFLICT, JWT_FILE_BAD, UNREADABLE_FILE (fatal)
 */
export function agreeWithSecretFile(digits: string, path: string): void {
  if (holdsAnother(path, digits)) throw cliFault('JWT_CONFLICT', { path })
}

/** Returns whether --jwt.secret overrides a file: it exists, and holds another secret or no valid one. */
export function isSecretFileUnused(digits: string, path: string): boolean {
  try {
    return holdsAnother(path, digits)
  } catch (error) {
    if (isFault(error)) return true
    throw error
  }
}
