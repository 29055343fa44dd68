import type { MessagePort, Transferable } from 'node:worker_threads'
import type { Log, LogFields, LogLevel } from '#lib/log'
import type { HeadRecord } from './headRecord.ts'
import { buffersOf, packBlock } from './workerBlocks.ts'
import { type ExecutionSizes, type FromWorker, type SentError, sendable, sendError } from './workerProtocol.ts'

/**
 * What the worker has to say, in order. Small things wait for the next message that somebody waits for, or for the end of the present task:
 * one message of the platform then carries them all.
 */
export class WorkerOutbox {
  readonly #port: MessagePort
  #waiting: FromWorker[] = []
  #transfer: Transferable[] = []
  #published: HeadRecord['overlays'] = []

  constructor(port: MessagePort) {
    this.#port = port
  }

  /** Goes out with the next message, at the end of this task at the latest. */
  add(message: FromWorker): void {
    this.#waiting.push(message)
    if (this.#waiting.length === 1) queueMicrotask(() => this.#flush())
  }

  /** Goes out at once, after all that waits. */
  send(message: FromWorker): void {
    this.#waiting.push(message)
    this.#flush()
  }

  /** Sends a record at once; of its overlays those that do not follow from the record before. */
  publish(record: HeadRecord, sizes: ExecutionSizes): void {
    const { overlays, ...heads } = record
    const kept = keptOverlays(this.#published, overlays)
    this.#published = overlays
    const added = overlays.slice(kept.to - kept.from).map(packBlock)
    this.#transfer.push(...added.flatMap(buffersOf))
    this.send({ kind: 'published', heads, kept, added, sizes })
  }

  #flush(): void {
    if (this.#waiting.length === 0) return
    const [messages, transfer] = [this.#waiting, this.#transfer]
    this.#waiting = []
    this.#transfer = []
    this.#port.postMessage(messages, transfer)
  }
}

/** Which of the overlays before, from index to index, begin the new ones. Pure. */
export function keptOverlays(before: HeadRecord['overlays'], now: HeadRecord['overlays']): { readonly from: number; readonly to: number } {
  const [first] = now
  const from = first === undefined ? -1 : before.indexOf(first)
  if (from < 0) return { from: 0, to: 0 }
  let to = from
  while (to < before.length && before[to] === now[to - from]) to++
  return { from, to }
}

/** A log whose lines are written by the thread at the other end. */
export function createSentLog(outbox: WorkerOutbox, module: string): Log {
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      const errors: Record<string, SentError> = {}
      const rest: Record<string, unknown> = {}
      for (const [key, value] of Object.entries(fields)) {
        if (value instanceof Error) errors[key] = sendError(value)
        else rest[key] = value
      }
      outbox.add({ kind: 'log', module, level, message, fields: sendable(rest), errors })
    }
  return {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (name) => createSentLog(outbox, name),
  }
}
