import type { NodeSample } from '#monitor/sample'

/** Charts of the page: a column of the history each, after the time. null: not known. */
export const historyColumns = [
  'timeMs',
  'blocksPerSec',
  'gasPerSec',
  'transactionsPerSec',
  'callsPerSec',
  'slowestP99Sec',
  'unsafeAgeSec',
  'safeAgeSec',
  'l1BehindBlocks',
  'l1CallsPerSec',
  'memoryBytes',
  'diskFreeBytes',
  'peers',
  'poolPending',
] as const
export type HistoryColumn = (typeof historyColumns)[number]
export type HistoryRow = readonly (number | null)[]

/** A block, or a flashblock of a block that is not sealed. `seq` grows by one. */
export type StreamEntry = {
  readonly seq: number
  readonly kind: 'block' | 'flashblock'
  readonly number: number
  /** of a sealed block */
  readonly hash: string | null
  /** place of the flashblock in its block */
  readonly index: number | null
  /** when this node published it, by the wall clock */
  readonly timeMs: number
  /** of the block so far */
  readonly transactions: number
  readonly gasUsed: number
}

/** Times of a transaction of a devnet in milliseconds after it was sent; null: not there yet. */
export type TransactionWay = {
  readonly hash: string
  readonly sentMs: number
  readonly preconfirmed: number | null
  readonly sealed: number | null
  readonly safe: number | null
}

/** Facts of a devnet for its page. */
export type DevnetState = {
  readonly isSequencing: boolean
  readonly isPosting: boolean
  readonly isL1Reachable: boolean
  readonly agreement: string
  readonly problems: readonly string[]
  /** the newest transactions, oldest first */
  readonly ways: readonly TransactionWay[]
}

/** Answer of `/page/state`. */
export type PageState = {
  readonly version: string
  /** start of the node's page, by the wall clock: rows and entries are numbered from there */
  readonly startedMs: number
  /** whether blocks and transactions can be looked up at this port */
  readonly hasBlocks: boolean
  readonly sample: NodeSample
  readonly history: {
    readonly everySec: number
    /** number of the first row since the start */
    readonly from: number
    readonly rows: readonly HistoryRow[]
  }
  readonly stream: readonly StreamEntry[]
  /** absent: the node is no part of a devnet */
  readonly devnet?: DevnetState
}
