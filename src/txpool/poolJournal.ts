import type { Log } from '#lib/log'
import type { Journal } from '#store/ports'

/** Maximum size of a record in bytes, not counting its last transaction. */
const recordBytes = 2 ** 20
/** A journal smaller than this is never rewritten, in bytes. */
const smallBytes = 2 ** 20

/** Encodes transactions, each with its length as u32 before it. */
function encodeRaws(raws: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const raw of raws) length += 4 + raw.length
  const out = new Uint8Array(length)
  const view = new DataView(out.buffer)
  let at = 0
  for (const raw of raws) {
    view.setUint32(at, raw.length)
    out.set(raw, at + 4)
    at += 4 + raw.length
  }
  return out
}

/** Decodes the complete transactions of a record. Each is copied into its own buffer. */
function* decodeRaws(bytes: Uint8Array): Generator<Uint8Array> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; bytes.length - at >= 4; ) {
    const end = at + 4 + view.getUint32(at)
    if (end > bytes.length) return
    yield bytes.slice(at + 4, end)
    at = end
  }
}

/**
 * Journal of the pool's transactions, for a restart. When the disk fails, the pool continues without the journal. The log has one warning until a
 * write succeeds again.
 */
export class PoolJournal {
  readonly #journal: Journal
  readonly #log: Log
  readonly #old = new Set<number>()
  #isFailing = false

  constructor(journal: Journal, log: Log) {
    this.#journal = journal
    this.#log = log
  }

  /** Reads the transactions that were in the journal when it was opened. The caller validates them. */
  *load(): Generator<Uint8Array> {
    try {
      for (const { kind, bytes, segment } of this.#journal.records()) {
        this.#old.add(segment)
        if (kind === 'transactions') yield* decodeRaws(bytes)
      }
    } catch (error) {
      this.#log.warn('cannot read the journal of the pool', { error })
    }
  }

  /** Appends transactions. They survive a kill of the process when this returns. */
  append(raws: readonly Uint8Array[]): void {
    if (raws.length > 0) this.#attempt(() => this.#append(raws))
  }

  /** Whether the journal should be rewritten: most of it is transactions that have left the pool. @param liveBytes size of those in the pool */
  isMostlyDead(liveBytes: number): boolean {
    const { sizeBytes } = this.#journal
    return !this.#isFailing && sizeBytes > smallBytes && sizeBytes > 2 * liveBytes
  }

  /** Replaces the contents of the journal. After a kill during the rewrite some transactions are in it twice. */
  rewrite(raws: Iterable<Uint8Array>): void {
    this.#attempt(() => {
      this.#journal.rotate()
      const first = this.#journal.segment
      let batch: Uint8Array[] = []
      let bytes = 0
      for (const raw of raws) {
        batch.push(raw)
        bytes += raw.length
        if (bytes < recordBytes) continue
        this.#append(batch)
        batch = []
        bytes = 0
      }
      if (batch.length > 0) this.#append(batch)
      for (const segment of this.#old) {
        if (segment >= first) continue
        this.#journal.drop(segment)
        this.#old.delete(segment)
      }
    })
  }

  #append(raws: readonly Uint8Array[]): void {
    this.#journal.append({ kind: 'transactions', bytes: encodeRaws(raws) })
    this.#old.add(this.#journal.segment)
  }

  #attempt(write: () => void): void {
    try {
      write()
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing) this.#log.warn('cannot write the journal of the pool, transactions are kept in memory only', { error })
      this.#isFailing = true
    }
  }
}
