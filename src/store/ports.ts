/** Keys have 1 to 500 bytes. A consistent view of all tables; values and keys that come out are copies the caller may keep. */
export interface KvReader {
  get(table: number, key: Uint8Array): Uint8Array | undefined
  /**
   * As `get`, without a copy: the value is only lent, until the function returns, and nothing else is read meanwhile.
   * @returns what the function made of it; undefined when there is no such key
   */
  look<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined
  /** Entries with `from` ≤ key < `to`, ascending, or descending when `reverse`; at most `limit`. */
  range(table: number, range: KvRange): Iterable<{ readonly key: Uint8Array; readonly value: Uint8Array }>
  /** The keys of the same entries: cheaper than their values. */
  keys(table: number, range: KvRange): Iterable<Uint8Array>
}

export type KvRange = {
  readonly from?: Uint8Array
  readonly to?: Uint8Array
  readonly reverse?: boolean
  readonly limit?: number
}

/** Reads see the writes of the same transaction; entries written to a range while it is walked may or may not come. */
export interface KvWriter extends KvReader {
  /** The value is copied. */
  put(table: number, key: Uint8Array, value: Uint8Array): void
  delete(table: number, key: Uint8Array): void
}

/** Where readers of any thread get their snapshots. Closing it ends them too: reading them is an error, disposing of them is not. */
export interface SnapshotSource extends AsyncDisposable {
  /** A snapshot that later writes do not change; dispose of it soon. */
  snapshot(): KvReader & Disposable
}

/**
 * Ordered bytes to bytes in tables, one writer, snapshots for readers. Table ids come from the registry `tables.ts`.
 */
export interface Kv extends SnapshotSource {
  /**
   * Runs the function in one transaction: all of it is kept, or, when it throws, none. What is kept survives a kill of the process at any
   * instant; a loss of power may cost the last transactions, in order. Not to be nested; snapshots are not read inside.
   */
  write<T>(run: (tx: KvWriter) => T): T
  /** What may still be written where the tables are. Plenty when nobody can say. */
  freeBytes(): number
}

export type JournalRecord = { readonly kind: 'block' | 'heads' | 'transactions'; readonly bytes: Uint8Array }

/** Where a record is: its segment, and its first byte in the segment. */
export type JournalPlace = { readonly segment: number; readonly offset: number }

export type PlacedRecord = JournalRecord & JournalPlace

/** A record that would make a segment longer begins the next segment. */
export const defaultSegmentBytes = 64 * 2 ** 20

/**
 * Records in the order they were appended, kept in numbered segments of bounded size that are removed as a whole. One owner, one thread.
 */
export interface Journal extends Disposable {
  /**
   * Reads the records that were there when the journal was opened, oldest first. The bytes of a record are valid until the next one is read.
   * @throws Fault STORE_FAILED (fatal)
   */
  records(): Iterable<PlacedRecord>
  /**
   * Reads the bytes of one record again.
   * @throws Fault STORE_FAILED (fatal) when they are damaged; RangeError when the segment was dropped
   */
  read(place: JournalPlace): Uint8Array
  /** The segment that the next record goes to. */
  readonly segment: number
  /** of all segments */
  readonly sizeBytes: number
  /**
   * When this returns the record survives a kill of the process at any instant; a loss of power may cost the last ones, in order.
   * @throws Fault DISK_FULL (retry), STORE_FAILED (fatal): then nothing was appended
   */
  append(record: JournalRecord): JournalPlace
  /** Begins the next segment, unless this one is empty. @throws as `append` */
  rotate(): void
  /** Removes a segment before the present one. One that comes back after a kill holds what it held. */
  drop(segment: number): void
}
