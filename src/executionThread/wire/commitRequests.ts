import type { MessagePort } from 'node:worker_threads'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { CommitRequest } from '#blockchain/commit/committer'
import type { PruneStep } from '#blockchain/pruning/pruner'
import type { MoverStep } from '#blockchain/segments/segmentMover'
import type { TransferredError } from '#lib/errorTransfer'
import type { LogLine } from '#lib/logTransfer'
import type { HeartbeatSettings } from '#lib/supervisor'
import type { Retention } from '#types/chainDistance'
import type { MovingSettings } from '../moving.ts'
import { type PackedBlock, unpackBlock } from './packedBlocks.ts'

/** A request as it crosses to the commit thread. */
export type PackedCommit = Omit<CommitRequest, 'branch'> & {
  readonly ancestor: CommitRequest['branch']['ancestor']
  readonly blocks: readonly PackedBlock[]
}

export type ToCommitThread =
  /** `isSecond`: the request before it was in progress when it began */
  | { readonly kind: 'commit'; readonly request: PackedCommit; readonly isSecond: boolean }
  | { readonly kind: 'prune'; readonly retention: Retention }
  | { readonly kind: 'close' }
/** Outcome of a request, a step of pruning or of moving, or a line of the log. */
export type FromCommitThread =
  | { readonly ms: number }
  | { readonly error: TransferredError }
  | { readonly pruned: PruneStep | { readonly error: TransferredError } }
  | { readonly moved: MoverStep }
  | { readonly log: LogLine }

/** Settings of a thread that is waited for. `progress`: memory of its `ThreadProgress`. */
export type WaitedThreadSettings = { readonly port: MessagePort; readonly progress: SharedArrayBuffer }

/** Outcome of a write: the time of its transaction, or why nothing was stored. */
export type FromWriteThread = { readonly ms: number } | { readonly error: TransferredError }
/** Rows of a write, packed. */
export type ToWriteThread = Uint8Array<ArrayBuffer> | 'close'

export type WriteThreadSettings = {
  readonly dir: string
  /** bound of the anonymous memory of the process */
  readonly memoryMaxBytes: number
  /** absent: the parent process does not watch the thread */
  readonly heartbeat: HeartbeatSettings | undefined
}

export type CommitThreadSettings = {
  readonly dir: string
  /** present: the thread moves finalized rows to segment files between requests */
  readonly moving?: MovingSettings
  /** bound of the anonymous memory of the process; absent: none */
  readonly memoryMaxBytes?: number
  /** present: the parent process watches the thread and the write thread */
  readonly heartbeats?: CommitHeartbeats
}

/** Settings of the watched threads: the one that computes rows, and the one that writes them. */
export type CommitHeartbeats = { readonly rows: HeartbeatSettings; readonly writes: HeartbeatSettings }

/** @param pack of a block */
export const packCommit = ({ branch, ...rest }: CommitRequest, pack: (block: ExecutedBlock) => PackedBlock): PackedCommit => ({
  ...rest,
  ancestor: branch.ancestor,
  blocks: branch.blocks.map(pack),
})

export const unpackCommit = ({ ancestor, blocks, ...rest }: PackedCommit): CommitRequest => ({
  ...rest,
  branch: { ancestor, blocks: blocks.map(unpackBlock) },
})
