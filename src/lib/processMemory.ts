import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'

/** Returns the memory that this process may use, in bytes: the limit of its cgroup (version 1 or 2), or the memory of the machine if that is less. */
export function memoryLimit(): number {
  const constrained = process.constrainedMemory()
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
}

/**
 * Returns the anonymous memory of this process in bytes: heaps, buffers and stacks of all threads, without the pages of files such as the database.
 * Takes about 50 µs. Where the system does not count them it is the resident memory.
 */
export function anonymousBytes(): number {
  try {
    const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? []
    if (kilobytes !== undefined) return Number(kilobytes) * 1_024
  } catch {
    // a system without /proc
  }
  return process.memoryUsage.rss()
}
