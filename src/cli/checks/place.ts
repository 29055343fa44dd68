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

/** Returns why nothing can be written in a directory; undefined: this user can write there. */
function refusalIn(place: string): Finding | undefined {
  try {
    accessSync(place, constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    const isReadOnly = (error as NodeJS.ErrnoException).code === 'EROFS'
    const what = isReadOnly ? 'the file system of the data directory is mounted read-only' : 'this user cannot write to the data directory'
    const fix = isReadOnly
      ? 'mount it read-write, or name another --datadir'
      : 'give this user write access (chown), or name another --datadir'
    return { level: 'error', where: place, what, fix }
  }
}

/** Checks that the node can create and write its data directory, and has room. Writes nothing. */
export function checkPlace({ datadir, minFreeBytes }: Pick<NodeOptions, 'datadir' | 'minFreeBytes'>): readonly Finding[] {
  const place = existingAbove(datadir)
  if (!statSync(place).isDirectory()) {
    return [{ level: 'error', where: place, what: 'is not a directory', fix: 'name another --datadir' }]
  }
  const refusal = refusalIn(place)
  const findings = refusal ? [refusal] : []
  const free = freeBytes(place)
  if (free < minFreeBytes) {
    const what = `${size(free)} free on the disk of the data directory, less than --db.min-free ${size(minFreeBytes)}: new blocks are refused`
    findings.push({ level: 'error', where: place, what, fix: 'free space, enlarge the disk, or name a --datadir on another disk' })
  }
  return findings
}
