/** Caches of a node, with their share of `--cache` in percent. Threads that have the same cache divide its share. */
export const cachePercent = {
  /** decoded blocks and the JSON of their parts, in the threads that answer JSON-RPC */
  blocks: 22,
  /** states between the transactions of traced blocks, in the same threads */
  replays: 22,
  /** trie nodes and codes of witnesses, in the same threads */
  witness: 22,
  /** logs of recent blocks for filters and subscriptions, in the same threads */
  logs: 4,
  /** L1 blocks and blobs, in the main thread */
  l1: 12,
  /** senders of transactions, in the execution thread */
  senders: 6,
  /** translated code between blocks, in the interpreter of the execution thread */
  code: 6,
  /** translated code between calls, in the interpreters of the threads that answer JSON-RPC */
  callCode: 6,
} as const

export type CacheName = keyof typeof cachePercent
export const cacheNames = Object.keys(cachePercent) as readonly CacheName[]
/** Caches whose hits are counted; the interpreter does not count those of its code. */
export const countedCaches = cacheNames.filter((name) => name !== 'code' && name !== 'callCode')

/** Bytes of each cache. */
export type CacheBytes = Readonly<Record<CacheName, number>>

const [leastCacheBytes, mostCacheBytes] = [32 * 2 ** 20, 512 * 2 ** 20]

/** Returns the default of `--cache`: an eighth of the memory, between 32 MiB and 512 MiB. @param memoryBytes of the machine or its cgroup */
export const usualCacheBytes = (memoryBytes: number): number =>
  Math.min(mostCacheBytes, Math.max(leastCacheBytes, Math.floor(memoryBytes / 8)))

/** Divides the bytes of all caches of a process among them. */
export function divideCache(totalBytes: number): CacheBytes {
  const all = cacheNames.reduce((sum, name) => sum + cachePercent[name], 0)
  return Object.fromEntries(cacheNames.map((name) => [name, Math.floor((totalBytes * cachePercent[name]) / all)])) as CacheBytes
}

/** Interpreters that a thread keeps: two that trace, and two that do not. */
const keptInterpreters = 4
/** A smaller arena cannot hold the codes of one call. */
const leastCodeBytes = 2 ** 20

/** Returns the bound of translated code of one interpreter. @param bytes of a thread that answers JSON-RPC */
export const codeBytesOf = (bytes: CacheBytes): number => Math.max(leastCodeBytes, Math.floor(bytes.callCode / keptInterpreters))

/** Returns the bytes of one thread. @param share of the caches that several threads have, 0 to 1 */
export function shareOfThread(bytes: CacheBytes, share: number): CacheBytes {
  return Object.fromEntries(cacheNames.map((name) => [name, Math.floor(bytes[name] * share)])) as CacheBytes
}
