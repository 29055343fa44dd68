import { sizeOfRecord } from './journalSegment.ts'
import { defaultSegmentBytes, type Journal, type JournalPlace, type JournalRecord, type PlacedRecord } from './ports.ts'

class MemoryJournal implements Journal {
  readonly #segments: Map<number, JournalRecord[]>
  readonly #maxSegmentBytes: number
  readonly #old: readonly PlacedRecord[]
  segment: number
  sizeBytes = 0
  #segmentBytes = 0

  constructor(segments: Map<number, JournalRecord[]>, maxSegmentBytes: number) {
    this.#segments = segments
    this.#maxSegmentBytes = maxSegmentBytes
    this.#old = [...segments].flatMap(([segment, records]) => [...placed(segment, records)])
    for (const record of this.#old) this.sizeBytes += sizeOfRecord(record)
    this.segment = Math.max(0, ...segments.keys()) + 1
  }

  records(): Iterable<PlacedRecord> {
    return this.#old
  }

  read({ segment, offset }: JournalPlace): Uint8Array {
    for (const record of placed(segment, this.#segments.get(segment) ?? [])) if (record.offset === offset) return record.bytes.slice()
    throw new RangeError(`journal: no record in segment ${segment} at byte ${offset}`)
  }

  append({ kind, bytes }: JournalRecord): JournalPlace {
    const record = { kind, bytes: bytes.slice() }
    if (this.#segmentBytes + sizeOfRecord(record) > this.#maxSegmentBytes) this.rotate()
    const records = this.#segments.get(this.segment) ?? []
    this.#segments.set(this.segment, records)
    const place = { segment: this.segment, offset: this.#segmentBytes }
    records.push(record)
    this.sizeBytes += sizeOfRecord(record)
    this.#segmentBytes += sizeOfRecord(record)
    return place
  }

  rotate(): void {
    if (this.#segments.has(this.segment)) this.segment++
    this.#segmentBytes = 0
  }

  drop(segment: number): void {
    for (const record of this.#segments.get(segment) ?? []) this.sizeBytes -= sizeOfRecord(record)
    this.#segments.delete(segment)
  }

  [Symbol.dispose](): void {}
}

function* placed(segment: number, records: readonly JournalRecord[]): Generator<PlacedRecord> {
  let offset = 0
  for (const record of records) {
    yield { ...record, segment, offset }
    offset += sizeOfRecord(record)
  }
}

/** Creates a journal in memory. @param segments storage; a journal opened later on the same map finds its records, as on a disk */
export function createMemoryJournal(
  segments: Map<number, JournalRecord[]> = new Map(),
  maxSegmentBytes: number = defaultSegmentBytes,
): Journal {
  return new MemoryJournal(segments, maxSegmentBytes)
}
