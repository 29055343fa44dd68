import type { ChainBlock } from './chainView.ts'
import type { ExecutedTransaction } from './executedTransaction.ts'
import type { Header } from './header.ts'
import type { Hash } from './ids.ts'
import type { StateDiff } from './stateDiff.ts'

/** Block and build that a flashblock belongs to, and its index there. */
export type FlashblockLocation = {
  readonly number: number
  /** 8 bytes as `0x` hex */
  readonly payloadId: string
  /** from 0 */
  readonly index: number
}

/** Returns whether two locations name the same flashblock, or both are absent. */
export function isSameFlashblock(a: FlashblockLocation | undefined, b: FlashblockLocation | undefined): boolean {
  return a?.payloadId === b?.payloadId && a?.index === b?.index
}

/**
 * A pending block after one of its flashblocks. Immutable: the next flashblock makes a new one. Readers in every thread get this type. Its state root is
 * the flashblock's (builders leave it zero). Gas used, bloom and DA footprint come from this node's execution.
 */
export type PendingBlock = FlashblockLocation & {
  /** placeholder for the block hash; known to views only */
  readonly id: Hash
  readonly header: Header
  /** EIP-2718 bytes */
  readonly transactions: readonly Uint8Array[]
  /** in the order of `transactions` */
  readonly executed: readonly ExecutedTransaction[]
  /** changes to the state of the parent */
  readonly diff: StateDiff
}

/** Pending blocks: the first is a child of the unsafe head, each other block is a child of the previous one. */
export type PendingBlocks = {
  /** oldest first, at least one */
  readonly blocks: readonly PendingBlock[]
  /** end of validity, as wall clock in milliseconds; afterwards the blocks are not served */
  readonly freshUntilMs: number
}

/** Returns a pending block in the form of all blocks of a view, with its id in place of its hash. */
export function chainBlockOf({ id, header, transactions, executed }: PendingBlock): ChainBlock {
  return { hash: id, block: { header, transactions }, senders: executed.map(({ sender }) => sender), isUnsealed: true }
}
