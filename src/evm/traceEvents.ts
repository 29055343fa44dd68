import type { Hex } from '#lib/hex'
import type { Address, Hash } from '#types/ids'
import type { Account, HaltReason } from './ports.ts'

/**
 * What the traced build of the interpreter tells while a message runs, and what a tracer is. Callbacks are synchronous and come in the order of
 * execution; bytes and steps handed in are good during the call only: a tracer copies what it keeps. What a callback throws ends the message and
 * is passed on, as with `Pace`.
 */

export type FrameKind = 'CALL' | 'CALLCODE' | 'DELEGATECALL' | 'STATICCALL' | 'CREATE' | 'CREATE2' | 'SELFDESTRUCT'

/**
 * A call or creation begins: the message itself (depth 0), and everything that an opcode asks for, also what ends at once because it is too deep,
 * lacks the money, or is a precompile. A SELFDESTRUCT is a frame that is left at once, with no gas.
 */
export type FrameStart = {
  readonly kind: FrameKind
  /** 0 for the message; a SELFDESTRUCT has that of the frame that does it, plus one */
  readonly depth: number
  /** who asks: of a DELEGATECALL the contract that runs; of a SELFDESTRUCT the one that goes */
  readonly from: Address
  /** whose code is called; where a creation puts its contract; who inherits */
  readonly to: Address
  /** whose storage the frame works on */
  readonly self: Address
  /** wei; of a DELEGATECALL that of its caller's frame; undefined for a STATICCALL */
  readonly value: bigint | undefined
  /** gas that the frame has, stipend included */
  readonly gas: number
  /** call data, or initcode */
  readonly input: Uint8Array
  /** `to` is a precompile under the rules of the block */
  readonly isPrecompile: boolean
}

export type FrameEnd = {
  readonly depth: number
  /** gas, price of the deployed code included; all of it at a halt */
  readonly gasUsed: number
  /** return data, revert data, or the deployed code */
  readonly output: Uint8Array
  readonly end: 'success' | 'revert' | HaltReason
  /** the opcode that halted, when the interpreter says it */
  readonly opcode: number | undefined
}

export type TraceLog = { readonly address: Address; readonly topics: readonly Hash[]; readonly data: Uint8Array }

/**
 * One opcode, before it runs; the STOP that stands behind the end of code too. What it costs, and the value that an SLOAD finds, show at the next
 * step of the frame or at its end: no event says them.
 */
export interface TraceStep {
  readonly pc: number
  readonly op: number
  readonly depth: number
  /** gas before the opcode is paid for */
  readonly gas: number
  /** the part of the price that does not depend on operands: what is said of an opcode that halts */
  readonly staticCost: number
  /** the transaction's refund counter */
  readonly refund: number
  /** words */
  readonly stackSize: number
  /** The word so many below the top, 0 being the top; RangeError beyond what was recorded (`StepNeeds.stackWords`). */
  stack(below: number): bigint
  /** The same as hex without leading zeros: cheaper, when text is all that is wanted. */
  stackHex(below: number): Hex
  /** The frame's memory, a multiple of 32 bytes; only with `StepNeeds.memory`. */
  memory(): Uint8Array
  /** What the last call of the frame has returned; only with `StepNeeds.returnData`. */
  returnData(): Uint8Array
}

export interface TraceEvents {
  onEnter(frame: FrameStart): void
  onLeave(end: FrameEnd): void
  onStep(step: TraceStep): void
  /** A log of the innermost frame; those of frames that fail later are told too, or not: tracers drop them. */
  onLog(log: TraceLog): void
  /** An account that the transaction reads or changes outside of its message: sender, authority, beneficiary, vault. */
  onAccount(address: Address): void
}

/** What steps are to carry. Every bit more costs time at each opcode. */
export type StepNeeds = {
  /** opcodes that are recorded; the rest run unseen */
  readonly ops: 'all' | readonly number[]
  /** words of the stack from its top: 1,024 is the whole */
  readonly stackWords: number
  readonly memory: boolean
  readonly returnData: boolean
}

/** What a tracer listens to: the host leaves out what nobody needs. */
export type TraceNeeds = {
  readonly frames: boolean
  readonly logs: boolean
  readonly accounts: boolean
  readonly steps: StepNeeds | undefined
}

/** Who listens, and to what; what it needs may differ from one message to the next. */
export type TraceListener = TraceEvents & { readonly needs: TraceNeeds }

/** State before or after a transaction. An `EvmSession` is one. */
export interface StateReader {
  account(address: Address): Account | undefined
  slot(address: Address, slot: Hash): bigint
  code(address: Address): Uint8Array
}

export type TracedTransaction = {
  readonly from: Address
  /** null: a creation */
  readonly to: Address | null
  /** wei */
  readonly value: bigint
  readonly data: Uint8Array
  /** gas limit of the transaction, intrinsic gas included */
  readonly gas: number
  /** where it stands; a call that is in no block has no hashes */
  readonly blockHash: Hash | undefined
  readonly blockNumber: number
  readonly hash: Hash | undefined
  readonly index: number
}

/** How a transaction ended, as its receipt says it. */
export type TracedEnd = {
  /** gas after refunds */
  readonly gasUsed: number
  readonly succeeded: boolean
}

export type TraceJson = string | number | boolean | null | readonly TraceJson[] | { readonly [key: string]: TraceJson }

/** One tracer for one transaction: `begin`, the events of its message, `end`, `result`. */
export type Tracer = TraceListener & {
  begin(transaction: TracedTransaction): void
  /**
   * @param before state that the transaction began on
   * @param after state after its fees; both are asked here and not later
   */
  end(end: TracedEnd, before: StateReader, after: StateReader): void
  /** What a client answers: an object of its own, to be written as JSON as it is. */
  result(): TraceJson
}
