import type { MessagePort } from 'node:worker_threads'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import type { PublishedSequence } from './publishedSequence.ts'
import { type PackedBlock, packBlock, packedBytes } from './wire/packedBlocks.ts'
import { type PackedPending, packedPendingBytes, packPending } from './wire/packedPending.ts'
import type { ExecutionSizes, FromWorker } from './wire/protocol.ts'

/** A record, its number in `PublishedSequence`, and the sizes that execution held then. */
type Numbered = { readonly record: HeadRecord; readonly number: number; readonly sizes: ExecutionSizes }

/** Packing of the parts of a record, done once for all readers. */
type Packing = { readonly block: (block: ExecutedBlock) => PackedBlock; readonly pending: PackedPending | undefined }

/** Bounds of unread records of one reader; beyond them it is disconnected. */
export type UnreadLimits = { readonly maxBytes: number; readonly maxRecords: number }

export const usualUnread: UnreadLimits = { maxBytes: 512 * 2 ** 20, maxRecords: 20_000 }

/** Records that one reader has not taken yet. */
class UnreadRecords {
  readonly #taken: Int32Array
  readonly #limits: UnreadLimits
  readonly #records: { readonly number: number; readonly bytes: number }[] = []
  #bytes = 0

  constructor(taken: SharedArrayBuffer, limits: UnreadLimits) {
    this.#taken = new Int32Array(taken)
    this.#limits = limits
  }

  /** @returns whether the unread records are within the limits */
  add(number: number, bytes: number): boolean {
    const taken = Atomics.load(this.#taken, 0)
    let read = 0
    for (const record of this.#records) {
      if (record.number > taken) break
      this.#bytes -= record.bytes
      read++
    }
    this.#records.splice(0, read)
    this.#records.push({ number, bytes })
    this.#bytes += bytes
    return this.#bytes <= this.#limits.maxBytes && this.#records.length <= this.#limits.maxRecords
  }
}

/**
 * Messages to one thread, in order. Small messages wait for the next urgent one, or for the end of the current task, so that one platform message
 * carries them all.
 */
export class WorkerOutbox {
  readonly #port: MessagePort
  readonly #unread: UnreadRecords | undefined
  #waiting: FromWorker[] = []
  #published: HeadRecord['overlays'] = []

  /** @param taken number of the last record that the reader took; absent: unread records are not bounded */
  constructor(port: MessagePort, taken?: SharedArrayBuffer, limits = usualUnread) {
    this.#port = port
    this.#unread = taken && new UnreadRecords(taken, limits)
  }

  /** Queues a message, which leaves with the next urgent one, at the end of this task at the latest. */
  add(message: FromWorker): void {
    this.#waiting.push(message)
    if (this.#waiting.length === 1) queueMicrotask(() => this.#flush())
  }

  /** Sends a message at once, after all queued ones. */
  send(message: FromWorker): void {
    this.#waiting.push(message)
    this.#flush()
  }

  /** Sends a record at once, with the overlays that the previous record lacked. Closes the port of a reader that is too far behind. */
  publish({ record, number, sizes }: Numbered, { block: pack, pending }: Packing): void {
    const { overlays, pending: _packed, ...heads } = record
    const kept = keptOverlays(this.#published, overlays)
    this.#published = overlays
    const added = overlays.slice(kept.to - kept.from).map(pack)
    const pendingBytes = pending ? packedPendingBytes(pending) : 0
    const bytes = this.#unread ? added.reduce((sum, block) => sum + packedBytes(block), pendingBytes) : 0
    if (this.#unread?.add(number, bytes) === false) this.#port.close()
    else this.send({ kind: 'published', number, heads, kept, added, pending, sizes })
  }

  #flush(): void {
    if (this.#waiting.length === 0) return
    const messages = this.#waiting
    this.#waiting = []
    this.#port.postMessage(messages)
  }
}

/** Returns the range of the previous overlays that the new ones begin with. Pure. */
export function keptOverlays(before: HeadRecord['overlays'], now: HeadRecord['overlays']): { readonly from: number; readonly to: number } {
  const [first] = now
  const from = first === undefined ? -1 : before.indexOf(first)
  if (from < 0) return { from: 0, to: 0 }
  let to = from
  while (to < before.length && before[to] === now[to - from]) to++
  return { from, to }
}

/** Sends each record to all readers of the chain; a block is packed once for all of them. */
export class RecordPublisher {
  readonly #shown: PublishedSequence
  readonly #outboxes = new Set<WorkerOutbox>()
  #last: Numbered | undefined
  /** uncommitted blocks of the last record */
  #packed = new Map<ExecutedBlock, PackedBlock>()

  constructor(shown: PublishedSequence) {
    this.#shown = shown
  }

  /** Adds a reader and sends it the published record. */
  join(outbox: WorkerOutbox): void {
    this.#outboxes.add(outbox)
    const block = (one: ExecutedBlock): PackedBlock => this.packed(one)
    if (this.#last) outbox.publish(this.#last, { block, pending: packPending(undefined, this.#last.record.pending) })
  }

  leave(outbox: WorkerOutbox): void {
    this.#outboxes.delete(outbox)
  }

  /** Returns a block packed. An uncommitted block of the last record is packed already. */
  packed(block: ExecutedBlock): PackedBlock {
    return this.#packed.get(block) ?? packBlock(block)
  }

  publish(record: HeadRecord, sizes: ExecutionSizes): void {
    this.#packed = new Map(record.overlays.map((block) => [block, this.packed(block)]))
    const pack = (block: ExecutedBlock): PackedBlock => this.packed(block)
    const numbered = { record, sizes, number: this.#shown.latest + 1 }
    const pending = packPending(this.#last?.record.pending, record.pending)
    this.#last = numbered
    for (const outbox of this.#outboxes) outbox.publish(numbered, { block: pack, pending })
    this.#shown.show(numbered.number)
  }
}
