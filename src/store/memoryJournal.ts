import type { Journal, JournalRecord } from './ports.ts'

const recordOverheadBytes = 9

class MemoryJournal implements Journal {
  readonly #segments: Map<number, JournalRecord[]>
  readonly #old: readonly (JournalRecord & { readonly segment: number })[]
  segment: number
  sizeBytes = 0

  constructor(segments: Map<number, JournalRecord[]>) {
    this.#segments = segments
    this.#old = [...segments].flatMap(([segment, records]) => records.map((record) => ({ ...record, segment })))
    for (const { bytes } of this.#old) this.sizeBytes += recordOverheadBytes + bytes.length
    this.segment = Math.max(0, ...segments.keys()) + 1
  }

  records(): Iterable<JournalRecord & { readonly segment: number }> {
    return this.#old
  }

  append({ kind, bytes }: JournalRecord): void {
    const records = this.#segments.get(this.segment) ?? []
    this.#segments.set(this.segment, records)
    records.push({ kind, bytes: bytes.slice() })
    this.sizeBytes += recordOverheadBytes + bytes.length
  }

  rotate(): void {
    if (this.#segments.has(this.segment)) this.segment++
  }

  drop(segment: number): void {
    for (const { bytes } of this.#segments.get(segment) ?? []) this.sizeBytes -= recordOverheadBytes + bytes.length
    this.#segments.delete(segment)
  }

  [Symbol.dispose](): void {}
}

/** @param segments what a journal opened later on the same map finds, as it would on a disk */
export function createMemoryJournal(segments: Map<number, JournalRecord[]> = new Map()): Journal {
  return new MemoryJournal(segments)
}
