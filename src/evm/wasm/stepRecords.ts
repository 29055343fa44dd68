import { Buffer } from 'node:buffer'
import { type Hex, toQuantity } from '#lib/hex'
import type { Address } from '#types/ids'
import { ctxReturnSize, returnBase } from '../assembly/layout.ts'
import type { HaltReason } from '../ports.ts'
import type { FrameEnd, FrameKind, FrameStart, TraceEvents, TraceNeeds, TraceStep } from '../traceEvents.ts'
import * as layout from './traceLayout.ts'

const wordBytes = 32

/** Reads the word at an offset: four limbs, least significant first. */
function wordAt(bytes: DataView, at: number): bigint {
  const low = bytes.getBigUint64(at, true) | (bytes.getBigUint64(at + 8, true) << 64n)
  return low | (bytes.getBigUint64(at + 16, true) << 128n) | (bytes.getBigUint64(at + 24, true) << 192n)
}

/** Shared strings for small words, which are the most frequent. */
const smallWords: readonly Hex[] = Array.from({ length: 1_024 }, (_, value) => toQuantity(value))
const scratch = Buffer.alloc(wordBytes)

/** Reads a word as hex without leading zeros, without creating a bigint. */
function wordHexAt(bytes: DataView, at: number): Hex {
  let limb = 7
  while (limb > 0 && bytes.getUint32(at + 4 * limb, true) === 0) limb--
  const highest = bytes.getUint32(at + 4 * limb, true)
  if (limb === 0) return smallWords[highest] ?? toQuantity(highest)
  const head = highest.toString(16)
  for (let i = limb - 1; i >= 0; i--) scratch.writeUInt32BE(bytes.getUint32(at + 4 * i, true), 4 * (limb - 1 - i))
  return `0x${head}${scratch.toString('hex', 0, 4 * limb)}`
}

const high = 2 ** 32

/** Reads a u64; exact below 2^53, which gas never exceeds. */
function u64At(bytes: DataView, at: number): number {
  return bytes.getUint32(at + 4, true) * high + bytes.getUint32(at, true)
}

const addressBytes = 20

/** Reads the low 160 bits of a word as an address. */
function addressAt(bytes: DataView, at: number): Address {
  for (let i = 0; i < 5; i++) scratch.writeUInt32BE(bytes.getUint32(at + 4 * i, true), addressBytes - 4 - 4 * i)
  return `0x${scratch.toString('hex', 0, addressBytes)}` as Address
}

const bytesAt = (memory: DataView, at: number, size: number): Uint8Array => new Uint8Array(memory.buffer, at, size)

/** The step records in linear memory, in sequence. The object itself represents the current step, so that steps allocate nothing. */
export class StepRecords implements TraceStep {
  #bytes: DataView = new DataView(new ArrayBuffer(0))
  #at = 0

  /**
   * Emits all records, oldest first. Data that a callback reads from a step is valid until the callback returns.
   * @param memory whole linear memory; a new view when it has grown
   * @param from offset of the first record
   * @param top `ctxStepsTop`; the caller resets it
   * @throws RangeError when the records end within one: interpreter and host do not match
   */
  drain(memory: DataView, from: number, top: number, events: Pick<TraceEvents, 'onStep'>): void {
    this.#bytes = memory
    for (let at = from; at < top; ) {
      this.#at = at
      at += layout.stepHeadBytes + wordBytes * memory.getUint32(at + layout.stepWords, true)
      if (at > top) throw new RangeError('a step record is cut off')
      events.onStep(this)
    }
  }

  get pc(): number {
    return this.#bytes.getUint32(this.#at + layout.stepPc, true)
  }

  get op(): number {
    return this.#bytes.getUint16(this.#at + layout.stepOp, true)
  }

  get depth(): number {
    return this.#bytes.getUint16(this.#at + layout.stepDepth, true)
  }

  get gas(): number {
    return u64At(this.#bytes, this.#at + layout.stepGas)
  }

  get staticCost(): number {
    return this.#bytes.getUint32(this.#at + layout.stepStaticCost, true)
  }

  get refund(): number {
    const at = this.#at + layout.stepRefund
    return this.#bytes.getInt32(at + 4, true) * high + this.#bytes.getUint32(at, true)
  }

  get stackSize(): number {
    return this.#bytes.getUint32(this.#at + layout.stepStackSize, true)
  }

  stack(below: number): bigint {
    return wordAt(this.#bytes, this.#wordAt(below))
  }

  stackHex(below: number): Hex {
    return wordHexAt(this.#bytes, this.#wordAt(below))
  }

  #wordAt(below: number): number {
    const words = this.#bytes.getUint32(this.#at + layout.stepWords, true)
    if (below < 0 || below >= words) throw new RangeError(`word ${below} of the stack was not recorded, ${words} were`)
    return this.#at + layout.stepHeadBytes + wordBytes * below
  }

  /** Returns a view, valid while the interpreter waits at the step; only with `traceStops`. */
  memory(): Uint8Array {
    const size = this.#bytes.getUint32(this.#at + layout.stepMemorySize, true)
    return bytesAt(this.#bytes, this.#bytes.getUint32(this.#at + layout.stepMemory, true), size)
  }

  /** Returns a view with the same validity as `memory`. */
  returnData(): Uint8Array {
    return bytesAt(this.#bytes, returnBase, this.#bytes.getUint32(ctxReturnSize, true))
  }
}

/** In the order of `kind…`. */
const kinds: readonly FrameKind[] = ['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']

/**
 * Decodes the record of `exitEnter`. Its input is a view.
 * @param at offset of the record
 * @param isPrecompile whether an address `to` is a precompile
 * @param nativeName name of the native contract at `to`
 * @throws RangeError for an unknown kind
 */
export function frameStartAt(
  memory: DataView,
  at: number,
  isPrecompile: (to: Address) => boolean,
  nativeName: (to: Address) => string | undefined = () => undefined,
): FrameStart {
  const kind = kinds[memory.getUint32(at + layout.enterKind, true)]
  if (kind === undefined) throw new RangeError('a frame of no kind')
  const to = addressAt(memory, at + layout.enterTo)
  const isCall = kind !== 'CREATE' && kind !== 'CREATE2' && kind !== 'SELFDESTRUCT'
  const native = isCall ? nativeName(to) : undefined
  return {
    ...{ kind, to },
    depth: memory.getUint32(at + layout.enterDepth, true),
    from: addressAt(memory, at + layout.enterFrom),
    self: addressAt(memory, at + layout.enterSelf),
    value: kind === 'STATICCALL' ? undefined : wordAt(memory, at + layout.enterValue),
    gas: u64At(memory, at + layout.enterGas),
    input: bytesAt(memory, memory.getUint32(at + layout.enterInput, true), memory.getUint32(at + layout.enterInputSize, true)),
    isPrecompile: isCall && isPrecompile(to),
    ...(native !== undefined && { native }),
  }
}

/**
 * Decodes the record of `exitLeave`. Its output is a view.
 * @param endOf converts an `ended…` number
 */
export function frameEndAt(memory: DataView, at: number, endOf: (ended: number) => 'success' | 'revert' | HaltReason): FrameEnd {
  const opcode = memory.getUint32(at + layout.leaveOpcode, true)
  return {
    depth: memory.getUint32(at + layout.leaveDepth, true),
    gasUsed: u64At(memory, at + layout.leaveGasUsed),
    output: bytesAt(memory, memory.getUint32(at + layout.leaveOutput, true), memory.getUint32(at + layout.leaveOutputSize, true)),
    end: endOf(memory.getUint32(at + layout.leaveEnded, true)),
    opcode: opcode === 0 ? undefined : opcode - 1,
  }
}

/** Context values that make the interpreter record the data a tracer needs. */
export type TraceSettings = {
  /** `ctxTraceMode`. */
  readonly mode: number
  /** `ctxTraceWords`. */
  readonly words: number
  /** `ctxTraceOps`: 32 bytes, bit n of byte m for opcode 8 m + n. */
  readonly ops: Uint8Array
}

const allOps = Array.from({ length: 256 }, (_, op) => op)

/** Computes the settings for a tracer's needs. Frames are always recorded with steps, because a step does not name its frame. */
export function traceSettings({ frames, steps }: TraceNeeds): TraceSettings {
  const ops = new Uint8Array(32)
  if (steps === undefined) return { mode: frames ? layout.traceFrames : 0, words: 0, ops }
  for (const op of steps.ops === 'all' ? allOps : steps.ops) ops[op >> 3] = (ops[op >> 3] ?? 0) | (1 << (op & 7))
  const stops = steps.memory || steps.returnData ? layout.traceStops : 0
  return { mode: layout.traceSteps | layout.traceFrames | stops, words: steps.stackWords, ops }
}
