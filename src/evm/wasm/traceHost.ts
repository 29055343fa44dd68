import type { Address, Hash } from '#types/ids'
import type { Log } from '#types/log'
import { ctxLogsTop, ctxStepsTop, ctxTraceMode, exitEnter, exitLeave, exitSteps, ioBase, logsBase, stepsEnd } from '../assembly/layout.ts'
import type { HaltReason } from '../ports.ts'
import type { TraceListener } from '../traceEvents.ts'
import { frameEndAt, frameStartAt, StepRecords, traceSettings } from './stepRecords.ts'
import { ctxTraceOps, ctxTraceWords } from './traceLayout.ts'
import type { WasmMemory } from './wasmMemory.ts'

/**
 * Start of the step records. The region has more room, but a small buffer is read while it is still in the processor's caches. The largest
 * record, with a full stack, has about 32 KB.
 */
const stepsFrom = stepsEnd - 0x40000

/** The parts of a session that tracing needs. */
export type TracedParts = {
  readonly memory: WasmMemory
  isPrecompile(address: Address): boolean
  /** Returns the name of the native contract at an address. */
  nativeName(address: Address): string | undefined
  /** Converts an `ended…` number. */
  endOf(ended: number): 'success' | 'revert' | HaltReason
  /** Returns the log records from `from` up to `ctxLogsTop`. */
  logsFrom(from: number): readonly Log[]
}

/** Converts the records of the traced build into events, for one message. */
export class TraceHost {
  readonly #parts: TracedParts
  readonly #listener: TraceListener
  readonly #records = new StepRecords()
  /** Logs below this address are already emitted. */
  #logsTold = logsBase

  constructor(parts: TracedParts, listener: TraceListener) {
    this.#parts = parts
    this.#listener = listener
  }

  /** Called before the message begins; reads the needs of the listener. */
  begin(): void {
    const { memory } = this.#parts
    const { mode, words, ops } = traceSettings(this.#listener.needs)
    memory.setNumber(ctxTraceMode, mode)
    memory.setNumber(ctxTraceWords, words)
    memory.setNumber(ctxStepsTop, stepsFrom)
    memory.u8.set(ops, ctxTraceOps)
    this.#logsTold = memory.number(ctxLogsTop)
  }

  /**
   * Called at every exit, including the last, before it is served. Emits the events since the previous exit.
   * @returns whether the exit needs no further service
   * @throws exceptions of a callback; the message cannot continue then
   */
  take(exit: number): boolean {
    const { memory, isPrecompile, nativeName, endOf } = this.#parts
    const view = this.#view()
    const top = memory.number(ctxStepsTop)
    if (top > stepsFrom) {
      memory.setNumber(ctxStepsTop, stepsFrom)
      this.#records.drain(view, stepsFrom, top, this.#listener)
    }
    this.#tellLogs()
    if (exit === exitEnter) this.#listener.onEnter(frameStartAt(view, ioBase, isPrecompile, nativeName))
    else if (exit === exitLeave) this.#listener.onLeave(frameEndAt(view, ioBase, endOf))
    return exit === exitEnter || exit === exitLeave || exit === exitSteps
  }

  /** Called when a native contract accesses an account or a slot. */
  nativeAccess(address: Address, slot: Hash | undefined): void {
    if (this.#listener.needs.accounts) this.#listener.onNativeAccess(address, slot)
  }

  /** Called after the message, however it ended. The instance may then run another message without a listener. */
  end(): void {
    const { memory } = this.#parts
    memory.setNumber(ctxTraceMode, 0)
    memory.setNumber(ctxStepsTop, stepsFrom)
  }

  #buffer: ArrayBuffer | undefined
  #bytes = new DataView(new ArrayBuffer(0))

  /** Returns a view of the memory, renewed when the memory has grown. */
  #view(): DataView {
    const { buffer } = this.#parts.memory.u8
    if (this.#buffer !== buffer) {
      this.#buffer = buffer
      this.#bytes = new DataView(buffer)
    }
    return this.#bytes
  }

  /** Emits new logs. A failed frame removes its logs, and later logs may reuse their addresses. */
  #tellLogs(): void {
    const top = this.#parts.memory.number(ctxLogsTop)
    if (top > this.#logsTold && this.#listener.needs.logs) {
      for (const log of this.#parts.logsFrom(this.#logsTold)) this.#listener.onLog(log)
    }
    this.#logsTold = top
  }
}
