import type { Block } from '#types/block'
import type { BlockId } from '#types/blockRef'
import type { Address, Hash } from '#types/ids'
import type { PayloadAttributes } from '#types/payload'
import type { CallMessage, CallOutcome, CallOverrides, RunTimer } from './callPorts.ts'
import type { Json } from './json.ts'

/** What a trace is to say: the last parameter of `debug_trace*`. */
export type TraceRequest = {
  /** absent: struct logs, whose options stand beside it */
  readonly tracer?: string
  readonly tracerConfig?: unknown
  readonly [option: string]: unknown
}

/** What became of a transaction or a call that was run for its trace. */
export type TraceOutcome =
  | { readonly kind: 'traced'; readonly result: Json }
  /** no such tracer, or not with these options */
  | { readonly kind: 'unsupported' | 'bad-request'; readonly reason: string }
  /** the result would be larger than its bound, the message did not fit its block or its sender */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'timeout'; readonly timeoutMs: number }
  /** a call that could not begin */
  | { readonly kind: 'not-run'; readonly outcome: CallOutcome }

/** Slots of an account by hashed key, ascending, and the key that comes after them. */
export type StorageRange = { readonly slots: readonly { readonly key: Hash; readonly value: bigint }[]; readonly next: Hash | undefined }

/** The transactions of one block, to be run again. Synchronous; a Fault is thrown when the store cannot answer. */
export interface BlockTracing {
  /** of the transactions, in order */
  readonly hashes: readonly Hash[]
  /**
   * Works for some milliseconds towards the state before a transaction.
   * @returns whether it is there; 'pruned' when the state of the parent is not retained any more
   */
  prepare(index: number): boolean | 'pruned'
  /** Runs a transaction with a tracer, `prepare` or not. @returns 'pruned' as `prepare` */
  trace(index: number, request: TraceRequest, timer: RunTimer): TraceOutcome | 'pruned'
  /**
   * The storage of an account before a transaction, or after the last one.
   * @param start hashed key, 32 bytes
   * @param max slots at most
   */
  storage(index: number, address: Address, start: Uint8Array, max: number): StorageRange | 'pruned'
}

/** Where a traced call stands: on the state after a block, or after the first transactions of the block. */
export type CallContext = { readonly block: BlockId; readonly transactions?: number | undefined }

/** Calls that are traced one after the other, each on the state that the one before it has left. */
export interface CallTracing {
  /** Works for some milliseconds towards the state that the first one begins on; answers as `BlockTracing.prepare`. */
  prepare(): boolean | 'pruned'
  /** @param overrides what the call, and those after it, find otherwise than the chain has it; those of the environment for this call alone */
  trace(message: CallMessage, request: TraceRequest, timer: RunTimer, overrides?: CallOverrides): TraceOutcome | 'pruned'
}

/** What executing a block without a state of one's own takes: RLP of trie nodes and earlier headers, codes, and preimages of hashed keys. */
export type ExecutionWitness = {
  readonly state: readonly Uint8Array[]
  readonly codes: readonly Uint8Array[]
  /** addresses and slots */
  readonly keys: readonly Uint8Array[]
  /** RLP, ascending, the parent last */
  readonly headers: readonly Uint8Array[]
}

/** A witness, or why the block cannot be run. */
export type WitnessOutcome =
  | { readonly kind: 'found'; readonly witness: ExecutionWitness }
  | { readonly kind: 'refused'; readonly reason: string }

/** A witness that is being made. Dispose of it, finished or not. */
export interface WitnessWork extends Disposable {
  /** Works for some milliseconds; answers as `BlockTracing.prepare`. */
  work(): boolean | 'pruned'
  /** undefined: not finished */
  readonly outcome: WitnessOutcome | undefined
}

/** Runs blocks and calls again for what they do on the way. */
export interface Tracing {
  /** A block that the chain has, canonical or not; undefined when there is none. */
  known(hash: Hash): BlockTracing | undefined
  /** Any block whose parent the chain has. */
  given(block: Block): BlockTracing
  calls(place: CallContext): CallTracing
  /** A code by its keccak, as the state after a block has it; undefined when there is none. */
  code(at: BlockId, codeHash: Hash): Uint8Array | undefined | 'pruned'
  /** Of a block that the chain has; undefined when there is none. */
  witness(hash: Hash): WitnessWork | undefined
  /** Of a block that is made of attributes, without the pool; or why there can be none. */
  payloadWitness(parent: Hash, attributes: PayloadAttributes): WitnessWork | { readonly refused: string }
}
