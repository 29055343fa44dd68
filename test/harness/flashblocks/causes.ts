// Where the client that was recorded beside the stream of flashblocks is known to be wrong: its answers put right, by the name of the cause.
import { zeroHash } from '#types/ids'

type Shape = { readonly [key: string]: unknown }
type LogShape = Shape & { readonly blockHash: string; readonly blockNumber: string; readonly topics: readonly string[] }

/** Of the event that a contract of the recording tells its environment by: (number, hash of the parent). */
const environmentEvent = '0xefa72a30c038f3977671735a8e224ac308ccc94eb80508699d75b208aebdf6ba'

export type Known = {
  /** what our node answers at the same instant */
  readonly ours: unknown
  /** number of the newest sealed block of our node then */
  readonly latest: number
  /** `l1Fee` of all transactions of the block that is pending in our node then */
  readonly l1Fees: readonly string[]
}

export type Cause = { readonly name: string; readonly right: (theirs: unknown, known: Known) => unknown }

const isLog = (value: unknown): value is LogShape => typeof value === 'object' && value !== null && 'topics' in value
const logsOf = (value: unknown): readonly unknown[] | undefined => {
  if (Array.isArray(value)) return value
  if (isLog(value)) return [value]
  return typeof value === 'object' && value !== null && 'logs' in value && Array.isArray(value.logs) ? value.logs : undefined
}

function withLogs(value: unknown, logs: readonly unknown[]): unknown {
  if (Array.isArray(value)) return logs
  return isLog(value) ? logs[0] : { ...(value as Shape), logs }
}

/** `peers.md` 2.7 and the README: BLOCKHASH(parent) is 0 while the parent is itself pending. A bloom has the topic too. */
const blockHashOfPending: Cause = {
  name: 'BLOCKHASH of a pending parent is 0',
  right(theirs, { ours }) {
    const [wrong, right] = [logsOf(theirs), logsOf(ours)]
    if (wrong === undefined || right === undefined) return theirs
    let isWrong = false
    const logs = wrong.map((log, index) => {
      const other = right[index]
      if (!isLog(log) || !isLog(other) || log.topics[0] !== environmentEvent || log.topics[2] !== zeroHash) return log
      isWrong ||= other.topics[2] !== zeroHash
      return { ...log, topics: log.topics.map((topic, at) => (at === 2 ? other.topics[2] : topic)) }
    })
    const put = withLogs(theirs, logs)
    return isWrong && 'logsBloom' in (put as Shape) ? { ...(put as Shape), logsBloom: (ours as Shape)['logsBloom'] } : put
  },
}

/** `flashblocks.md` 4.3, "Continue": sealed blocks stay in its snapshot, and their logs as pending ones below the block that is asked from. */
const sealedStay: Cause = {
  name: 'logs of blocks before fromBlock',
  right: (theirs, { latest }) =>
    Array.isArray(theirs)
      ? theirs.filter((log) => !(isLog(log) && log.blockHash === zeroHash && Number(log.blockNumber) < latest))
      : theirs,
}

/** `rpc.md` 5.1: the cost of L1 is kept from one transaction to the next. The fee vaults of the sealed blocks have ours. */
const feeOfAnother: Cause = {
  name: 'l1Fee of another transaction of the block',
  right(theirs, { ours, l1Fees }) {
    if (typeof theirs !== 'object' || theirs === null || !('l1Fee' in theirs) || !l1Fees.includes(String(theirs.l1Fee))) return theirs
    return { ...theirs, l1Fee: (ours as Shape | null)?.['l1Fee'] }
  },
}

export const causes: readonly Cause[] = [sealedStay, blockHashOfPending, feeOfAnother]
