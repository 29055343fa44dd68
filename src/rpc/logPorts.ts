import type { Address, Hash } from '#types/ids'
import type { Log } from '#types/log'

/** What logs are looked for; an empty list of alternatives matches everything. */
export type WantedLogs = { readonly addresses: readonly Address[]; readonly topics: readonly (readonly Hash[])[] }

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

/** Logs of a block, of some of its transactions. */
export type BlockLogs = {
  readonly block: { readonly hash: Hash; readonly number: number; readonly timestamp: number }
  readonly transactions: readonly {
    readonly index: number
    readonly hash: Hash
    /** index in the block of its first log */
    readonly firstLogIndex: number
    readonly logs: readonly Log[]
  }[]
}

export interface LogFinder {
  /**
   * Looks for logs in canonical blocks, by an index as far as there is one; asked again from `next` on. The work of one question is bounded.
   * @param wanted at least one list of it is not empty
   */
  findLogs(wanted: WantedLogs, from: number, to: number): LogSearch
  /**
   * The logs of some transactions of a canonical block, without reading the others; undefined when it is not known.
   * @param indexes RangeError beyond the end of the block
   */
  logsAt(number: number, indexes: readonly number[]): BlockLogs | undefined
}
