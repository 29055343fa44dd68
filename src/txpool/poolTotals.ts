import type { EntryState, PoolEntry } from './entry.ts'

/** Linked list of transactions in the order in which they became pending. */
export type Addition = { readonly entry: PoolEntry; next: Addition | undefined }
/** The last addition. A reader that keeps it follows `next` to later additions, and does not retain earlier ones. */
export type LastAddition = { next: Addition | undefined }

/** Totals over the queues of all senders. */
export class PoolTotals {
  pending = 0
  queued = 0
  /** approximate memory, in bytes, as counted towards the limits */
  heldBytes = 0
  /** size of the EIP-2718 bytes */
  rawBytes = 0
  last: LastAddition = { next: undefined }
  /** time of the current call, on the monotonic clock */
  nowMs = 0

  /** Adds a new transaction, as queued. */
  enter(entry: PoolEntry): void {
    this.queued++
    this.heldBytes += entry.heldBytes
    this.rawBytes += entry.raw.length
    entry.place = 'queued'
    entry.queuedSinceMs = this.nowMs
  }

  /** Moves a transaction between pending and queued, or removes it. */
  move(entry: PoolEntry, place: EntryState): void {
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
