import type { GivenBlock } from '#blockchain/base/baseBlocks'
import { fromHex } from '#lib/hex'
import { orderedRoot } from '#trie/orderedRoot'
import { type Header, hashHeader } from '#types/header'
import type { Hash } from '#types/ids'
import type { Evidence } from '#types/trust'
import { snapshotFault } from '../faults.ts'
import { FormatError } from '../format/byteReader.ts'
import { blobsIn, decodeBlocks } from '../format/chunks.ts'
import { type ChunkEntry, parseManifest, type SignedManifest } from '../format/manifest.ts'
import { TopNodes } from '../format/topNodes.ts'
import type { TrustPort } from '../trustPort.ts'
import { contentOf, reading, type Trusted } from './checkChunk.ts'
import type { SnapshotPlace } from './places.ts'
import { readAhead } from './readAhead.ts'

/** Bytes of the shortest trie node that has a hash; shorter ones are embedded. */
const leastNodeBytes = 32

/** The hash that the operator vouches for; without one, `trust` grades the header. */
export type TrustSource = { readonly given?: Hash | undefined; readonly trust?: TrustPort | undefined }

/** A snapshot whose block is trusted. Every chunk it returns has the hash of its name. */
export class SnapshotReader {
  readonly #place: SnapshotPlace
  readonly #signal: AbortSignal
  readonly #known: SignedManifest

  constructor(place: SnapshotPlace, known: SignedManifest, signal: AbortSignal) {
    this.#place = place
    this.#known = known
    this.#signal = signal
  }

  get place(): string {
    return this.#place.name
  }

  /** Directory with the files of the snapshot; undefined: they are downloaded. */
  get dir(): string | undefined {
    return this.#place.dir
  }

  /** Iterates over the contents of chunks, in the given order. @throws as `#read`; Fault CHUNK_DAMAGED */
  async *contents(entries: readonly ChunkEntry[]): AsyncGenerator<{ readonly entry: ChunkEntry; readonly raw: Uint8Array }> {
    for await (const { entry, bytes } of readAhead(entries, (each, signal) => this.#read(each, signal), this.#signal)) {
      yield { entry, raw: contentOf(entry, bytes, this.place) }
    }
  }

  /**
   * Returns the blocks, ascending, and what vouches for the last one. That is decided before another chunk is decoded; each block below is linked to it when it
   * is decoded, so a lie costs the memory of one chunk.
   * @throws Fault MANIFEST_BAD when the last block is not that of the manifest; CHUNK_DAMAGED; those of `evidenceFor`
   */
  async blocks(source: TrustSource): Promise<{ readonly blocks: readonly GivenBlock[]; readonly trust: Evidence }> {
    const { block, chunks } = this.#known.manifest
    const down: GivenBlock[] = []
    let trust: Evidence | undefined
    for await (const { entry, raw } of this.contents(chunks.filter(({ kind }) => kind === 'blocks').reverse())) {
      const given = reading(entry, this.place, () => decodeBlocks(raw)).reverse()
      if (trust === undefined) {
        const header = given[0]?.header
        if (header === undefined || hashHeader(header) !== block.hash || header.stateRoot !== block.stateRoot) break
        trust = await evidenceFor(header, source, this.#signal)
      }
      for (const each of given) {
        reading(entry, this.place, () => requireLink(each, down.at(-1)))
        down.push(each)
      }
    }
    if (trust === undefined) throw snapshotFault('MANIFEST_BAD', { place: this.place, reason: 'its block is not among its chunks' })
    return { blocks: down.reverse(), trust }
  }

  /** Returns the nodes above the chunks. */
  async top(): Promise<Trusted> {
    const { manifest } = this.#known
    const top = new TopNodes()
    for await (const { entry, raw } of this.contents(manifest.chunks.filter(({ kind }) => kind === 'top'))) {
      reading(entry, this.place, () => {
        for (const node of blobsIn(raw)) {
          if (node.length < leastNodeBytes) throw new FormatError(`it has a trie node of ${node.length} bytes`)
          top.add(node)
        }
      })
    }
    return { stateRoot: fromHex(manifest.block.stateRoot), top, storageRoots: new Map() }
  }

  /**
   * Writes the file of a segment, whose hash is that of its name. In `dir` it is there already, and its hash is compared.
   * @throws as `#read`; DISK_FULL (retry), STORE_FAILED (fatal)
   */
  async segment(entry: ChunkEntry, path: string): Promise<void> {
    if ((await this.#place.download(entry, path, this.#signal)) === 'missing') await this.#missing(entry, this.#signal)
  }

  async #read(entry: ChunkEntry, signal: AbortSignal): Promise<Uint8Array> {
    const bytes = await this.#place.chunk(entry, signal)
    return bytes === 'missing' ? await this.#missing(entry, signal) : bytes
  }

  /** @throws Fault SNAPSHOT_REPLACED, CHUNK_UNAVAILABLE */
  async #missing(entry: ChunkEntry, signal: AbortSignal): Promise<never> {
    const current = await this.#place.manifest(parseManifest, signal)
    if (current.id !== this.#known.id) {
      throw snapshotFault('SNAPSHOT_REPLACED', { place: this.place, chunk: entry.name, block: current.manifest.block.number })
    }
    throw snapshotFault('CHUNK_UNAVAILABLE', { chunk: entry.name, place: this.place, reason: 'it does not exist' })
  }
}

/** Throws FormatError when a block is not the parent of the block above, has other transactions than its header, or another number of receipts. */
function requireLink({ header, transactions, receipts }: GivenBlock, above: GivenBlock | undefined): void {
  const bad = (reason: string): Error => new FormatError(`block ${header.number} in it ${reason}`)
  if (above && hashHeader(header) !== above.header.parentHash) throw bad('is not the parent of the block above it')
  if (transactions && orderedRoot(transactions) !== header.transactionsRoot) throw bad('has other transactions than its header')
  if (receipts && receipts.length !== transactions?.length) throw bad(`has ${receipts.length} receipts`)
}

/**
 * Returns what vouches for a header.
 * @throws Fault SNAPSHOT_UNTRUSTED, and those of the port
 */
export async function evidenceFor(header: Header, { given, trust }: TrustSource, signal: AbortSignal): Promise<Evidence> {
  const hash = hashHeader(header)
  if (given === hash) return { grade: 'given' }
  const untrusted = (reason: string): Error => snapshotFault('SNAPSHOT_UNTRUSTED', { number: header.number, hash, reason })
  if (given !== undefined) throw untrusted(`--start.block-hash is ${given}`)
  if (trust === undefined) throw untrusted('neither L1 endpoints nor a hash vouch for it')
  return await trust.verifyHeader(header, hash, signal)
}
