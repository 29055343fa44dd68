import { equalBytes, u64FromBytes } from '#lib/bytes'
import type { Kv, KvRange, KvReader, KvWriter, RowReader, SnapshotSource } from '../ports.ts'
import { tables } from '../tables.ts'
import { MovedRows } from './movedRows.ts'
import type { SegmentFiles } from './segmentFiles.ts'
import { blockTables, type SegmentRecord, segmentWith } from './segmentRecords.ts'

const isMovable = (table: number): boolean => blockTables.some(({ id }) => id === table)
/** Key of a block's row: number u64, then hash. */
const numberBytes = 8
const keyBytes = 40

/** Reads single rows of blocks from tables, then from segment files. Ranges are of the tables only. */
class SegmentedReader<R extends KvReader> implements KvReader {
  protected readonly inner: R
  readonly moved: RowReader
  readonly #files: SegmentFiles
  /** the last segment that was read */
  #last: SegmentRecord | undefined

  constructor(inner: R, files: SegmentFiles) {
    this.inner = inner
    this.#files = files
    this.moved = new MovedRows(inner, files)
  }

  get(table: number, key: Uint8Array): Uint8Array | undefined {
    return this.look(table, key, (value) => value.slice())
  }

  look<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    if (!isMovable(table) || key.length !== keyBytes) return this.inner.look(table, key, use)
    // an absent row is checked only where no file has it
    const found = this.inner.peek(table, key, (value) => ({ result: use(value) }))
    if (found) return found.result
    const row = this.#rowInSegment(table, key)
    return row ? use(row) : this.inner.look(table, key, use)
  }

  peek<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    return isMovable(table) ? this.look(table, key, use) : this.inner.peek(table, key, use)
  }

  range(table: number, range: KvRange): ReturnType<KvReader['range']> {
    return this.inner.range(table, range)
  }

  keys(table: number, range: KvRange): Iterable<Uint8Array> {
    return this.inner.keys(table, range)
  }

  /** Reads a row of a canonical block from a segment. */
  #rowInSegment(table: number, key: Uint8Array): Uint8Array | undefined {
    const number = u64FromBytes(key.subarray(0, numberBytes))
    const record = this.#segmentWith(table, number)
    if (record === undefined || !this.#isCanonical(key)) return undefined
    return this.#files.row(record, number)
  }

  #segmentWith(table: number, number: number): SegmentRecord | undefined {
    const last = this.#last
    if (last?.table === table && last.first <= number && number <= last.last) return last
    this.#last = segmentWith(this.inner, table, number)
    return this.#last
  }

  #isCanonical(key: Uint8Array): boolean {
    return (
      this.inner.look(tables.canonical.id, key.subarray(0, numberBytes), (hash) => equalBytes(hash, key.subarray(numberBytes))) ?? false
    )
  }
}

class SegmentedSnapshot extends SegmentedReader<KvReader & Disposable> implements Disposable {
  [Symbol.dispose](): void {
    this.inner[Symbol.dispose]()
  }
}

class SegmentedWriter extends SegmentedReader<KvWriter> implements KvWriter {
  put(table: number, key: Uint8Array, value: Uint8Array): void {
    this.inner.put(table, key, value)
  }

  delete(table: number, key: Uint8Array): void {
    this.inner.delete(table, key)
  }
}

/**
 * Returns the tables of the chain with the rows that are in segment files: `get` and `look` find those of blocks like other rows, in the writer's
 * transactions too, and `moved` has those of the log index. Ranges and deletions concern the tables only. A snapshot that has a row of a block in its tables
 * never reads a file for it. Disposing disposes both.
 */
export function withSegments(kv: Kv, files: SegmentFiles): Kv {
  return {
    ...readWithSegments(kv, files),
    write: (run) => kv.write((tx) => run(new SegmentedWriter(tx, files))),
    freeBytes: () => kv.freeBytes(),
  }
}

/** Does the same as `withSegments` for a thread that reads. */
export function readWithSegments(source: SnapshotSource, files: SegmentFiles): SnapshotSource {
  return {
    snapshot: () => new SegmentedSnapshot(source.snapshot(), files),
    async [Symbol.asyncDispose](): Promise<void> {
      await source[Symbol.asyncDispose]()
      files[Symbol.dispose]()
    },
  }
}
