import type { Block } from './block.ts'
import type { BlockId } from './blockRef.ts'
import type { Header } from './header.ts'
import type { Address, Hash } from './ids.ts'
import type { L1FeeFacts } from './l1FeeFacts.ts'
import type { Log } from './log.ts'
import type { LogMatcher, WantedLogs } from './logMatcher.ts'
import type { Receipt } from './receipt.ts'
import type { TrustRecord } from './trust.ts'
import type { WorldReads } from './worldReads.ts'

/** The canonical head and its two labels (each is the genesis block at first), and the pending blocks. */
export type ChainHeads = {
  readonly latest: BlockId
  readonly safe: BlockId
  readonly finalized: BlockId
  /**
   * The newest pending block; absent when there is none or pending state is stale. Its `hash` is an id that only views know; views answer by it
   * (block, receipts, header, state), and by the ids of the pending blocks below it.
   */
  readonly pending?: BlockId
  /** All pending blocks, oldest first, present with `pending`: the first is on `latest`, the last is `pending`. */
  readonly unsealed?: readonly BlockId[]
}

/** A block with its hash and the sender of each transaction (of a deposit: its `from`). */
export type ChainBlock = {
  readonly hash: Hash
  readonly block: Block
  readonly senders: readonly Address[]
  /** Set for a pending block; `hash` is then its id. */
  readonly isUnsealed?: true
}

/** A receipt with its position in the block. A view may decode the receipt and compute the fees at each read of the field. */
export type ChainReceipt = {
  readonly receipt: Receipt
  /** Gas of this transaction alone. */
  readonly gasUsed: bigint
  /** Index in the block of its first log. */
  readonly firstLogIndex: number
  /** Absent in a block without L1 attributes. */
  readonly fees?: L1FeeFacts | undefined
  /** Approximate size in memory. */
  readonly sizeBytes: number
  /** Blob gas, and wei per blob gas. Only for blob transactions, which OP chains do not have. */
  readonly blob?: { readonly gasUsed: bigint; readonly gasPrice: bigint }
}

export type TransactionLocation = { readonly block: BlockId; readonly index: number }

/** Result of one search in the log index. */
export type LogSearch =
  /** Transactions whose logs may match, ascending; complete for the blocks before `next`. */
  | {
      readonly kind: 'found'
      readonly places: readonly { readonly number: number; readonly transactions: readonly number[] }[]
      readonly next: number
    }
  /** The index does not cover the blocks before `next`; the caller reads them one by one. */
  | { readonly kind: 'unindexed'; readonly next: number }

/** A log with its position in the chain. */
export type FoundLog = {
  readonly log: Log
  /** `timestamp` in seconds; `timeMs`: time of a Denim block in milliseconds */
  readonly block: { readonly hash: Hash; readonly number: number; readonly timestamp: number; readonly timeMs?: number | undefined }
  readonly transactionHash: Hash
  readonly transactionIndex: number
  /** In the block. */
  readonly logIndex: number
}

/** Recorded proofs: the first and the last block whose state they have; undefined: none is recorded yet. */
export type ProofsStatus = { readonly window: { readonly earliest: BlockId; readonly latest: BlockId } | undefined }

/** A consistent view of the chain at one instant. Dispose of it soon, and before any `await`. */
export interface ChainView extends Disposable {
  readonly heads: ChainHeads
  canonicalHash(number: number): Hash | undefined
  /** Header of any known block, canonical or not. */
  header(hash: Hash): Header | undefined
  /** Blocks and receipts may be kept longer than the view. Undefined: the block is unknown, or its transactions are not retained. */
  block(hash: Hash): ChainBlock | undefined
  /** One per transaction of the block, in order. Undefined: the block is unknown, or its receipts are not retained. */
  receipts(hash: Hash): readonly ChainReceipt[] | undefined
  /** Searches canonical blocks, then pending blocks. */
  transaction(hash: Hash): TransactionLocation | undefined
  /** Returns undefined when the block is unknown or its state is not retained. */
  state(block: BlockId): WorldReads | undefined
  /** Block on which the state of this node begins, and what vouches for it. */
  readonly base: TrustRecord
  /** Number of the oldest block whose state is retained. */
  readonly oldestState: number
  /** Number of the oldest block whose accounts and slots can be proved: its trie nodes are retained. Below it, `prove` throws HISTORY_PRUNED. */
  readonly oldestProof: number
  /** Undefined: this node records no proofs. */
  readonly proofs: ProofsStatus | undefined
  /** Number of the oldest block from which on transactions and receipts of all blocks are retained. Headers of all blocks are. */
  readonly oldestBlock: number
  /** Number of the oldest block from which on logs can be searched. */
  readonly oldestLogs: number
  /**
   * Searches the log index for canonical blocks. The work of one search is bounded: continue from `next`.
   * @param wanted at least one of its lists is not empty
   */
  findLogs(wanted: WantedLogs, from: number, to: number): LogSearch
  /**
   * Returns the matching logs of some transactions of a canonical block, in order, without reading the others; undefined when the block is not
   * known.
   * @param indexes RangeError beyond the end of the block
   */
  logsAt(number: number, indexes: readonly number[], matcher: LogMatcher): readonly FoundLog[] | undefined
}
