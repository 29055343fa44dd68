import { randomBytes } from 'node:crypto'
import { closeSync, fdatasyncSync, openSync, statfsSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '#lib/clock'
import type { Finding } from './finding.ts'

/** Writes of the test, each flushed to the disk as a commit is, and their bound in time. */
const writes = 24
const writeBytes = 262_144
const testMs = 3_000
/** Local NVMe: below 2 ms. Network disks and hard disks: 10 ms and more. */
const slowFlushMs = 20

type FileSystem = { readonly name: string; readonly level: Finding['level']; readonly what: string }
const network = 'a network file system: memory-mapped databases may be damaged there, and locks do not work'
const fix = 'put --datadir on a local disk (ext4 or xfs)'

/** File systems by the type of statfs(2). */
const fileSystems: ReadonlyMap<number, FileSystem> = new Map([
  [0x6969, { name: 'nfs', level: 'error', what: network }],
  [0xff534d42, { name: 'cifs', level: 'error', what: network }],
  [0xfe534d42, { name: 'smb2', level: 'error', what: network }],
  [0x01021997, { name: '9p', level: 'error', what: network }],
  [0x65735546, { name: 'fuse', level: 'warning', what: 'a file system in user space: slow, and its flushes may not reach the disk' }],
  [0x794c7630, { name: 'overlayfs', level: 'warning', what: 'the layer of a container: the data is lost with the container' }],
  [0x01021994, { name: 'tmpfs', level: 'warning', what: 'in memory: the data is lost at a restart of the machine' }],
])

/** Returns the finding for a type of file system. Pure. */
export function fileSystemFindings(place: string, type: number): readonly Finding[] {
  const known = fileSystems.get(type >>> 0)
  return known ? [{ level: known.level, where: place, what: `the data directory is on ${known.name}, ${known.what}`, fix }] : []
}

/** Measures the median time of a flushed write, in ms. It writes 6 MB at most, for 3 s at most, and removes its file. @throws the error of the disk */
function measureFlush(clock: Clock, dir: string): number {
  const path = join(dir, `.basalt-doctor-${randomBytes(6).toString('hex')}`)
  const bytes = randomBytes(writeBytes)
  const file = openSync(path, 'wx', 0o600)
  const times: number[] = []
  try {
    const startMs = clock.elapsedMs()
    while (times.length < writes && clock.elapsedMs() - startMs < testMs) {
      const beginMs = clock.elapsedMs()
      writeSync(file, bytes)
      fdatasyncSync(file)
      times.push(clock.elapsedMs() - beginMs)
    }
  } finally {
    closeSync(file)
    unlinkSync(path)
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}

/** Returns the finding for a median time of a flushed write. Pure. */
export function flushFindings(place: string, flushMs: number): readonly Finding[] {
  if (flushMs < slowFlushMs) return []
  const what = `the disk takes ${Math.round(flushMs)} ms for a flushed write of ${writeBytes / 1_024} kB`
  return [{ level: 'warning', where: place, what, fix: 'use a local NVMe disk: at 200 ms a block this one may not keep up' }]
}

/** Checks file system and speed of the disk under a data directory. @param place an existing directory */
export function checkDisk(clock: Clock, place: string): readonly Finding[] {
  const findings = [...fileSystemFindings(place, statfsSync(place).type)]
  try {
    findings.push(...flushFindings(place, measureFlush(clock, place)))
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
    const what = `a test file could not be written (${code})`
    findings.push({ level: 'error', where: place, what, fix: 'check permissions and free space' })
  }
  return findings
}
