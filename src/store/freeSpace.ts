import { statfsSync } from 'node:fs'
import { storeFault } from './faults.ts'
import type { Kv } from './ports.ts'

/** What this process may still write on the disk that holds the directory. */
export function freeBytes(dir: string): number {
  const { bavail, bsize } = statfsSync(dir)
  return bavail * bsize
}

/** Fault DISK_LOW (retry) when fewer bytes are free where the tables are. A zero minimum asks for nothing. */
export function requireFreeSpace(kv: Pick<Kv, 'freeBytes'>, minFreeBytes: number): void {
  if (minFreeBytes === 0) return
  const free = kv.freeBytes()
  if (free < minFreeBytes) throw storeFault('DISK_LOW', { freeBytes: free, minFreeBytes })
}
