import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Clock } from '#lib/clock'
import { type Endpoint, parseEndpoint } from '#lib/endpoint'
import { errorMessage, type Fault, isFault } from '#lib/fault'
import { flushPath } from '#store/flush'
import { storeFailure } from '#store/lmdb/failure'
import { segmentProblem } from '#store/segments/segmentCheck'
import { snapshotFault } from '../faults.ts'
import { bounds, type ChunkEntry, fileOf, manifestName, sha256 } from '../format/manifest.ts'
import { FileSink, MemorySink, type Sink } from './sinks.ts'

export type PlaceDeps = { readonly clock: Clock; readonly fetch: typeof fetch }

/** A directory or mirrors that have one snapshot. */
export interface SnapshotPlace {
  /** without credentials */
  readonly name: string
  /** directory with the files; absent: they are downloaded */
  readonly dir?: string
  /**
   * Returns the current manifest.
   * @param parse called with a file and the name of its place; when it throws a Fault, the next mirror is asked
   * @throws Fault MANIFEST_UNAVAILABLE (retry); the first one of `parse`, when no mirror has another file
   */
  manifest<T>(parse: (file: Uint8Array, place: string) => T, signal: AbortSignal): Promise<T>
  /**
   * Returns the bytes of a chunk, whose hash is that of its name.
   * @returns 'missing' when the place answers that it does not have the chunk
   * @throws Fault CHUNK_UNAVAILABLE (retry), CHUNK_DAMAGED (fatal)
   */
  chunk(entry: ChunkEntry, signal: AbortSignal): Promise<Uint8Array | 'missing'>
  /**
   * Writes a chunk to a file, which appears whole or not at all. Memory: a part of it.
   * @param path name of the file; only one file is written to a directory at a time
   * @throws as `chunk`; Fault DISK_FULL (retry), STORE_FAILED (fatal)
   */
  download(entry: ChunkEntry, path: string, signal: AbortSignal): Promise<'whole' | 'missing'>
}

/** Least pace of a download: `bytes`, or the rest, in each `ms`. A slower download is broken off. */
const leastPace = { bytes: 65_536, ms: 20_000 }
/** Time in which all mirrors together send fewer bytes than that, after which a chunk fails. */
const patienceMs = 180_000
/** Time of a whole manifest, which has tens of megabytes in a full snapshot. */
const manifestMs = 300_000
const pauseMs = 1_000
/** Requests for a manifest to each mirror. */
const manifestRounds = 4
/** Damaged downloads of one chunk from one mirror. */
const mostDamaged = 2

/** Returns the place of `DIR` or of `URL[,URL]`. */
export function placeOf(deps: PlaceDeps, text: string): SnapshotPlace {
  const endpoints = text.split(',').map((part) => parseEndpoint(part.trim(), ['http:', 'https:']))
  const mirrors = endpoints.filter((endpoint) => endpoint !== undefined)
  return mirrors.length === endpoints.length ? new Mirrors(deps, mirrors) : new Directory(text)
}

const wrongHash = 'its hash is not its name'

/** Returns the name under which a file is written, which the next start of a node removes. */
const temporaryOf = (path: string): string => join(dirname(path), '0.tmp')

/** Copies a file, which appears whole or not at all. @throws Fault DISK_FULL (retry), STORE_FAILED (fatal) */
function copyFlushed(from: string, path: string): void {
  const temporary = temporaryOf(path)
  try {
    copyFileSync(from, temporary)
    flushPath(temporary)
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw storeFailure(dirname(path), error)
  }
}

class Directory implements SnapshotPlace {
  readonly name: string
  readonly dir: string

  constructor(dir: string) {
    this.name = dir
    this.dir = dir
  }

  async manifest<T>(parse: (file: Uint8Array, place: string) => T): Promise<T> {
    return parse(this.#manifestFile(), this.name)
  }

  #manifestFile(): Uint8Array {
    const path = join(this.name, manifestName)
    try {
      if (statSync(path).size > bounds.manifestBytes) throw new Error('the file is too large')
      return readFileSync(path)
    } catch (error) {
      throw snapshotFault('MANIFEST_UNAVAILABLE', { place: this.name, reason: errorMessage(error) }, error)
    }
  }

  async chunk(entry: ChunkEntry): Promise<Uint8Array | 'missing'> {
    const path = join(this.name, fileOf(entry))
    if (!existsSync(path)) return 'missing'
    const damaged = (reason: string): Error => snapshotFault('CHUNK_DAMAGED', { chunk: entry.name, place: this.name, reason })
    const { size } = statSync(path)
    if (size !== entry.size) throw damaged(`it has ${size} bytes, expected ${entry.size}`)
    const bytes = readFileSync(path)
    if (sha256(bytes) !== entry.name) throw damaged(wrongHash)
    return bytes
  }

  async download(entry: ChunkEntry, path: string): Promise<'whole' | 'missing'> {
    const from = join(this.name, fileOf(entry))
    if (!existsSync(from)) return 'missing'
    const reason = segmentProblem(from, { digest: entry.name, fileBytes: entry.size })
    if (reason !== undefined) throw snapshotFault('CHUNK_DAMAGED', { chunk: entry.name, place: this.name, reason })
    if (from !== path) copyFlushed(from, path)
    return 'whole'
  }
}

type Filled = { readonly kind: 'whole' | 'missing' } | { readonly kind: 'damaged' | 'mixed' | 'failed'; readonly reason: string }

/** Bytes of a chunk so far, and the mirrors that sent them. */
class Part {
  readonly sink: Sink
  readonly senders = new Set<Endpoint>()
  /** damaged downloads by mirror */
  readonly damaged = new Map<Endpoint, number>()
  /** false: bytes of several mirrors together were damaged, so no mirror continues those of another one */
  #isShared = true
  /** bytes when `hasGrown` was true last */
  #counted = 0

  constructor(sink: Sink) {
    this.sink = sink
  }

  /** Returns the offset of the first byte that a mirror is to send. */
  from(mirror: Endpoint): number {
    return this.#isShared || this.senders.has(mirror) ? this.sink.filled : 0
  }

  add(bytes: Uint8Array, sender: Endpoint): void {
    this.sink.add(bytes)
    this.senders.add(sender)
  }

  /** Returns whether enough bytes were added since it returned true. */
  hasGrown(): boolean {
    if (this.sink.filled - this.#counted < leastPace.bytes) return false
    this.#counted = this.sink.filled
    return true
  }

  restart(): void {
    this.sink.restart()
    this.senders.clear()
  }

  /** Drops all bytes, which are wrong. @param kind 'mixed': not known by which mirror */
  refuse(mirror: Endpoint, kind: 'damaged' | 'mixed'): void {
    if (kind === 'damaged') this.damaged.set(mirror, (this.damaged.get(mirror) ?? 0) + 1)
    else this.#isShared = false
    this.restart()
    this.#counted = 0
  }
}

class Mirrors implements SnapshotPlace {
  readonly #deps: PlaceDeps
  readonly #mirrors: readonly Endpoint[]
  readonly name: string
  #next = 0

  constructor(deps: PlaceDeps, mirrors: readonly Endpoint[]) {
    this.#deps = deps
    this.#mirrors = mirrors
    this.name = mirrors.map(({ name }) => name).join(', ')
  }

  async manifest<T>(parse: (file: Uint8Array, place: string) => T, signal: AbortSignal): Promise<T> {
    const refused = new Set<Endpoint>()
    let first: Fault | undefined
    let reason = 'no mirror'
    for (let round = 0; round < manifestRounds && refused.size < this.#mirrors.length; round++) {
      if (round > 1) await this.#deps.clock.delay(pauseMs, signal)
      for (const mirror of this.#mirrors.filter((each) => !refused.has(each))) {
        try {
          return parse(await this.#manifestFile(mirror, signal), mirror.name)
        } catch (error) {
          signal.throwIfAborted()
          if (isFault(error)) {
            refused.add(mirror)
            first ??= error
          }
          reason = `${mirror.name}: ${errorMessage(error)}`
        }
      }
    }
    throw first ?? snapshotFault('MANIFEST_UNAVAILABLE', { place: this.name, reason })
  }

  async #manifestFile(mirror: Endpoint, signal: AbortSignal): Promise<Uint8Array> {
    using pace = new PaceAbort(this.#deps.clock, manifestMs)
    const response = await this.#get(mirror, manifestName, {}, AbortSignal.any([signal, pace.signal]))
    if (response.status !== 200 || !response.body) throw new Error(`it answers ${response.status}`)
    return await wholeBody(response.body, bounds.manifestBytes, pace)
  }

  async chunk(entry: ChunkEntry, signal: AbortSignal): Promise<Uint8Array | 'missing'> {
    const sink = new MemorySink(entry.size)
    return (await this.#into(sink, entry, signal)) === 'missing' ? 'missing' : sink.bytes
  }

  async download(entry: ChunkEntry, path: string, signal: AbortSignal): Promise<'whole' | 'missing'> {
    using sink = new FileSink(path, temporaryOf(path))
    const outcome = await this.#into(sink, entry, signal)
    if (outcome === 'whole') sink.finish()
    return outcome
  }

  async #into(sink: Sink, entry: ChunkEntry, signal: AbortSignal): Promise<'whole' | 'missing'> {
    const { clock } = this.#deps
    const part = new Part(sink)
    const missing = new Set<Endpoint>()
    let reason = ''
    for (let lastMs = clock.elapsedMs(); clock.elapsedMs() - lastMs < patienceMs; ) {
      const mirror = this.#choose((each) => !missing.has(each) && (part.damaged.get(each) ?? 0) < mostDamaged)
      if (mirror === undefined) break
      const outcome = await this.#fill(mirror, entry, part, signal)
      if (outcome.kind === 'whole') return 'whole'
      if (part.hasGrown()) lastMs = clock.elapsedMs()
      if (outcome.kind === 'missing') missing.add(mirror)
      if (outcome.kind === 'damaged' || outcome.kind === 'mixed') part.refuse(mirror, outcome.kind)
      if ('reason' in outcome) reason = `${mirror.name}: ${outcome.reason}`
      if (outcome.kind === 'failed') await clock.delay(pauseMs, signal)
    }
    if (part.damaged.size > 0) throw snapshotFault('CHUNK_DAMAGED', { chunk: entry.name, place: this.name, reason })
    if (missing.size === this.#mirrors.length) return 'missing'
    throw snapshotFault('CHUNK_UNAVAILABLE', { chunk: entry.name, place: this.name, reason })
  }

  /** Returns the next of the mirrors that can be used, in turn. */
  #choose(isUsable: (mirror: Endpoint) => boolean): Endpoint | undefined {
    const usable = this.#mirrors.filter(isUsable)
    return usable[this.#next++ % Math.max(1, usable.length)]
  }

  /**
   * Downloads the missing bytes of a part. Bytes that were received before a failure stay in it.
   * @returns 'mixed' when the bytes are damaged and several mirrors sent them
   */
  async #fill(mirror: Endpoint, entry: ChunkEntry, part: Part, signal: AbortSignal): Promise<Filled> {
    const { sink } = part
    using pace = new PaceAbort(this.#deps.clock)
    try {
      const from = part.from(mirror)
      const headers: Record<string, string> = from > 0 ? { range: `bytes=${from}-` } : {}
      const response = await this.#get(mirror, fileOf(entry), headers, AbortSignal.any([signal, pace.signal]))
      if (response.status === 404 || response.status === 410) return { kind: 'missing' }
      const continues = response.status === 206 && response.headers.get('content-range')?.startsWith(`bytes ${from}-`)
      if (response.status !== 200 && !continues) return { kind: 'failed', reason: `it answers ${response.status}` }
      if (!continues || from < sink.filled) part.restart()
      for await (const bytes of response.body ?? []) {
        pace.count(bytes.length)
        if (sink.filled + bytes.length > entry.size) return { kind: 'damaged', reason: `it sends more than ${entry.size} bytes` }
        part.add(bytes, mirror)
      }
      if (sink.filled < entry.size) return { kind: 'failed', reason: `the download ends after ${sink.filled} of ${entry.size} bytes` }
    } catch (error) {
      signal.throwIfAborted()
      // the disk failed, not the mirror
      if (isFault(error)) throw error
      // a download that fails after its last byte is whole
      if (sink.filled < entry.size) return { kind: 'failed', reason: errorMessage(error) }
    }
    if (sink.digest() === entry.name) return { kind: 'whole' }
    return { kind: part.senders.size > 1 ? 'mixed' : 'damaged', reason: wrongHash }
  }

  #get(mirror: Endpoint, name: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const url = new URL(mirror.url)
    url.pathname = `${url.pathname.replace(/\/(manifest\.json)?$/, '')}/${name}`
    return this.#deps.fetch(url, { headers: { ...mirror.headers, ...headers }, signal })
  }
}

async function wholeBody(body: AsyncIterable<Uint8Array>, most: number, pace: PaceAbort): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body) {
    pace.count(part.length)
    length += part.length
    if (length > most) throw new Error(`it sends more than ${most} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** Aborts a download that is slower than the least pace, or takes longer than a given time. */
class PaceAbort implements Disposable {
  readonly #clock: Clock
  readonly #control = new AbortController()
  readonly #whole: Disposable | undefined
  #timer: Disposable | undefined
  /** bytes since the timer was set */
  #bytes = 0

  /** @param mostMs absent: any time */
  constructor(clock: Clock, mostMs?: number) {
    this.#clock = clock
    this.#whole = mostMs === undefined ? undefined : this.#abortAfter(mostMs, () => `it takes longer than ${mostMs / 1_000} s`)
    this.#begin()
  }

  get signal(): AbortSignal {
    return this.#control.signal
  }

  /** Counts bytes that were received. */
  count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes >= leastPace.bytes) this.#begin()
  }

  #begin(): void {
    this.#timer?.[Symbol.dispose]()
    this.#bytes = 0
    this.#timer = this.#abortAfter(leastPace.ms, () => `it sends ${this.#bytes} bytes in ${leastPace.ms / 1_000} s`)
  }

  #abortAfter(ms: number, reason: () => string): Disposable {
    return this.#clock.after(ms, () => this.#control.abort(new Error(reason())))
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
    this.#whole?.[Symbol.dispose]()
  }
}
