/** A row of a table. */
export type Row = { readonly key: Uint8Array; readonly value: Uint8Array }

/** A consistent view of all tables. Keys have 1 to 500 bytes. Returned keys and values are copies that the caller may keep. */
export interface KvReader {
  get(table: number, key: Uint8Array): Uint8Array | undefined
  /**
   * Reads a value like `get`, without a copy. The value is valid until `use` returns, and `use` must not read from the store.
   * @returns the result of `use`; undefined when the key is absent
   */
  look<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined
  /** Like `look`, without the check that an absent row is absent. For callers that detect a missing row themselves, for example by a hash. */
  peek<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined
  /** Iterates over entries with `from` ≤ key < `to`, ascending, or descending with `reverse`; at most `limit`. */
  range(table: number, range: KvRange): Iterable<Row>
  /** Iterates over the keys of the same entries, without the cost of reading long values. */
  keys(table: number, range: KvRange): Iterable<Uint8Array>
  /** Rows of the log index that have left its table for segment files; absent where there are no segment files. */
  readonly moved?: RowReader | undefined
}

/** Rows of tables. Ranges of rows in segment files are ascending, have both ends, and are of one kind of row. */
export type RowReader = Pick<KvReader, 'look' | 'range' | 'keys'>

export type KvRange = {
  readonly from?: Uint8Array | undefined
  readonly to?: Uint8Array | undefined
  readonly reverse?: boolean | undefined
  readonly limit?: number | undefined
}

/** Reads see the writes of the same transaction. Entries written to a range during its iteration may or may not appear. */
export interface KvWriter extends KvReader {
  /** Stores a copy of the value. The key must not change until the write ends. */
  put(table: number, key: Uint8Array, value: Uint8Array): void
  delete(table: number, key: Uint8Array): void
}

/** Source of snapshots for readers in any thread. Closing it ends its snapshots: reading them then throws, disposing of them does not. */
export interface SnapshotSource extends AsyncDisposable {
  /** Returns a snapshot that later writes do not change. Dispose of it soon. */
  snapshot(): KvReader & Disposable
}

/** Tables of ordered byte keys and values, with one writer and snapshots for readers. Table ids come from the registry `tables.ts`. */
export interface Kv extends SnapshotSource {
  /**
   * Runs the function in one transaction, which is committed whole, or not at all when the function throws. A commit survives a kill of the process
   * at any instant; a power loss may cost the last transactions, in order. Transactions must not be nested, and `run` must not read snapshots.
   * @throws Fault DISK_FULL (retry): nothing was written; STORE_FAILED (fatal)
   */
  write<T>(run: (tx: KvWriter) => T): T
  /** Returns the bytes that may still be written to the disk of the tables; infinity when unknown. */
  freeBytes(): number
}

export type JournalRecord = { readonly kind: 'block' | 'heads' | 'transactions'; readonly bytes: Uint8Array }

/** Location of a record: its segment and its byte offset in the segment. */
export type JournalPlace = { readonly segment: number; readonly offset: number }

export type PlacedRecord = JournalRecord & JournalPlace

/** Maximum segment size. A record that would exceed it starts the next segment. */
export const defaultSegmentBytes = 64 * 2 ** 20

/** Records in append order, stored in numbered segments of bounded size that are removed as a whole. One owner, one thread. */
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
  /** The segment of the next record. */
  readonly segment: number
  /** Size of all segments. */
  readonly sizeBytes: number
  /**
   * Appends a record. After it returns, the record survives a kill of the process at any instant; a power loss may cost the last records, in order.
   * @throws Fault DISK_FULL (retry), STORE_FAILED (fatal); the record is not appended
   */
  append(record: JournalRecord): JournalPlace
  /** Starts the next segment, unless the current one is empty. @throws as `append` */
  rotate(): void
  /** Removes a segment before the current one. A segment that reappears after a kill has its old content. */
  drop(segment: number): void
}
