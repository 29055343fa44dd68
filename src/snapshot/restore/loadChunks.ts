import { concatBytes, equalBytes, u32At } from '#lib/bytes'
import { snapshotFault } from '../faults.ts'
import { FormatError } from '../format/byteReader.ts'
import { accountsIn, blobsIn } from '../format/chunks.ts'
import { type ChunkEntry, nibblesOfText } from '../format/manifest.ts'
import type { StateLoader } from '../load/stateLoader.ts'
import { checkChunk, reading, type Trusted } from './checkChunk.ts'
import type { SnapshotReader } from './snapshotReader.ts'

/** Receiver of a state: a store, or a computation of the root alone. */
export type StateSink = Pick<
  StateLoader,
  'code' | 'addAccounts' | 'addSlots' | 'endAccount' | 'sealAccounts' | 'sealSlots' | 'commit' | 'cursor' | 'position' | 'isDue'
>

/** Called with the size of chunks, in parts: loaded now, or by an earlier run. */
export type OnBytes = (size: number, when: 'now' | 'before') => void

/** Index of the chunk to load next; of a chunk of accounts with the next chunk of slots in it, when it is loaded in part. */
type Cursor = { readonly chunk: number; readonly slots: number }

const u32 = (value: number): Uint8Array => Uint8Array.of(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255)
const encodeCursor = ({ chunk, slots }: Cursor): Uint8Array => concatBytes(u32(chunk), u32(slots))
const decodeCursor = (bytes: Uint8Array): Cursor =>
  bytes.length === 8 ? { chunk: u32At(bytes, 0), slots: u32At(bytes, 4) } : { chunk: 0, slots: 0 }

/**
 * Loads codes, accounts and slots of a snapshot, from where the sink stands. Each chunk is verified before one of its rows is written.
 * @param entries those of the manifest of kinds codes, accounts and slots, in its order
 * @throws Fault CHUNK_DAMAGED, those of the reader and of the sink
 */
export async function loadChunks(
  reader: SnapshotReader,
  entries: readonly ChunkEntry[],
  trusted: Trusted,
  sink: StateSink,
  onBytes: OnBytes = () => {},
): Promise<void> {
  await new ChunkLoader(reader, entries, trusted, sink, onBytes).run()
}

class ChunkLoader {
  readonly #reader: SnapshotReader
  readonly #entries: readonly ChunkEntry[]
  readonly #trusted: Trusted
  readonly #sink: StateSink
  readonly #onBytes: OnBytes
  readonly #start: Cursor
  /** indexes of the chunks to read */
  readonly #wanted: readonly number[]
  readonly #contents: ReturnType<SnapshotReader['contents']>
  #at = 0

  constructor(reader: SnapshotReader, entries: readonly ChunkEntry[], trusted: Trusted, sink: StateSink, onBytes: OnBytes) {
    this.#reader = reader
    this.#entries = entries
    this.#trusted = trusted
    this.#sink = sink
    this.#onBytes = onBytes
    const start = decodeCursor(sink.cursor)
    this.#start = start
    const from = (first: number): number[] => Array.from({ length: Math.max(0, entries.length - first) }, (_, i) => first + i)
    this.#wanted = start.slots === 0 ? from(start.chunk) : [start.chunk, ...from(start.slots)]
    this.#contents = reader.contents(this.#wanted.flatMap((index) => entries[index] ?? []))
  }

  async run(): Promise<void> {
    const wanted = new Set(this.#wanted)
    this.#onBytes(
      this.#entries.reduce((sum, { size }, index) => sum + (wanted.has(index) ? 0 : size), 0),
      'before',
    )
    try {
      for (let index = this.#index; index < this.#entries.length; index = this.#index) await this.#load(index)
      this.#commit({ chunk: this.#entries.length, slots: 0 }, 'always')
    } finally {
      await this.#contents.return(undefined)
    }
  }

  /** Index of the next chunk. */
  get #index(): number {
    return this.#wanted[this.#at] ?? this.#entries.length
  }

  async #load(index: number): Promise<void> {
    const isOpen = this.#at === 0 && this.#start.slots > 0
    const { entry, raw } = await this.#next()
    if (entry.kind === 'codes') {
      reading(entry, this.#reader.place, () => {
        for (const code of blobsIn(raw)) this.#sink.code(code)
      })
    } else if (entry.kind === 'accounts') await this.#addAccounts(index, entry, raw, isOpen ? this.#sink.position?.account : undefined)
    else throw this.#damaged(entry, 'its account is not before it')
    // codes are read by the accounts that have them
    this.#commit({ chunk: this.#index, slots: 0 }, entry.kind === 'codes' ? 'always' : 'when due')
  }

  /** Reads the next chunk and verifies it. */
  async #next(): Promise<{ readonly entry: ChunkEntry; readonly raw: Uint8Array }> {
    const read = await this.#contents.next()
    if (read.done) throw new RangeError('no chunk is left')
    this.#at++
    const { entry, raw } = read.value
    if (!this.#isSealed(entry)) checkChunk(entry, raw, this.#trusted, this.#reader.place)
    this.#onBytes(entry.size, 'now')
    return read.value
  }

  /**
   * Returns whether a chunk is verified by sealing its part of the trie after its rows are added, which hashes them once. All other chunks are verified
   * before: those without a prefix, and accounts whose slots follow in chunks, because rows of these may be written in between.
   */
  #isSealed({ kind, prefix = '' }: ChunkEntry): boolean {
    if (prefix === '') return false
    return kind === 'slots' || (kind === 'accounts' && this.#entries[this.#index]?.kind !== 'slots')
  }

  /** Verifies the rows of a chunk that were added, none of which is written yet. */
  #seal(entry: ChunkEntry, root: Uint8Array | undefined, seal: (depth: number) => Uint8Array): void {
    const prefix = nibblesOfText(entry.prefix ?? '')
    const part = root && this.#trusted.top.partWith(root, prefix)
    if (part === undefined || !equalBytes(seal(prefix.length), part)) throw new FormatError('its rows are not those of the state root')
  }

  /** @param open key of the account that is loaded in part */
  async #addAccounts(index: number, entry: ChunkEntry, raw: Uint8Array, open: Uint8Array | undefined): Promise<void> {
    const isSealed = open === undefined && this.#isSealed(entry)
    const prefix = isSealed ? nibblesOfText(entry.prefix ?? '') : undefined
    const add = (from: number): number | undefined => reading(entry, this.#reader.place, () => this.#sink.addAccounts(raw, from, prefix))
    for (let stop = open ? this.#endOf(open, entry, raw) : add(0); stop !== undefined; stop = add(stop)) {
      const account = Buffer.from(this.#sink.position?.account ?? []).toString('hex')
      while (this.#entries[this.#index]?.account === account) await this.#addSlots(index)
      const root = this.#sink.endAccount()
      if (root === undefined || !equalBytes(root, raw.subarray(stop - 32, stop))) {
        throw this.#damaged(entry, `the slots of account ${account} are not whole`)
      }
    }
    if (isSealed) {
      reading(entry, this.#reader.place, () => this.#seal(entry, this.#trusted.stateRoot, (depth) => this.#sink.sealAccounts(depth)))
    }
  }

  /** Returns the offset after an account whose slots are in chunks of their own. */
  #endOf(account: Uint8Array, entry: ChunkEntry, raw: Uint8Array): number {
    return reading(entry, this.#reader.place, () => {
      for (const { key, storageRoot } of accountsIn(raw)) {
        if (equalBytes(key, account) && storageRoot) return storageRoot.byteOffset - raw.byteOffset + 32
      }
      throw new FormatError('the account that is loaded in part is not in it')
    })
  }

  async #addSlots(chunk: number): Promise<void> {
    const { entry, raw } = await this.#next()
    const isSealed = this.#isSealed(entry)
    reading(entry, this.#reader.place, () => {
      this.#sink.addSlots(raw, isSealed ? nibblesOfText(entry.prefix ?? '') : undefined)
      const root = this.#trusted.storageRoots.get(entry.account ?? '')
      if (isSealed) this.#seal(entry, root, (depth) => this.#sink.sealSlots(depth))
    })
    this.#commit({ chunk, slots: this.#index }, 'when due')
  }

  #commit(cursor: Cursor, when: 'always' | 'when due'): void {
    if (when === 'always' || this.#sink.isDue) this.#sink.commit(encodeCursor(cursor))
  }

  #damaged(entry: ChunkEntry, reason: string): Error {
    return snapshotFault('CHUNK_DAMAGED', { chunk: entry.name, place: this.#reader.place, reason })
  }
}
