import type { Eip1559Params } from '#chainspec/eip1559Config'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { LogLevel } from '#lib/log'
import type { Block } from '#types/block'
import type { BlockId, L1Ref, L2Ref } from '#types/blockRef'
import type { Header } from '#types/header'
import type { Address, Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import type { Receipt } from '#types/receipt'
import type { LogFinder } from './logPorts.ts'

/** The canonical head and its two labels; each is the genesis block before it moves. */
export type ChainHeads = {
  readonly latest: BlockId
  readonly safe: BlockId
  readonly finalized: BlockId
  /**
   * The newest block that is not sealed; absent when none is followed or what is known of it is stale. Views answer by this id (block, receipts,
   * header, state, and of the unsealed blocks below it too); its hash is no block hash, and nobody but a view knows it.
   */
  readonly pending?: BlockId
  /** With `pending`: all blocks that are not sealed, each on the one before it; the first is on `latest`, the last is `pending`. */
  readonly unsealed?: readonly BlockId[]
}

/** A block with what reading it alone cannot tell: its hash and who sent each transaction (of a deposit: its `from`). */
export type ChainBlock = {
  readonly hash: Hash
  readonly block: Block
  readonly senders: readonly Address[]
  /** then the hash is its id in views */
  readonly isUnsealed?: true
}

/**
 * What a transaction's bytes cost on L1, by the rules of its block: execution computes it, deposits included (their `l1Fee` is 0).
 * A field is absent where the rules of the block, or the L1 attributes it carries, do not know it.
 * @see specs protocol/exec-engine.md, "L1-Cost fees"; protocol/isthmus/exec-engine.md, "Operator Fee"; protocol/jovian/exec-engine.md
 */
export type L1FeeFacts = {
  /** L1 base fee of the attributes, wei per gas */
  readonly l1GasPrice: bigint
  /** Bedrock: calldata gas plus overhead; Ecotone: calldata gas; Fjord: estimated compressed size × 16 */
  readonly l1GasUsed: bigint
  /** wei */
  readonly l1Fee: bigint
  /** before Ecotone: the scalar in millionths */
  readonly l1FeeScalar?: bigint
  /** from Ecotone's activation block on, in millionths; in that block, whose attributes are Bedrock's still, their scalar */
  readonly l1BaseFeeScalar?: bigint
  /** wei per blob gas; with attributes of Ecotone or later */
  readonly l1BlobBaseFee?: bigint
  /** millionths; with attributes of Ecotone or later */
  readonly l1BlobBaseFeeScalar?: bigint
  /** with attributes of Isthmus or later, both or neither: neither when both are zero */
  readonly operatorFeeScalar?: bigint
  /** wei */
  readonly operatorFeeConstant?: bigint
  /** gas per byte; with attributes of Jovian or later */
  readonly daFootprintGasScalar?: bigint
  /** Jovian, by the block's time: estimated compressed size × that scalar (0 while the attributes are older) */
  readonly blobGasUsed?: bigint
}

/** A receipt with its place in the block. */
export type ChainReceipt = {
  readonly receipt: Receipt
  /** gas of this transaction alone */
  readonly gasUsed: bigint
  /** index in the block of its first log */
  readonly firstLogIndex: number
  /** absent on a chain without L1 attributes; may be computed when it is read */
  readonly fees?: L1FeeFacts | undefined
  /** bytes it takes in memory, roughly */
  readonly sizeBytes: number
  /** of a blob transaction, which OP chains do not have: blob gas, and wei per blob gas */
  readonly blob?: { readonly gasUsed: bigint; readonly gasPrice: bigint }
}

export type TransactionLocation = { readonly block: BlockId; readonly index: number }

export type AccountFacts = {
  /** u64 */
  readonly nonce: bigint
  /** wei */
  readonly balance: bigint
  readonly codeHash: Hash
  readonly storageRoot: Hash
}

/** Trie nodes from the root down to the key or to where it would be (EIP-1186). */
export type AccountProof = {
  /** undefined: the account does not exist, and the proof shows it */
  readonly account: AccountFacts | undefined
  readonly proof: readonly Uint8Array[]
  /** in the order asked; no nodes when the account has no storage */
  readonly slots: readonly { readonly value: bigint; readonly proof: readonly Uint8Array[] }[]
}

/** State after one block. Synchronous; a Fault is thrown when the store cannot answer. */
export interface WorldReads {
  account(address: Address): AccountFacts | undefined
  /** no bytes when there is no code */
  code(address: Address): Uint8Array
  /** value of the slot with this 32-byte number; zero when never set */
  slot(address: Address, slot: Hash): bigint
  prove(address: Address, slots: readonly Hash[]): AccountProof
}

/** The chain at one instant: everything it answers belongs together. Dispose of it soon, and before any `await`. */
export interface ChainView extends LogFinder, Disposable {
  readonly heads: ChainHeads
  canonicalHash(number: number): Hash | undefined
  /** By hash, any known block, canonical or not. */
  header(hash: Hash): Header | undefined
  /** Block and receipts may be kept longer than the view. */
  block(hash: Hash): ChainBlock | undefined
  /** One per transaction of the block, in order; each is decoded when it is read. */
  receipts(hash: Hash): readonly ChainReceipt[] | undefined
  /** Canonical blocks only. */
  transaction(hash: Hash): TransactionLocation | undefined
  /** undefined: not retained any more */
  state(block: BlockId): WorldReads | undefined
  /** Number of the oldest block whose state is retained. */
  readonly oldestState: number
}

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
