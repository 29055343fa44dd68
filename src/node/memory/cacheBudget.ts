type CacheEntry = { readonly percent: number; readonly threads: string; readonly holds: string }

/** Caches of a node: the share of `--cache` in percent, the threads that divide it, and the contents. Generates `docs/reference/memory.md`. */
export const cacheTable = {
  blocks: { percent: 32, threads: 'JSON-RPC', holds: 'decoded blocks and the JSON of their parts' },
  replays: { percent: 16, threads: 'JSON-RPC', holds: 'states between the transactions of traced blocks' },
  witness: { percent: 10, threads: 'JSON-RPC', holds: 'recent witnesses, and their codes' },
  logs: { percent: 3, threads: 'JSON-RPC', holds: 'logs of recent blocks for filters and subscriptions' },
  history: { percent: 8, threads: 'JSON-RPC', holds: 'changes of blocks and their index, for reads of old states' },
  l1: { percent: 7, threads: 'main', holds: 'L1 blocks and blobs' },
  nodes: { percent: 11, threads: 'execution', holds: 'trie nodes by hash, for state roots' },
  branches: { percent: 1, threads: 'execution', holds: 'the same, for the states below side branches' },
  senders: { percent: 4, threads: 'execution', holds: 'senders of transactions' },
  code: { percent: 4, threads: 'execution', holds: 'translated code between blocks, in the interpreter' },
  callCode: { percent: 4, threads: 'JSON-RPC', holds: 'translated code between calls, in the interpreters' },
} as const satisfies Record<string, CacheEntry>

export type CacheName = keyof typeof cacheTable
export const cacheNames = Object.keys(cacheTable) as readonly CacheName[]

/** Bytes of each cache. */
export type CacheBytes = Readonly<Record<CacheName, number>>

const [leastCacheBytes, mostCacheBytes] = [32 * 2 ** 20, 512 * 2 ** 20]

/** Returns the default of `--cache`: an eighth of the memory, between 32 MiB and 512 MiB. @param memoryBytes of the machine or its cgroup */
export const usualCacheBytes = (memoryBytes: number): number =>
  Math.min(mostCacheBytes, Math.max(leastCacheBytes, Math.floor(memoryBytes / 8)))

/** Divides the bytes of all caches of a node among them. */
export const divideCache = (totalBytes: number): CacheBytes => divideAmong(cacheNames, totalBytes)

/** Divides the bytes of all caches of an import, which has only those of the execution thread. */
export const divideImportCache = (totalBytes: number): CacheBytes =>
  divideAmong(
    cacheNames.filter((name) => cacheTable[name].threads === 'execution'),
    totalBytes,
  )

function divideAmong(names: readonly CacheName[], totalBytes: number): CacheBytes {
  const all = names.reduce((sum, name) => sum + cacheTable[name].percent, 0)
  const bytesOf = (name: CacheName): number => (names.includes(name) ? Math.floor((totalBytes * cacheTable[name].percent) / all) : 0)
  return Object.fromEntries(cacheNames.map((name) => [name, bytesOf(name)])) as CacheBytes
}

/** Interpreters that a thread keeps: two that trace, and two that do not. */
const keptInterpreters = 4
/** A smaller arena cannot hold the codes of one call. */
const leastCodeBytes = 2 ** 20

/** Returns the bound of translated code of one interpreter. @param bytes of `callCode` in a thread that answers JSON-RPC */
export const codeBytesOf = (bytes: number): number => Math.max(leastCodeBytes, Math.floor(bytes / keptInterpreters))

/** Returns the bytes of one thread. @param share of the caches that several threads have, 0 to 1 */
export function shareOfThread(bytes: CacheBytes, share: number): CacheBytes {
  return Object.fromEntries(cacheNames.map((name) => [name, Math.floor(bytes[name] * share)])) as CacheBytes
}
