// Known defects of the client whose results were recorded with the flashblock stream. Each corrects the client's result and has a name.
import { zeroHash } from '#types/ids'

type Shape = { readonly [key: string]: unknown }
type LogShape = Shape & { readonly blockHash: string; readonly blockNumber: string; readonly topics: readonly string[] }

/** Topic of the event with which a contract of the recording logs its environment: (number, hash of the parent). */
const environmentEvent = '0xefa72a30c038f3977671735a8e224ac308ccc94eb80508699d75b208aebdf6ba'

export type Known = {
  /** This node's result at the same time. */
  readonly ours: unknown
  /** Number of this node's newest sealed block at that time. */
  readonly latest: number
  /** Values of `l1Fee` in this node's pending block at that time. */
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

/** `peers.md` 2.7 and the README: BLOCKHASH(parent) is 0 while the parent is itself pending. The bloom contains the wrong topic too. */
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

/** `flashblocks.md` 4.3, "Continue": sealed blocks stay in the client's snapshot. It returns their logs as pending ones, below `fromBlock`. */
const sealedStay: Cause = {
  name: 'logs of blocks before fromBlock',
  right: (theirs, { latest }) =>
    Array.isArray(theirs)
      ? theirs.filter((log) => !(isLog(log) && log.blockHash === zeroHash && Number(log.blockNumber) < latest))
      : theirs,
}

/** `rpc.md` 5.1: the client keeps the L1 cost from one transaction to the next. The fee vaults of the sealed blocks confirm this node's value. */
const feeOfAnother: Cause = {
  name: 'l1Fee of another transaction of the block',
  right(theirs, { ours, l1Fees }) {
    if (typeof theirs !== 'object' || theirs === null || !('l1Fee' in theirs) || !l1Fees.includes(String(theirs.l1Fee))) return theirs
    return { ...theirs, l1Fee: (ours as Shape | null)?.['l1Fee'] }
  },
}

export const causes: readonly Cause[] = [sealedStay, blockHashOfPending, feeOfAnother]
