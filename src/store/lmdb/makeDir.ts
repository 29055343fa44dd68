import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

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
