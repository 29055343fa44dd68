import { defaultServerLimits, type RpcServerLimits } from '#rpc/server/httpServer'
import { defaultWsLimits, type WsServerLimits } from '#rpc/server/wsServer'

/** Part of `--memory-max` for unread answers and unfinished requests of all threads. */
const answersPart = 1 / 4

/** Returns the bytes of one thread for unread answers and unfinished requests. @param maxBytes of the process, Infinity: no bound */
export const answerBytesOf = (maxBytes: number, threads: number): number => (maxBytes * answersPart) / Math.max(1, threads)

/** Returns the bound of one answer of a thread. */
export const maxAnswerBytesOf = (bytes: number): number => Math.min(defaultServerLimits.maxResponseBytes, bytes / 4)

/** Returns limits of a thread's HTTP server that do not exceed the thread's bytes: bodies a quarter, answers a half, one answer a quarter. */
export function httpLimits(bytes: number): Partial<RpcServerLimits> {
  const { maxHeldBytes, maxUnreadTotalBytes } = defaultServerLimits
  return {
    maxHeldBytes: Math.min(maxHeldBytes, bytes / 4),
    maxUnreadTotalBytes: Math.min(maxUnreadTotalBytes, bytes / 2),
    maxResponseBytes: maxAnswerBytesOf(bytes),
  }
}

/** Returns limits of a thread's WebSocket server in the same proportions. */
export function wsLimits(bytes: number): Partial<WsServerLimits> {
  const { maxHeldBytes, maxUnreadTotalBytes, maxResponseBytes, maxBufferedBytes } = defaultWsLimits
  return {
    maxHeldBytes: Math.min(maxHeldBytes, bytes / 4),
    maxUnreadTotalBytes: Math.min(maxUnreadTotalBytes, bytes / 2),
    maxResponseBytes: Math.min(maxResponseBytes, bytes / 4),
    maxBufferedBytes: Math.min(maxBufferedBytes, bytes / 3),
  }
}
