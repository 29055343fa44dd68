import type { Hash } from '#types/ids'
import type { Log } from '#types/log'
import type { LogMatcher, WantedLogs } from '#types/logMatcher'

/** What an index of logs says. */
export type LogSearch =
  /** transactions whose logs may match, ascending: all that may in the blocks before `next` */
  | {
      readonly kind: 'found'
      readonly places: readonly { readonly number: number; readonly transactions: readonly number[] }[]
      readonly next: number
    }
  /** the blocks before `next` have to be looked through one by one */
  | { readonly kind: 'unindexed'; readonly next: number }

/** A log with its place in the chain. */
export type FoundLog = {
  readonly log: Log
  readonly block: { readonly hash: Hash; readonly number: number; readonly timestamp: number }
  readonly transactionHash: Hash
  readonly transactionIndex: number
  /** in the block */
  readonly logIndex: number
}

export interface LogFinder {
  /**
   * Looks for logs in canonical blocks, by an index as far as there is one; asked again from `next` on. The work of one question is bounded.
   * @param wanted at least one list of it is not empty
   */
  findLogs(wanted: WantedLogs, from: number, to: number): LogSearch
  /**
   * The logs that match of some transactions of a canonical block, in order, without reading the others; undefined when the block is not known.
   * @param indexes RangeError beyond the end of the block
   */
  logsAt(number: number, indexes: readonly number[], matcher: LogMatcher): readonly FoundLog[] | undefined
}
