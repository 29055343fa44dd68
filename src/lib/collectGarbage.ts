import { getHeapStatistics } from 'node:v8'

/** The function of `node --expose-gc`. */
type Gc = (options: { readonly type: 'major'; readonly execution: 'sync'; readonly flavor: 'last-resort' }) => void

/** Growth of the heap and its buffers since the last collection below which another one frees little, unless their values are no longer used. */
const leastGrowthBytes = 16 * 2 ** 20
/** Calls without growth after which it collects nevertheless. */
const patience = 5

/** Bytes that this thread holds: the heap with its free pages, and buffers. */
function heldBytes(): number {
  const { arrayBuffers } = process.memoryUsage()
  return getHeapStatistics().total_physical_size + arrayBuffers
}

/**
 * Returns a function that collects all garbage of this thread and returns free pages to the system, if the thread has grown since the last collection, and
 * at each fifth call otherwise. Only a collection of last resort returns pages: any other keeps those that it freed for the thread, where `heldBytes` does
 * not count them. It repeats full collections while they free anything, some 200 ms for a heap of 100 MB.
 * @returns undefined without `--expose-gc`
 */
export function createCollector(): (() => void) | undefined {
  const { gc } = globalThis as { readonly gc?: Gc }
  if (gc === undefined) return undefined
  let before = 0
  let waits = 0
  return () => {
    if (heldBytes() - before < leastGrowthBytes && ++waits < patience) return
    waits = 0
    gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    before = heldBytes()
  }
}
