import type { Hex } from '#lib/hex'
import type { Account } from '#types/account'
import type { Address, Hash } from '#types/ids'
import type { HaltReason } from './ports.ts'

/**
 * Events of the traced build while a message runs, and the interface of a tracer. Callbacks are synchronous and follow the order of
 * execution. Bytes and steps passed to a callback are valid during the call only, so a tracer copies the data it keeps. An exception of a callback
 * ends the
 * message and is rethrown, as with `InterruptCheck`.
 */

export type FrameKind = 'CALL' | 'CALLCODE' | 'DELEGATECALL' | 'STATICCALL' | 'CREATE' | 'CREATE2' | 'SELFDESTRUCT'

/**
 * The start of a call or creation: the message itself (depth 0) and every frame that an opcode requests, including frames that end immediately
 * because of
 * call depth, insufficient balance or a precompile. A SELFDESTRUCT is a frame that ends immediately and uses no gas.
 */
export type FrameStart = {
  readonly kind: FrameKind
  /** 0 for the message; for a SELFDESTRUCT, the depth of the executing frame plus one. */
  readonly depth: number
  /** The caller: for a DELEGATECALL the running contract, for a SELFDESTRUCT the destroyed contract. */
  readonly from: Address
  /** The account whose code is called, the address of a created contract, or the beneficiary of a SELFDESTRUCT. */
  readonly to: Address
  /** The account whose storage the frame uses. */
  readonly self: Address
  /** Wei; for a DELEGATECALL the value of its caller's frame; undefined for a STATICCALL. */
  readonly value: bigint | undefined
  /** Gas of the frame, stipend included. */
  readonly gas: number
  /** Call data or initcode. */
  readonly input: Uint8Array
  /** `to` is a precompile under the rules of the block. */
  readonly isPrecompile: boolean
  /** Name of the native contract at `to`; absent: none. */
  readonly native?: string
}

export type FrameEnd = {
  readonly depth: number
  /** Gas, including the cost of deployed code; all gas of the frame after a halt. */
  readonly gasUsed: number
  /** Return data, revert data or the deployed code. */
  readonly output: Uint8Array
  readonly end: 'success' | 'revert' | HaltReason
  /** The opcode that halted, if the interpreter reports it. */
  readonly opcode: number | undefined
}

export type TraceLog = { readonly address: Address; readonly topics: readonly Hash[]; readonly data: Uint8Array }

/**
 * One opcode before it runs, including the implicit STOP at the end of code. The gas it costs, and the value that an SLOAD reads, show only at
 * the next step of the frame or at its end; no event carries them.
 */
export interface TraceStep {
  readonly pc: number
  readonly op: number
  readonly depth: number
  /** Gas before the opcode is charged. */
  readonly gas: number
  /** Gas that does not depend on operands; traces report it for an opcode that halts. */
  readonly staticCost: number
  /** Refund counter of the transaction. */
  readonly refund: number
  /** Words. */
  readonly stackSize: number
  /** Returns the word at a distance from the top (0 is the top); throws RangeError beyond the recorded words (`StepNeeds.stackWords`). */
  stack(below: number): bigint
  /** Returns the same word as hex without leading zeros; cheaper when only text is needed. */
  stackHex(below: number): Hex
  /** Returns the frame's memory, a multiple of 32 bytes; only with `StepNeeds.memory`. */
  memory(): Uint8Array
  /** Returns the return data of the frame's last call; only with `StepNeeds.returnData`. */
  returnData(): Uint8Array
}

export interface TraceEvents {
  onEnter(frame: FrameStart): void
  onLeave(end: FrameEnd): void
  onStep(step: TraceStep): void
  /** Called for a log of the innermost frame. Logs of frames that fail later may be reported; tracers must drop them. */
  onLog(log: TraceLog): void
  /** Called for an account that the transaction reads or changes outside its message: sender, authority, beneficiary, vault. */
  onAccount(address: Address): void
  /**
   * Called for an account or slot that a native contract accesses, when `needs.accounts` is set: native contracts have no steps. The same access may
   * be reported again.
   */
  onNativeAccess(address: Address, slot: Hash | undefined): void
}

/** Data that steps carry. Each addition slows down every opcode. */
export type StepNeeds = {
  /** Recorded opcodes; other opcodes run without an event. */
  readonly ops: 'all' | readonly number[]
  /** Number of stack words from the top; 1,024 is the whole stack. */
  readonly stackWords: number
  readonly memory: boolean
  readonly returnData: boolean
}

/** Events that a tracer needs; the host omits all others. */
export type TraceNeeds = {
  readonly frames: boolean
  readonly logs: boolean
  readonly accounts: boolean
  readonly steps: StepNeeds | undefined
}

/** A listener with its needs, which may differ between messages. */
export type TraceListener = TraceEvents & { readonly needs: TraceNeeds }

/** State before or after a transaction. An `EvmSession` implements it. */
export interface StateReader {
  account(address: Address): Account | undefined
  slot(address: Address, slot: Hash): bigint
  code(address: Address): Uint8Array
}

export type TracedTransaction = {
  readonly from: Address
  /** null: a creation. */
  readonly to: Address | null
  /** Wei. */
  readonly value: bigint
  readonly data: Uint8Array
  /** Gas limit of the transaction, intrinsic gas included. */
  readonly gas: number
  /** Position in the chain; a call outside a block has no hashes. */
  readonly blockHash: Hash | undefined
  readonly blockNumber: number
  readonly hash: Hash | undefined
  readonly index: number
}

/** Outcome of a transaction, as in its receipt. */
export type TracedEnd = {
  /** Gas after refunds. */
  readonly gasUsed: number
  readonly succeeded: boolean
}

export type TraceJson = string | number | boolean | null | readonly TraceJson[] | { readonly [key: string]: TraceJson }

/** A tracer for one transaction. Call order: `begin`, the events of its message, `end`, `result`. */
export type Tracer = TraceListener & {
  begin(transaction: TracedTransaction): void
  /**
   * Called after the transaction. The tracer must read both states during this call.
   * @param before state before the transaction
   * @param after state after its fees
   */
  end(end: TracedEnd, before: StateReader, after: StateReader): void
  /** Returns the result as a new object that can be written as JSON unchanged. */
  result(): TraceJson
}
