import type { Block } from '#types/block'
import type { BlockId } from '#types/blockRef'
import type { Address, Hash } from '#types/ids'
import type { PayloadAttributes } from '#types/payload'
import type { CallMessage, CallOutcome, CallOverrides, CallPlace, RunTimer } from './callPorts.ts'
import type { Json } from './json.ts'

/** Trace options: the last parameter of `debug_trace*`. */
export type TraceRequest = {
  /** absent: struct logs, with their options on this level */
  readonly tracer?: string
  readonly tracerConfig?: unknown
  readonly [option: string]: unknown
}

/** Outcome of a traced transaction or call. */
export type TraceOutcome =
  | { readonly kind: 'traced'; readonly result: Json }
  /** unknown tracer, or unsupported options */
  | { readonly kind: 'unsupported' | 'bad-request'; readonly reason: string }
  /** the result exceeds its bound, or the message is invalid in its block or for its sender */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'timeout'; readonly timeoutMs: number }
  /** a call that could not start */
  | { readonly kind: 'not-run'; readonly outcome: CallOutcome }

/** Slots of an account by hashed key, ascending, and the key after them. */
export type StorageRange = { readonly slots: readonly { readonly key: Hash; readonly value: bigint }[]; readonly next: Hash | undefined }

/** The transactions of one block, for re-execution. Synchronous; throws a Fault when the store cannot be read. */
export interface BlockTracing {
  /** hashes of the transactions, in order */
  readonly hashes: readonly Hash[]
  /**
   * Works for some milliseconds towards the state before a transaction.
   * @returns whether the state is ready; 'pruned' when the parent's state is not retained
   */
  prepare(index: number): boolean | 'pruned'
  /** Runs a transaction with a tracer, with or without `prepare`. @returns 'pruned' like `prepare` */
  trace(index: number, request: TraceRequest, timer: RunTimer): TraceOutcome | 'pruned'
  /**
   * The storage of an account before a transaction, or after the last one.
   * @param start hashed key, 32 bytes
   * @param max maximum number of slots
   */
  storage(index: number, address: Address, start: Uint8Array, max: number): StorageRange | 'pruned'
}

/** Position of a traced call: after a block, or after the first `transactions` transactions of the block. */
export type TracePlace = { readonly block: CallPlace; readonly transactions?: number | undefined }

/** Traced calls in sequence, each on the state left by the previous one. */
export interface CallTracing {
  /** Works for some milliseconds towards the state of the first call; returns like `BlockTracing.prepare`. */
  prepare(): boolean | 'pruned'
  /** @param overrides state overrides apply to this call and the later ones, block overrides to this call only */
  trace(message: CallMessage, request: TraceRequest, timer: RunTimer, overrides?: CallOverrides): TraceOutcome | 'pruned'
}

/** Data for stateless execution of a block: RLP of trie nodes and earlier headers, codes, and preimages of hashed keys. */
export type ExecutionWitness = {
  readonly state: readonly Uint8Array[]
  readonly codes: readonly Uint8Array[]
  /** addresses and slots */
  readonly keys: readonly Uint8Array[]
  /** RLP, ascending, the parent last */
  readonly headers: readonly Uint8Array[]
}

/** A witness, or the reason why the block cannot be executed. */
export type WitnessOutcome =
  | { readonly kind: 'found'; readonly witness: ExecutionWitness }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'timeout'; readonly timeoutMs: number }

/** Work in progress. Dispose of it, finished or not. */
export interface SlicedWork<T> extends Disposable {
  /** Works for some milliseconds; returns like `BlockTracing.prepare`. */
  work(): boolean | 'pruned'
  /** undefined: not finished */
  readonly outcome: T | undefined
}

/** Re-execution of blocks and calls with tracers. */
export interface Tracing {
  /** Tracing of a known block, canonical or not; undefined: unknown block. */
  known(hash: Hash): BlockTracing | undefined
  /** Tracing of any block with a known parent. */
  given(block: Block): BlockTracing
  calls(place: TracePlace): CallTracing
  /** Code with this keccak hash in the state after a block; undefined: unknown code. */
  code(at: BlockId, codeHash: Hash): Uint8Array | undefined | 'pruned'
  /** Witness of a known block; undefined: unknown block. */
  witness(hash: Hash): SlicedWork<WitnessOutcome> | undefined
  /**
   * Witness of a block built from attributes without pool transactions; `refused`: the reason why it cannot be built.
   * @param startTimer starts the time limit of a transaction
   */
  payloadWitness(
    parent: Hash,
    attributes: PayloadAttributes,
    startTimer: () => RunTimer,
  ): SlicedWork<WitnessOutcome> | { readonly refused: string }
}
