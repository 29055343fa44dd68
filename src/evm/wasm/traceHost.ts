import type { Address } from '#types/ids'
import type { Log } from '#types/log'
import { ctxLogsTop, ctxStepsTop, ctxTraceMode, exitEnter, exitLeave, exitSteps, ioBase, logsBase, stepsEnd } from '../assembly/layout.ts'
import type { HaltReason } from '../ports.ts'
import type { TraceListener } from '../traceEvents.ts'
import { frameEndAt, frameStartAt, StepRecords, traceSettings } from './stepRecords.ts'
import { ctxTraceOps, ctxTraceWords } from './traceLayout.ts'
import type { WasmMemory } from './wasmMemory.ts'

/**
 * Where records begin: the region has room for more, but what has been written is read soon, while the processor's caches have it. The largest
 * record, with a whole stack, has some 32 KB.
 */
const stepsFrom = stepsEnd - 0x40000

/** What of a session tracing needs to know. */
export type TracedParts = {
  readonly memory: WasmMemory
  isPrecompile(address: Address): boolean
  /** how a number of `ended…` is called */
  endOf(ended: number): 'success' | 'revert' | HaltReason
  /** the log records from `from` up to `ctxLogsTop` */
  logsFrom(from: number): readonly Log[]
}

/** Turns what the traced build leaves in memory into events, for one message. */
export class TraceHost {
  readonly #parts: TracedParts
  readonly #listener: TraceListener
  readonly #records = new StepRecords()
  /** logs below are told */
  #logsTold = logsBase

  constructor(parts: TracedParts, listener: TraceListener) {
    this.#parts = parts
    this.#listener = listener
  }

  /** Before the message begins: what the listener needs is asked now. */
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
   * At every exit, the last one too, before it is served: tells what has happened since the one before.
   * @returns whether the exit wanted nothing else
   * @throws what a callback throws: the message cannot go on then
   */
  take(exit: number): boolean {
    const { memory, isPrecompile, endOf } = this.#parts
    const view = this.#view()
    const top = memory.number(ctxStepsTop)
    if (top > stepsFrom) {
      memory.setNumber(ctxStepsTop, stepsFrom)
      this.#records.drain(view, stepsFrom, top, this.#listener)
    }
    this.#tellLogs()
    if (exit === exitEnter) this.#listener.onEnter(frameStartAt(view, ioBase, isPrecompile))
    else if (exit === exitLeave) this.#listener.onLeave(frameEndAt(view, ioBase, endOf))
    return exit === exitEnter || exit === exitLeave || exit === exitSteps
  }

  /** After the message, whatever became of it: the instance may run another without a listener. */
  end(): void {
    const { memory } = this.#parts
    memory.setNumber(ctxTraceMode, 0)
    memory.setNumber(ctxStepsTop, stepsFrom)
  }

  #buffer: ArrayBuffer | undefined
  #bytes = new DataView(new ArrayBuffer(0))

  /** A new one when the memory has grown. */
  #view(): DataView {
    const { buffer } = this.#parts.memory.u8
    if (this.#buffer !== buffer) {
      this.#buffer = buffer
      this.#bytes = new DataView(buffer)
    }
    return this.#bytes
  }

  /** A failed frame takes its logs back: those of a later one may lie where they lay. */
  #tellLogs(): void {
    const top = this.#parts.memory.number(ctxLogsTop)
    if (top > this.#logsTold && this.#listener.needs.logs) {
      for (const log of this.#parts.logsFrom(this.#logsTold)) this.#listener.onLog(log)
    }
    this.#logsTold = top
  }
}
