import type { MessagePort } from 'node:worker_threads'
import type { ExecutedBlock } from './executedBlock.ts'
import type { HeadRecord } from './headRecord.ts'
import type { ShownRecords } from './shownRecords.ts'
import { type PackedBlock, packBlock } from './workerBlocks.ts'
import type { ExecutionSizes, FromWorker } from './workerProtocol.ts'

/** A record, its number in `ShownRecords`, and what execution held then. */
type Numbered = { readonly record: HeadRecord; readonly number: number; readonly sizes: ExecutionSizes }

/**
 * What the worker has to say to one thread, in order. Small things wait for the next message that somebody waits for, or for the end of the
 * present task: one message of the platform then carries them all.
 */
export class WorkerOutbox {
  readonly #port: MessagePort
  #waiting: FromWorker[] = []
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
  publish({ record, number, sizes }: Numbered, pack: (block: ExecutedBlock) => PackedBlock): void {
    const { overlays, ...heads } = record
    const kept = keptOverlays(this.#published, overlays)
    this.#published = overlays
    this.send({ kind: 'published', number, heads, kept, added: overlays.slice(kept.to - kept.from).map(pack), sizes })
  }

  #flush(): void {
    if (this.#waiting.length === 0) return
    const messages = this.#waiting
    this.#waiting = []
    this.#port.postMessage(messages)
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

/** Gives each record to all who read the chain: a block is packed once for them all. */
export class RecordPublisher {
  readonly #shown: ShownRecords
  readonly #outboxes = new Set<WorkerOutbox>()
  #last: Numbered | undefined

  constructor(shown: ShownRecords) {
    this.#shown = shown
  }

  /** From now on this one is told too, first of the record that is published. */
  join(outbox: WorkerOutbox): void {
    this.#outboxes.add(outbox)
    if (this.#last) outbox.publish(this.#last, packBlock)
  }

  leave(outbox: WorkerOutbox): void {
    this.#outboxes.delete(outbox)
  }

  publish(record: HeadRecord, sizes: ExecutionSizes): void {
    const packed = new Map<ExecutedBlock, PackedBlock>()
    const pack = (block: ExecutedBlock): PackedBlock => {
      const known = packed.get(block) ?? packBlock(block)
      packed.set(block, known)
      return known
    }
    const numbered = { record, sizes, number: this.#shown.latest + 1 }
    this.#last = numbered
    for (const outbox of this.#outboxes) outbox.publish(numbered, pack)
    this.#shown.show(numbered.number)
  }
}
