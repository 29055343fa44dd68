import type { MessagePort } from 'node:worker_threads'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { BranchRequest, CommitRequest } from '#blockchain/commit/committer'
import type { PruneStep } from '#blockchain/pruning/pruner'
import type { MoverStep } from '#blockchain/segments/segmentMover'
import type { TransferredError } from '#lib/errorTransfer'
import type { LogLine } from '#lib/logTransfer'
import type { HeartbeatSettings } from '#lib/supervisor'
import type { Retention } from '#types/chainDistance'
import type { MovingSettings } from '../moving.ts'
import { type PackedBlock, unpackBlock } from './packedBlocks.ts'

/** A request as it crosses to the commit thread. */
export type PackedCommit =
  | (Omit<BranchRequest, 'branch'> & { readonly ancestor: BranchRequest['branch']['ancestor']; readonly blocks: readonly PackedBlock[] })
  | Exclude<CommitRequest, BranchRequest>

export type ToCommitThread =
  | { readonly kind: 'commit'; readonly request: PackedCommit }
  | { readonly kind: 'prune'; readonly retention: Retention }
  | { readonly kind: 'close' }
/** Outcome of a request, a step of pruning or of moving, or a line of the log. */
export type FromCommitThread =
  | { readonly ms: number }
  | { readonly error: TransferredError }
  | { readonly pruned: PruneStep | { readonly error: TransferredError } }
  | { readonly moved: MoverStep }
  | { readonly log: LogLine }

/** `progress`: number of answers, then of rows written, both as of `CommitProgress`. */
export type CommitThreadSettings = {
  readonly dir: string
  readonly port: MessagePort
  readonly progress: SharedArrayBuffer
  /** present: the thread moves finalized rows to segment files between requests */
  readonly moving?: MovingSettings
  /** bound of the anonymous memory of the process; absent: none */
  readonly memoryMaxBytes?: number
  /** present: the parent process watches the thread */
  readonly heartbeat?: HeartbeatSettings
}

/** @param pack of a block */
export function packCommit(request: CommitRequest, pack: (block: ExecutedBlock) => PackedBlock): PackedCommit {
  if ('fetched' in request) return request
  const { branch, ...rest } = request
  return { ...rest, ancestor: branch.ancestor, blocks: branch.blocks.map(pack) }
}

export function unpackCommit(request: PackedCommit): CommitRequest {
  if ('fetched' in request) return request
  const { ancestor, blocks, ...rest } = request
  return { ...rest, branch: { ancestor, blocks: blocks.map(unpackBlock) } }
}

/** Counters of the commit thread in shared memory, for a thread that waits for it without an event loop. */
export class CommitProgress {
  readonly memory: SharedArrayBuffer
  readonly #counts: Int32Array

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(8)) {
    this.memory = memory
    this.#counts = new Int32Array(memory)
  }

  get answers(): number {
    return Atomics.load(this.#counts, 0)
  }

  get rows(): number {
    return Atomics.load(this.#counts, 1)
  }

  /** Called before each row. */
  row(): void {
    Atomics.add(this.#counts, 1, 1)
  }

  /** Called after an answer was sent. */
  answered(): void {
    Atomics.add(this.#counts, 0, 1)
    Atomics.notify(this.#counts, 0)
  }

  /** Waits until there are more answers than `seen`, for a limited time. */
  wait(seen: number, maxMs: number): void {
    Atomics.wait(this.#counts, 0, seen, maxMs)
  }
}
