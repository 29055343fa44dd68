import type { Eip1559Params } from '#chainspec/eip1559Config'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { RootLog } from '#lib/log'
import type { BlockId, L2Ref } from '#types/blockRef'
import type { ChainBlock, ChainView } from '#types/chainView'
import type { Header } from '#types/header'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import type { RollupStatus } from '#types/rollupStatus'

/** Fee rules of the execution half. */
export interface FeeMarket {
  /** parameters of the chain itself, used when its system config sets none */
  readonly params: Eip1559Params
  /**
   * Base fee of a child one block time later.
   * @returns wei per gas; undefined: the block has no base fee, or its extra data is invalid
   */
  nextBaseFee(parent: Header): bigint | undefined
}

/** Progress of a node that is behind, in block numbers. */
export type SyncProgress = { readonly starting: number; readonly current: number; readonly highest: number }

export interface ChainReader {
  view(): ChainView
  /** undefined: not syncing */
  sync(): SyncProgress | undefined
}

/** A block as subscribers see it. */
export type HeadBlock = Pick<ChainBlock, 'hash' | 'block'>

/** Notifies of each published head. */
export interface HeadFeed {
  /**
   * @param listener called, after views can read them, with the new canonical blocks, oldest first. Each block is the child of the previous
   * one or, after a reorg, of an earlier one. Not called when the chain only becomes shorter. Must not throw.
   */
  subscribe(listener: (blocks: readonly HeadBlock[]) => void): Disposable
}

/** Fields of the output root of one L2 block. */
export type OutputFacts = { readonly ref: L2Ref; readonly stateRoot: Hash; readonly messagePasserStorageRoot: Hash }

/** Reasons why the node is not ready, as text for the operator; empty when it is ready. */
export type Readiness = {
  readonly problems: readonly string[]
  /** progress of a state that is not whole, for the operator */
  readonly state?: string | undefined
}

/** The consensus half, as its RPC methods use it. */
export interface RollupNode {
  readonly config: RollupConfig
  status(): RollupStatus
  readiness(): Readiness
  /** Output of the canonical block at a number or label; undefined when there is no such block. Its state may be on another node: a promise. */
  output(at: number | 'latest' | 'safe' | 'finalized'): Promise<OutputFacts | undefined>
  /** The safe head after the L1 block, or after the last block before it with a record; undefined when there is none. */
  safeHeadAtL1(number: number): { readonly l1: BlockId; readonly safe: BlockId } | undefined
}

/** Outcome of an operator's request. */
export type AdminOutcome<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'refused'; readonly reason: string }

/** An operator's control of a running node. */
export interface AdminNode {
  /** Executes a block and makes it the unsafe head. */
  postUnsafePayload(payload: Payload): Promise<{ readonly kind: 'inserted' } | { readonly kind: 'refused'; readonly reason: string }>
  /** undefined: this node does not sequence */
  readonly sequencer:
    | {
        isActive(): boolean
        /** @param unsafe the unsafe head that the operator expects */
        start(unsafe: Hash): Promise<AdminOutcome<void>>
        /** Returns the hash of the unsafe head. */
        stop(): Promise<AdminOutcome<Hash>>
      }
    | undefined
}

/** Kinds of profiles: times of functions, allocations by function, every object of the heap. */
export const profileKinds = ['cpu', 'heap', 'snapshot'] as const
export type ProfileKind = (typeof profileKinds)[number]

/** A profile that is taken, or the last one. */
export type ProfileState = {
  readonly state: 'running' | 'done' | 'failed'
  readonly kind: ProfileKind
  readonly thread: string
  readonly file: string
  /** of the written file */
  readonly bytes?: number
  readonly reason?: string
}

/** Control of the log and of profiles, which both halves have. */
export interface Operator {
  /** undefined: the levels are fixed */
  readonly log: Pick<RootLog, 'levels' | 'setLevel' | 'setModuleLevel'> | undefined
  readonly profiles: {
    /** names of the threads that can be profiled */
    threads(): readonly string[]
    /** Begins a profile, which is written to a file of the node. */
    start(kind: ProfileKind, thread: string, seconds: number): Promise<AdminOutcome<ProfileState>>
    /** undefined: there was none */
    state(): ProfileState | undefined
  }
}
