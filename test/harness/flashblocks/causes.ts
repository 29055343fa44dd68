// Known defects of the client whose results were recorded with the flashblock stream. Each corrects the client's result and has a name.
import { zeroHash } from '#types/ids'

type Shape = { readonly [key: string]: unknown }
type LogShape = Shape & { readonly blockHash: string; readonly blockNumber: string; readonly topics: readonly string[] }

/** Topic of the event with which a contract of the recording logs its environment: (number, hash of the parent). */
const environmentEvent = '0xefa72a30c038f3977671735a8e224ac308ccc94eb80508699d75b208aebdf6ba'

/** Values of the sealed chain, instead of wrong recorded ones. */
export type SealedChain = {
  /** Returns the hash of a block. */
  readonly blockHash: (number: number) => string
  /** Returns the bloom of a transaction's receipt; undefined when its block was not recorded. */
  readonly receiptBloom: (transactionHash: string) => string | undefined
  /** Returns the L1 fees of a block by transaction hash. */
  readonly l1Fees: (number: number) => ReadonlyMap<string, string>
}

export type Known = {
  readonly sealed: SealedChain
  /** Number of the newest sealed block at that time. */
  readonly latest: number
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
  right(theirs, { sealed }) {
    const wrong = logsOf(theirs)
    if (wrong === undefined) return theirs
    let isWrong = false
    const logs = wrong.map((log) => {
      if (!isLog(log) || log.topics[0] !== environmentEvent || log.topics[2] !== zeroHash) return log
      if (Number(log.topics[1]) !== Number(log.blockNumber)) return log // another event of the contract
      isWrong = true
      const parentHash = sealed.blockHash(Number(log.topics[1]) - 1)
      return { ...log, topics: log.topics.map((topic, at) => (at === 2 ? parentHash : topic)) }
    })
    const put = withLogs(theirs, logs) as Shape
    const bloom = isWrong && 'logsBloom' in put ? sealed.receiptBloom(String(put['transactionHash'])) : undefined
    return bloom === undefined ? put : { ...put, logsBloom: bloom }
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

/** `rpc.md` 5.1: the client keeps the L1 cost from one transaction to the next. */
const feeOfAnother: Cause = {
  name: 'l1Fee of another transaction of the block',
  right(theirs, { sealed }) {
    if (typeof theirs !== 'object' || theirs === null || !('l1Fee' in theirs && 'blockNumber' in theirs && 'transactionHash' in theirs))
      return theirs
    const fees = sealed.l1Fees(Number(theirs.blockNumber))
    const isOfBlock = [...fees.values()].includes(String(theirs.l1Fee))
    return isOfBlock ? { ...theirs, l1Fee: fees.get(String(theirs.transactionHash)) } : theirs
  },
}

export const causes: readonly Cause[] = [sealedStay, blockHashOfPending, feeOfAnother]
