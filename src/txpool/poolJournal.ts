import type { Log } from '#lib/log'
import type { Journal } from '#store/ports'

/** A record is as long at most, beyond the last transaction in it. */
const recordBytes = 2 ** 20
/** Below this size what is dead in a journal is nobody's concern. */
const smallBytes = 2 ** 20

/** Transactions one after another, each after its length as u32. */
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

/** What is whole of a record; each in bytes of its own. */
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
 * The pool's transactions on disk, so that a restart has them. A disk that fails costs no more than that: the pool goes on without, and the log
 * says so once until it works again.
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

  /** What was kept when it was opened. Whatever the bytes are is for the caller to judge. */
  *load(): Generator<Uint8Array> {
    try {
      for (const { kind, bytes, segment } of this.#journal.records()) {
        this.#old.add(segment)
        if (kind === 'transactions') yield* decodeRaws(bytes)
      }
    } catch (error) {
      this.#log.warn('the journal of the pool cannot be read', { error })
    }
  }

  /** Survives a kill when this returns. */
  append(raws: readonly Uint8Array[]): void {
    if (raws.length > 0) this.#attempt(() => this.#append(raws))
  }

  /** Whether it is worth writing anew: most of it is of transactions that the pool has no more. @param liveBytes of those that it has */
  isMostlyDead(liveBytes: number): boolean {
    const { sizeBytes } = this.#journal
    return !this.#isFailing && sizeBytes > smallBytes && sizeBytes > 2 * liveBytes
  }

  /** Begins anew with these. A kill meanwhile leaves some of them twice. */
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
      if (!this.#isFailing) this.#log.warn('transactions are kept in memory only: the journal of the pool cannot be written', { error })
      this.#isFailing = true
    }
  }
}
