import type { Place, PoolEntry } from './entry.ts'

/** One of the transactions that became pending, in the order in which they did. */
export type Addition = { readonly entry: PoolEntry; next: Addition | undefined }
/** The latest of them: who keeps it finds in `next` what comes after, and keeps nothing of what came before. */
export type LastAddition = { next: Addition | undefined }

/** What the queues of all senders hold together. */
export class PoolTotals {
  pending = 0
  queued = 0
  /** as bounded */
  heldBytes = 0
  /** of the transactions themselves */
  rawBytes = 0
  last: LastAddition = { next: undefined }
  /** of the call that goes on; on the clock that never jumps */
  nowMs = 0

  /** A transaction that came, as queued. */
  enter(entry: PoolEntry): void {
    this.queued++
    this.heldBytes += entry.heldBytes
    this.rawBytes += entry.raw.length
    entry.place = 'queued'
    entry.queuedSinceMs = this.nowMs
  }

  /** Between pending and queued, or out. */
  move(entry: PoolEntry, place: Place): void {
    if (entry.place === place) return
    if (entry.place === 'pending') this.pending--
    else this.queued--
    entry.place = place
    if (place === 'pending') {
      this.pending++
      const addition: Addition = { entry, next: undefined }
      this.last.next = addition
      this.last = addition
    } else if (place === 'queued') {
      this.queued++
      entry.queuedSinceMs = this.nowMs
    } else {
      this.heldBytes -= entry.heldBytes
      this.rawBytes -= entry.raw.length
    }
  }
}
