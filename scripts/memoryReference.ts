import { usualOptions } from '#blockchain/executionDeps'
import { commitBounds } from '../src/blockchain/commit/commitBehind.ts'
import { maxIdle, maxIdleBytes } from '../src/evm/wasmEvm.ts'
import { usualUnread } from '../src/executionThread/outbox.ts'
import { maxQueuedBytes } from '../src/executionThread/senderThreads.ts'
import { defaultHeldBytes } from '../src/flashblocks/consumer.ts'
import { cacheNames, cacheTable, divideCache, usualCacheBytes } from '../src/node/memory/cacheBudget.ts'
import { exporterLimits } from '../src/node/tracing/otlpExporter.ts'
import { filterMemoryBytes } from '../src/rpc/filters/filters.ts'
import { defaultServerLimits } from '../src/rpc/server/httpServer.ts'
import { ipcLimits } from '../src/rpc/server/ipcServer.ts'
import { defaultWsLimits } from '../src/rpc/server/wsServer.ts'
import { keptWorkBytes } from '../src/trie/tries.ts'
import { defaultPoolLimits } from '../src/txpool/txPool.ts'

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`
const example = divideCache(usualCacheBytes(Number.POSITIVE_INFINITY))

/** Caches of a node with their bounds at the largest default of `--cache`. */
export const cacheRows: readonly (readonly string[])[] = cacheNames.map((name) => {
  const { percent, threads, holds } = cacheTable[name]
  return [`\`${name}\``, threads, holds, `${percent} %`, megabytes(example[name])]
})

/** Queues, buffers and pools with their bounds. */
export const bufferRows: readonly (readonly string[])[] = [
  [
    'execution',
    'executed blocks that are not committed, or may be reorged back to',
    megabytes(usualOptions.maxTreeBytes),
    'a quarter, then a tenth; new blocks wait for commits',
  ],
  ['execution', 'journal of uncommitted blocks, on disk', megabytes(commitBounds.journalBytes), ''],
  ['execution', 'records that one reading thread has not read; beyond it the thread is replaced', megabytes(usualUnread.maxBytes), ''],
  ['execution', 'transaction pool', megabytes(defaultPoolLimits.maxBytes), ''],
  ['execution', 'transactions that wait for sender threads', megabytes(maxQueuedBytes), ''],
  ['each sender', 'linear memory for parts of state roots that is kept between blocks', megabytes(keptWorkBytes), ''],
  [
    'each with an interpreter',
    `${maxIdle} idle instances of each build (two builds where JSON-RPC is answered)`,
    `${megabytes(maxIdleBytes)} each`,
    '',
  ],
  ['main', 'flashblocks that wait for earlier ones', megabytes(defaultHeldBytes), ''],
  ['each JSON-RPC', 'HTTP: bodies of unanswered requests', megabytes(defaultServerLimits.maxHeldBytes), ''],
  ['each JSON-RPC', 'HTTP: unread answers', megabytes(defaultServerLimits.maxUnreadTotalBytes), 'a half, then a quarter'],
  ['each JSON-RPC', 'WebSocket: messages in progress', megabytes(defaultWsLimits.maxHeldBytes), ''],
  [
    'each JSON-RPC',
    'WebSocket: unread answers and notifications',
    megabytes(defaultWsLimits.maxUnreadTotalBytes),
    'a half, then a quarter',
  ],
  ['each JSON-RPC', 'filters and subscriptions', megabytes(filterMemoryBytes), ''],
  ['main', 'spans for the collector of --trace.otlp', `${exporterLimits.queue} spans`, ''],
  ['main', 'Unix socket: unread answers', megabytes(ipcLimits.maxUnreadTotalBytes), 'a half, then a quarter'],
]
