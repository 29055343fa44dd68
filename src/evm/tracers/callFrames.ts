import { type Hex, toHex } from '#lib/hex'
import type { Address, Hash } from '#types/ids'
import type { FrameEnd, FrameKind, FrameStart, TracedEnd, TracedTransaction, TraceLog } from '../traceEvents.ts'
import type { Budget } from './budget.ts'
import { revertReason } from './revertReason.ts'

export type CallLog = {
  readonly address: Address
  readonly topics: readonly Hash[]
  readonly data: Hex
  /** Number of calls of the frame before the log. */
  readonly position: number
  /** Index among all reported logs, including those of failed frames. */
  readonly sequence: number
}

/** A recorded call, creation or self-destruct of a transaction. */
export type CallFrame = {
  readonly kind: FrameKind
  readonly from: Address
  readonly to: Address | undefined
  readonly value: bigint | undefined
  /** Gas of the frame; for the first frame, the gas limit of the transaction. */
  readonly gas: number
  readonly input: Hex
  readonly isPrecompile: boolean
  /** Name of the called native contract. */
  readonly native: string | undefined
  gasUsed: number
  output: Hex
  end: Pick<FrameEnd, 'end' | 'opcode'> | 'not run'
  /** Reason of one of Solidity's built-in errors. */
  reason: string | undefined
  readonly calls: CallFrame[]
  logs: CallLog[]
}

/** Approximate JSON size of a frame without its variable parts, in characters. */
const frameBytes = 250
const logBytes = 150

/** Extent of the tree: `onlyTop` omits all frames below the message. */
export type FrameDepth = 'all' | 'onlyTop'

/** Builds the call tree of a transaction from its events. */
export class FrameTree {
  readonly #kept: FrameDepth
  readonly #budget: Budget
  readonly #open: CallFrame[] = []
  #depth = -1
  #root: CallFrame | undefined
  #logs = 0
  #gasLimit = 0

  constructor(kept: FrameDepth, budget: Budget) {
    this.#kept = kept
    this.#budget = budget
  }

  begin({ gas }: TracedTransaction): void {
    this.#gasLimit = gas
  }

  enter(start: FrameStart): void {
    this.#depth = start.depth
    if (this.#kept === 'onlyTop' && start.depth > 0) return
    this.#budget.take(frameBytes + 2 * start.input.length)
    const { kind, from, to, value, isPrecompile, native } = start
    const frame: CallFrame = {
      ...{ kind, from, to, value, isPrecompile, native },
      gas: start.depth === 0 ? this.#gasLimit : start.gas,
      input: toHex(start.input),
      ...{ gasUsed: 0, output: '0x', end: { end: 'success', opcode: undefined }, reason: undefined },
      ...{ calls: [], logs: [] },
    }
    if (start.depth === 0) this.#root = frame
    else this.#open.at(-1)?.calls.push(frame)
    this.#open.push(frame)
  }

  /** Ends the innermost frame. @returns the frame, if the tree keeps it */
  leave(ended: FrameEnd): CallFrame | undefined {
    this.#depth = ended.depth - 1
    if (this.#kept === 'onlyTop' && ended.depth > 0) return undefined
    const frame = this.#open.pop()
    if (frame === undefined) throw new RangeError('a frame ends that did not begin')
    frame.gasUsed = ended.gasUsed
    frame.end = { end: ended.end, opcode: ended.opcode }
    if (ended.end === 'success' || ended.end === 'revert') {
      this.#budget.take(2 * ended.output.length)
      frame.output = toHex(ended.output)
    }
    if (ended.end === 'revert') frame.reason = revertReason(ended.output)
    return frame
  }

  log({ address, topics, data }: TraceLog): void {
    const frame = this.#open.at(-1)
    if (frame === undefined || (this.#kept === 'onlyTop' && this.#depth > 0)) return
    this.#budget.take(logBytes + 70 * topics.length + 2 * data.length)
    frame.logs.push({ address, topics: [...topics], data: toHex(data), position: frame.calls.length, sequence: this.#logs++ })
  }

  /** Removes the call that ended last from the tree. */
  dropLast(): void {
    this.#open.at(-1)?.calls.pop()
  }

  /** Returns the whole tree. A transaction that never ran, such as a failed deposit, is one frame without its own end. */
  end({ gasUsed }: TracedEnd, transaction: TracedTransaction): CallFrame {
    const root = this.#root ?? frameOf(transaction)
    root.gasUsed = gasUsed
    return root
  }
}

function frameOf({ from, to, value, gas, data }: TracedTransaction): CallFrame {
  return {
    ...{ kind: to === null ? 'CREATE' : 'CALL', from, to: to ?? undefined, value, gas, input: toHex(data), isPrecompile: false },
    native: undefined,
    ...{ gasUsed: 0, output: '0x', end: 'not run', reason: undefined, calls: [], logs: [] },
  }
}
