// Log records of the transaction, in sequence, for the host to read.
import { ctxLogsTop, logAccount, logDataBytes, logHeadBytes, logsEnd, logTopics } from '../layout'
import { save, undoLog } from './undo'

/**
 * Adds a log.
 * @param topics number of topics, 0 to 4
 * @param top stack pointer of the first topic; the next lies at top - 32
 * @param data address of `size` bytes
 */
export function addLog(account: usize, topics: u32, top: usize, data: usize, size: u32): void {
  const at = <usize>load<u32>(ctxLogsTop)
  const body = at + logHeadBytes + <usize>topics * 32
  const end = <u64>body + <u64>((<u64>size + 7) & ~7)
  if (end > <u64>logsEnd) unreachable()
  save(undoLog, at)
  store<u32>(at, <u32>account, logAccount)
  store<u32>(at, topics, logTopics)
  store<u32>(at, size, logDataBytes)
  for (let i: u32 = 0; i < topics; i++) writeTopic(at + logHeadBytes + <usize>i * 32, top - <usize>i * 32)
  memory.copy(body, data, size)
  store<u32>(ctxLogsTop, <u32>end)
}

/** Writes a word as big-endian bytes. */
function writeTopic(to: usize, word: usize): void {
  store<u64>(to, bswap(load<u64>(word, 24)))
  store<u64>(to, bswap(load<u64>(word, 16)), 8)
  store<u64>(to, bswap(load<u64>(word, 8)), 16)
  store<u64>(to, bswap(load<u64>(word)), 24)
}
