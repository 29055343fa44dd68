import { statfsSync } from 'node:fs'
import { storeFault } from './faults.ts'

/** What this process may still write on the disk that holds the directory. */
export function freeBytes(dir: string): number {
  const { bavail, bsize } = statfsSync(dir)
  return bavail * bsize
}

/** Fault DISK_LOW when fewer bytes are free than that. A zero minimum asks for nothing. */
export function requireFreeSpace(dir: string, minFreeBytes: number): void {
  const free = freeBytes(dir)
  if (free < minFreeBytes) throw storeFault('DISK_LOW', { dir, freeBytes: free, minFreeBytes })
}
