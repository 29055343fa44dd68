import type { Eip1559Params } from '#chainspec/eip1559Config'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { LogLevel } from '#lib/log'
import type { BlockId, L1Ref, L2Ref } from '#types/blockRef'
import type { ChainBlock, ChainView } from '#types/chainView'
import type { Header } from '#types/header'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'

/** The fee rules that are execution's to know. */
export interface FeeMarket {
  /** of the chain itself, where its system config says nothing */
  readonly params: Eip1559Params
  /**
   * Base fee of a child one block time later.
   * @returns wei per gas; undefined: the block has none, or its extra data tells none
   */
  nextBaseFee(parent: Header): bigint | undefined
}

/** Whether the node is behind; block numbers. */
export type SyncProgress = { readonly starting: number; readonly current: number; readonly highest: number }

export interface ChainReader {
  /** The chain as it is now. */
  view(): ChainView
  /** undefined: not syncing */
  sync(): SyncProgress | undefined
}

/** A block as subscribers see it. */
export type HeadBlock = Pick<ChainBlock, 'hash' | 'block'>

/** Tells of each published head. */
export interface HeadFeed {
  /**
   * @param listener told, after they are readable, of the blocks that became canonical, oldest first: each is the child of the one told before,
   * or after a reorg of a block told earlier. A chain that became shorter tells nothing. It may not throw.
   */
  subscribe(listener: (blocks: readonly HeadBlock[]) => void): Disposable
}

/** The consensus half's heads; what is not known yet is undefined. */
export type RollupStatus = {
  /** the L1 block that derivation has read to */
  readonly currentL1: L1Ref | undefined
  readonly headL1: L1Ref | undefined
  readonly safeL1: L1Ref | undefined
  readonly finalizedL1: L1Ref | undefined
  readonly unsafeL2: L2Ref | undefined
  readonly safeL2: L2Ref | undefined
  readonly finalizedL2: L2Ref | undefined
}

/** What an output root is made of, for one L2 block. */
export type OutputFacts = { readonly ref: L2Ref; readonly stateRoot: Hash; readonly messagePasserStorageRoot: Hash }

/** Why the node is not ready, in words for an operator; empty: it is. */
export type Readiness = { readonly problems: readonly string[] }

/** The consensus half as its RPC sees it. */
export interface RollupNode {
  readonly config: RollupConfig
  status(): RollupStatus
  readiness(): Readiness
  /** Of the canonical block at a number or label; undefined when there is none. Its state may come from elsewhere: a promise. */
  output(at: number | 'latest' | 'safe' | 'finalized'): Promise<OutputFacts | undefined>
  /** The safe head after reading the L1 block, or the last one before it for which a safe head was recorded; undefined when none was. */
  safeHeadAtL1(number: number): { readonly l1: BlockId; readonly safe: BlockId } | undefined
}

/** What became of an operator's wish. */
export type AdminOutcome<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'refused'; readonly reason: string }

/** What an operator may do to a running node. */
export interface AdminNode {
  /** Executes a block and makes it the unsafe head; `refused`: why it is not. */
  postUnsafePayload(payload: Payload): Promise<{ readonly kind: 'inserted' } | { readonly kind: 'refused'; readonly reason: string }>
  /** undefined: no block is made here */
  readonly sequencer:
    | {
        isActive(): boolean
        /** @param unsafe what the operator takes for the unsafe head */
        start(unsafe: Hash): Promise<AdminOutcome<void>>
        /** the hash of the unsafe head */
        stop(): Promise<AdminOutcome<Hash>>
      }
    | undefined
  /** undefined: the log has one level for ever */
  readonly setLogLevel: ((level: LogLevel) => void) | undefined
}
