import { readFileSync } from 'node:fs'
import type { KeyRing } from './keyRing.ts'

/** Page faults during a block below which nothing is read ahead for the next one: they take some three milliseconds. */
const fewFaults = 32
/** Index of `majflt` among the fields after the name of the thread (proc_pid_stat(5)). */
const majorFaultsAt = 9

/** Returns the page faults of this thread that read the disk, since its start; 0 on systems other than Linux, which do not count them by thread. */
export function diskFaults(): number {
  if (process.platform !== 'linux') return 0
  const stat = readFileSync('/proc/thread-self/stat', 'latin1')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[majorFaultsAt])
}

/** Returns a function to call after each block: it requests keys for the next block if this thread waited for the disk. */
export function followDiskWaits(keys: Pick<KeyRing, 'isFollowed'>, faults: () => number = diskFaults): () => void {
  let before = faults()
  return () => {
    const now = faults()
    keys.isFollowed = now - before >= fewFaults
    before = now
  }
}
