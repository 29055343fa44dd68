import type { L1Cache, L1CacheEntry, L1CacheKind } from '#l1/cache'
import type { Clock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import type { Log } from '#lib/log'
import type { Kv, KvWriter } from '#store/ports'
import { type Hash, hashFromBytes } from '#types/ids'

/** Row of a stored entry. */
type StoredEntry = { readonly key: Uint8Array; readonly sizeBytes: number }

const kinds: readonly L1CacheKind[] = ['block', 'blob']
const keyBytes = 8 + 1 + 32 + 4
/** Longest wait of an entry to be written with others, and bytes that one transaction writes. */
const gatherMs = 250
const batchBytes = 2 * 1_048_576
/** Bytes of entries that wait, above which no more are kept. */
const maxWaitingBytes = 32 * 1_048_576
/** Time without writes after the disk refused one. */
const refusedMs = 60_000
const evictedAtOnce = 256

/** Encodes number u64 ++ kind u8 ++ hash ++ size u32: keys are in the order of eviction, and give the size without the value. */
function keyOf({ kind, number, hash, bytes }: L1CacheEntry): Uint8Array {
  const key = new Uint8Array(keyBytes)
  const view = new DataView(key.buffer)
  view.setBigUint64(0, BigInt(number))
  key[8] = kinds.indexOf(kind)
  key.set(fromHex(hash), 9)
  view.setUint32(41, bytes.length)
  return key
}

type KeyParts = { readonly number: number; readonly kind: L1CacheKind; readonly hash: Hash; readonly sizeBytes: number }

/** Returns undefined for a key of another table. */
function partsOf(key: Uint8Array): KeyParts | undefined {
  const kind = kinds[key[8] ?? -1]
  if (key.length !== keyBytes || kind === undefined) return undefined
  const view = new DataView(key.buffer, key.byteOffset, key.length)
  return { number: Number(view.getBigUint64(0)), kind, hash: hashFromBytes(key.subarray(9, 41)), sizeBytes: view.getUint32(41) }
}

/**
 * L1 cache over one table of the consensus store. Entries are written with a delay, a few megabytes per transaction; a kill before that loses them. When they
 * arrive faster than they are written, some are not kept.
 * Above `maxBytes` the lowest L1 numbers are evicted. Opening reads all keys. Disposing writes waiting entries; later calls keep nothing.
 */
export class L1CacheTable implements L1Cache, Disposable {
  readonly #kv: Kv
  readonly #clock: Clock
  readonly #log: Log
  readonly #table: number
  readonly #maxBytes: number
  /** stored entries, by kind and hash */
  readonly #stored = new Map<string, StoredEntry>()
  readonly #blockAt = new Map<number, Hash>()
  /** entries to be written, by kind and hash */
  #waiting = new Map<string, L1CacheEntry>()
  #dropped: StoredEntry[] = []
  #writtenBytes = 0
  #waitingBytes = 0
  #timer: Disposable | undefined
  #isClosed = false
  #refusedUntilMs = Number.NEGATIVE_INFINITY

  constructor(
    { kv, clock, log }: { readonly kv: Kv; readonly clock: Clock; readonly log: Log },
    { table, maxBytes }: { readonly table: number; readonly maxBytes: number },
  ) {
    this.#kv = kv
    this.#clock = clock
    this.#log = log
    this.#table = table
    this.#maxBytes = maxBytes
    using reader = kv.snapshot()
    for (const key of reader.keys(table, {})) this.#index(key)
  }

  /** Returns the bytes of stored and waiting entries. */
  get sizeBytes(): number {
    return this.#writtenBytes + this.#waitingBytes
  }

  hashAt(number: number): Hash | undefined {
    return this.#blockAt.get(number)
  }

  read(kind: L1CacheKind, hash: Hash): Uint8Array | undefined {
    const name = kind + hash
    const waiting = this.#waiting.get(name)
    if (waiting) return waiting.bytes
    const stored = this.#stored.get(name)
    if (stored === undefined || this.#isClosed) return undefined
    using reader = this.#kv.snapshot()
    return reader.get(this.#table, stored.key)
  }

  keep(entry: L1CacheEntry): void {
    if (this.#isClosed) return
    const name = entry.kind + entry.hash
    const isKept = this.#stored.has(name) || this.#waiting.has(name)
    if (isKept || entry.bytes.length > this.#maxBytes || this.#clock.elapsedMs() < this.#refusedUntilMs) return
    if (this.#waitingBytes > 0 && this.#waitingBytes + entry.bytes.length > maxWaitingBytes) return
    if (entry.kind === 'block') this.#replaceBlock(entry)
    this.#waiting.set(name, entry)
    this.#waitingBytes += entry.bytes.length
    this.#schedule()
  }

  drop(kind: L1CacheKind, hash: Hash): void {
    if (this.#isClosed) return
    const name = kind + hash
    const waiting = this.#waiting.get(name)
    if (waiting) this.#forgetWaiting(name, waiting)
    const stored = this.#stored.get(name)
    if (stored === undefined) return
    this.#forget(name, stored)
    this.#dropped.push(stored)
    this.#schedule()
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    while (this.#waiting.size > 0 || this.#dropped.length > 0) this.#write()
    this.#timer?.[Symbol.dispose]()
  }

  #index(key: Uint8Array): void {
    const parts = partsOf(key)
    if (parts === undefined) return
    const { kind, hash, number, sizeBytes } = parts
    this.#stored.set(kind + hash, { key, sizeBytes })
    this.#writtenBytes += sizeBytes
    if (kind === 'block') this.#blockAt.set(number, hash)
  }

  #replaceBlock({ number, hash }: L1CacheEntry): void {
    const old = this.#blockAt.get(number)
    if (old !== undefined && old !== hash) this.drop('block', old)
    this.#blockAt.set(number, hash)
  }

  #forget(name: string, { key, sizeBytes }: StoredEntry): void {
    this.#stored.delete(name)
    this.#writtenBytes -= sizeBytes
    const parts = partsOf(key)
    if (parts?.kind === 'block' && this.#blockAt.get(parts.number) === parts.hash) this.#blockAt.delete(parts.number)
  }

  #forgetWaiting(name: string, { kind, number, hash, bytes }: L1CacheEntry): void {
    this.#waiting.delete(name)
    this.#waitingBytes -= bytes.length
    if (kind === 'block' && this.#blockAt.get(number) === hash) this.#blockAt.delete(number)
  }

  #schedule(): void {
    this.#timer ??= this.#clock.after(gatherMs, () => {
      this.#timer = undefined
      this.#write()
      if (this.#waiting.size > 0) this.#schedule()
    })
  }

  /** Writes one transaction: deletes dropped entries, writes one batch, evicts entries above the bound. */
  #write(): void {
    const dropped = this.#dropped
    const batch = this.#nextBatch()
    this.#dropped = []
    try {
      this.#kv.write((tx) => {
        for (const { key } of dropped) tx.delete(this.#table, key)
        for (const entry of batch) tx.put(this.#table, keyOf(entry), entry.bytes)
        this.#evict(tx, batch)
      })
    } catch (error) {
      this.#refused(error)
    }
  }

  #nextBatch(): readonly L1CacheEntry[] {
    const batch: L1CacheEntry[] = []
    let bytes = 0
    for (const entry of this.#waiting.values()) {
      if (batch.length > 0 && bytes + entry.bytes.length > batchBytes) break
      batch.push(entry)
      bytes += entry.bytes.length
    }
    return batch
  }

  #evict(tx: KvWriter, batch: readonly L1CacheEntry[]): void {
    for (const entry of batch) {
      this.#waiting.delete(entry.kind + entry.hash)
      this.#waitingBytes -= entry.bytes.length
      this.#index(keyOf(entry))
    }
    while (this.#writtenBytes > this.#maxBytes) {
      const oldest = [...tx.keys(this.#table, { limit: evictedAtOnce })]
      if (oldest.length === 0) return
      for (const key of oldest) {
        if (this.#writtenBytes <= this.#maxBytes) break
        const parts = partsOf(key)
        if (parts) this.#forget(parts.kind + parts.hash, { key, sizeBytes: parts.sizeBytes })
        tx.delete(this.#table, key)
      }
    }
  }

  /** Reads the keys again after a failed write: the state of the table is unknown. */
  #refused(error: unknown): void {
    this.#log.warn('L1 cache not written', { error })
    this.#refusedUntilMs = this.#clock.elapsedMs() + refusedMs
    this.#waiting = new Map()
    this.#waitingBytes = 0
    this.#stored.clear()
    this.#blockAt.clear()
    this.#writtenBytes = 0
    using reader = this.#kv.snapshot()
    for (const key of reader.keys(this.#table, {})) this.#index(key)
  }
}
