import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ownerOnly = 0o700

/**
 * Makes a directory, and the missing ones above it, for their owner alone. An existing directory of this user is closed to others; the ones above it
 * may be mount points or shared and keep their mode. Throws the system's error.
 */
export function makeDir(dir: string): void {
  if (existsSync(dir)) closeToOthers(dir)
  else makeMissing(dir)
}

/** `mkdir` with `recursive` never ends on a file system that takes no directory. */
function makeMissing(dir: string): void {
  if (existsSync(dir)) return
  makeMissing(dirname(dir))
  mkdirSync(dir, ownerOnly)
}

function closeToOthers(dir: string): void {
  const { mode, uid } = statSync(dir)
  if ((mode & 0o077) === 0 || uid !== process.getuid?.()) return
  try {
    chmodSync(dir, ownerOnly)
  } catch {
    // a file system without modes
  }
}

const metaMagic = 0xbeefc0de
const [magicAt, pageSizeAt, metaBytes] = [24, 48, 52]

/**
 * Why the database file of a directory cannot be one, or undefined: LMDB maps the file and trusts it, so a foreign file would end the process.
 */
export function damageOf(dir: string): string | undefined {
  const path = join(dir, 'data.mdb')
  if (!existsSync(path)) return undefined
  const file = openSync(path, 'r')
  try {
    const first = metaPage(file, 0)
    if (first === undefined) return undefined
    if (first === 'foreign') return 'data.mdb is not a database'
    const second = metaPage(file, first)
    return typeof second === 'number' ? undefined : 'data.mdb is cut off or overwritten'
  } finally {
    closeSync(file)
  }
}

/** The page size that a meta page states; undefined when the file ends before it begins. */
function metaPage(file: number, at: number): number | 'foreign' | undefined {
  const bytes = new Uint8Array(metaBytes)
  const length = readSync(file, bytes, 0, metaBytes, at)
  if (length === 0) return undefined
  const view = new DataView(bytes.buffer)
  const isMeta = length === metaBytes && view.getUint32(magicAt, true) === metaMagic
  return isMeta ? view.getUint32(pageSizeAt, true) : 'foreign'
}
