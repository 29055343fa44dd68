import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { NodeOptions } from '#node/nodeOptions'
import { freeBytes } from '#store/freeSpace'
import { size } from '../textLayout.ts'
import type { Finding } from './finding.ts'

/** Returns the directory itself, or the nearest one above it that exists: there the node would create it. */
export function existingAbove(path: string): string {
  const full = resolve(path)
  return existsSync(full) || dirname(full) === full ? full : existingAbove(dirname(full))
}

function writable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Checks that the node can create and write its data directory, and has room. Writes nothing. */
export function checkPlace({ datadir, minFreeBytes }: Pick<NodeOptions, 'datadir' | 'minFreeBytes'>): readonly Finding[] {
  const place = existingAbove(datadir)
  if (!statSync(place).isDirectory()) {
    return [{ level: 'error', where: place, what: 'is not a directory', fix: 'name another --datadir' }]
  }
  const findings: Finding[] = []
  if (!writable(place)) {
    const fix = 'give this user write access (chown), mount it read-write, or name another --datadir'
    findings.push({ level: 'error', where: place, what: 'this user cannot write to the data directory', fix })
  }
  const free = freeBytes(place)
  if (free < minFreeBytes) {
    const what = `${size(free)} free on the disk of the data directory, less than --db.min-free ${size(minFreeBytes)}: new blocks are refused`
    findings.push({ level: 'error', where: place, what, fix: 'free space, enlarge the disk, or name a --datadir on another disk' })
  }
  return findings
}
