import { statfsSync } from 'node:fs'
import { storeFault } from './faults.ts'
import type { Kv } from './ports.ts'

/** Returns the bytes that this process may still write on the directory's disk. */
export function freeBytes(dir: string): number {
  const { bavail, bsize } = statfsSync(dir)
  return bavail * bsize
}

/** Throws Fault DISK_LOW (retry) when fewer bytes are free on the disk of the tables. A minimum of zero disables the check. */
export function requireFreeSpace(kv: Pick<Kv, 'freeBytes'>, minFreeBytes: number): void {
  if (minFreeBytes === 0) return
  const free = kv.freeBytes()
  if (free < minFreeBytes) throw storeFault('DISK_LOW', { freeBytes: free, minFreeBytes })
}
