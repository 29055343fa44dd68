import { emptyBytes, equalBytes } from '#lib/bytes'
import { decodeRlp, rlpBytes, rlpList } from '#lib/rlp'
import { accountNodesTable, storageNodesTable } from '#state/rows'
import { unpackRows } from '#store/bulk/packedRows'
import type { Row } from '#store/ports'
import type { Hash } from '#types/ids'
import { ByteWriter } from '../format/byteReader.ts'
import { putAccount, putSlot } from '../format/chunks.ts'
import { type ChunkEntry, nibblesOfText } from '../format/manifest.ts'
import { TopNodes } from '../format/topNodes.ts'
import { StateBuilder } from '../load/stateBuilder.ts'
import type { ChunkFiles } from './chunkFiles.ts'

/** Leaves that a chunk should have at most. */
export const leavesOfChunk = 100_000
/** Slots of an account from which on they get chunks of their own. */
export const inlineSlots = 50_000
/** Bytes after which a chunk is cut wherever it is. It cannot be verified by itself then. */
const mostChunkBytes = 64 * 2 ** 20
/** Depth of trie nodes that may be above a chunk. */
const mostDepth = 6

export type ChunkSizes = { readonly leavesOfChunk: number; readonly inlineSlots: number }

const prefixText = (key: Uint8Array, depth: number): string =>
  Buffer.from(key.buffer, key.byteOffset, key.length).toString('hex').slice(0, depth)

/** Returns the number of nibbles by which leaves are divided into chunks. */
export function depthFor(leaves: number, most: number): number {
  let depth = 0
  while (depth < mostDepth && leaves / 16 ** depth > most) depth++
  return depth
}

/**
 * Cuts accounts and slots into chunks by the first nibbles of their keys, so that a change of the state changes few chunks. Computes the state root
 * meanwhile, and collects the trie nodes above the chunks.
 */
export class AccountChunks {
  readonly top = new TopNodes()
  readonly #files: ChunkFiles
  readonly #depth: number
  readonly #sizes: ChunkSizes
  readonly #builder: StateBuilder
  readonly #chunk = new ByteWriter()
  readonly #slots = new ByteWriter()
  #prefix: string | undefined
  /** storage nodes near the root, of the current account and of some before it */
  #storageTop: { readonly account: Uint8Array; readonly depth: number; readonly node: Uint8Array }[] = []
  /** entries in the order of loading: a chunk of accounts, then the chunks of their slots */
  readonly #entries: ChunkEntry[] = []
  /** entries of slots of the accounts in the open chunk */
  #slotEntries: ChunkEntry[] = []
  /** entries with the root of their account's storage */
  readonly #storageRoots = new Map<string, Uint8Array>()

  constructor(files: ChunkFiles, depth: number, sizes: ChunkSizes) {
    this.#files = files
    this.#depth = depth
    this.#sizes = sizes
    this.#builder = new StateBuilder({ nodesTo: mostDepth - 1, onRows: (rows): void => this.#collect(rows) })
  }

  get counts(): StateBuilder['counts'] {
    return this.#builder.counts
  }

  #collect(rows: Uint8Array): void {
    for (const { table, key, value } of unpackRows(rows)) {
      if (table === accountNodesTable && key.length - 1 < this.#depth) this.top.add(value.slice())
      if (table === storageNodesTable) this.#storageTop.push({ account: key.slice(0, 32), depth: key.length - 33, node: value.slice() })
    }
  }

  /** Counts a code. */
  code(code: Uint8Array): void {
    this.#builder.code(code)
  }

  /** Adds an account with its slots. @param row of the table of accounts */
  async add(row: Row, slots: Iterable<Row>): Promise<void> {
    const prefix = prefixText(row.key, this.#depth)
    if (this.#prefix !== undefined && (this.#prefix !== prefix || this.#chunk.length >= mostChunkBytes))
      await this.#flush(this.#prefix === prefix)
    this.#prefix = prefix
    const [nonce, balance, , codeItem] = rlpList(decodeRlp(row.value), 'account').map((item) => rlpBytes(item, 'part'))
    const fields = {
      nonce: nonce ?? emptyBytes,
      balance: balance ?? emptyBytes,
      codeHash: codeItem && codeItem.length > 0 ? codeItem : undefined,
    }
    const toBigint = (bytes: Uint8Array): bigint => (bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`))
    this.#builder.account(row.key, toBigint(fields.nonce), toBigint(fields.balance), fields.codeHash)
    this.#storageTop = []
    const packed = new SlotChunks(this.#files, this.#slots, row.key, this.#sizes, (key, value) => this.#builder.slot(key, value))
    for (const slot of slots) {
      const full = packed.add(slot.key.subarray(32), slot.value)
      if (full !== undefined) await full
    }
    const own = await packed.end()
    const storageRoot = this.#builder.endAccount() as Uint8Array
    if (own.entries.length === 0) {
      putAccount(this.#chunk, { key: row.key, ...fields, storageRoot: undefined }, own.inline)
      return
    }
    this.#builder.flush()
    for (const { account, depth, node } of this.#storageTop) if (depth < own.depth && equalBytes(account, row.key)) this.top.add(node)
    this.#storageRoots.set(Buffer.from(row.key).toString('hex'), storageRoot)
    this.#slotEntries.push(...own.entries)
    putAccount(this.#chunk, { key: row.key, ...fields, storageRoot }, undefined)
  }

  /** Ends the last chunk. @returns the state root, and the entries; those whose prefix is no part of a trie are without it */
  async end(): Promise<{ readonly root: Hash; readonly entries: readonly ChunkEntry[] }> {
    if (this.#prefix !== undefined) await this.#flush(false)
    const root = this.#builder.end()
    const rootBytes = Buffer.from(root.slice(2), 'hex')
    const entries = this.#entries.map((entry): ChunkEntry => {
      const { prefix, ...rest } = entry
      const above = entry.account === undefined ? rootBytes : this.#storageRoots.get(entry.account)
      const isPart = prefix !== undefined && above && this.top.partWith(above, nibblesOfText(prefix)) !== undefined
      return isPart ? entry : rest
    })
    return { root, entries }
  }

  async #flush(isCut: boolean): Promise<void> {
    // both parts of a prefix that is cut lack it
    const isPart = !isCut && this.#prefix !== this.#cutPrefix
    if (isCut) this.#cutPrefix = this.#prefix
    const place = { kind: 'accounts' as const, ...(isPart && this.#prefix !== undefined && { prefix: this.#prefix }) }
    this.#entries.push(await this.#files.add(this.#chunk.view(), place), ...this.#slotEntries)
    this.#slotEntries = []
    this.#chunk.clear()
  }

  #cutPrefix: string | undefined
}

type PackedSlots = {
  readonly entries: readonly ChunkEntry[]
  readonly depth: number
  readonly inline: { readonly count: number; readonly bytes: Uint8Array } | undefined
}

/** Slots of one account: inline while they are few, else in chunks. */
class SlotChunks {
  readonly #files: ChunkFiles
  readonly #account: Uint8Array
  readonly #sizes: ChunkSizes
  readonly #onSlot: (key: Uint8Array, value: Uint8Array) => void
  readonly #out: ByteWriter
  readonly #entries: ChunkEntry[] = []
  #count = 0
  #depth: number | undefined
  #prefix = ''
  #cutPrefix: string | undefined
  /** slots before the depth is known */
  #first: Row[] = []

  constructor(
    files: ChunkFiles,
    out: ByteWriter,
    account: Uint8Array,
    sizes: ChunkSizes,
    onSlot: (key: Uint8Array, value: Uint8Array) => void,
  ) {
    this.#files = files
    this.#out = out
    out.clear()
    this.#account = account
    this.#sizes = sizes
    this.#onSlot = onSlot
  }

  /** @returns a promise when chunks are written, to be awaited before the next call */
  add(key: Uint8Array, value: Uint8Array): Promise<void> | undefined {
    this.#onSlot(key, value)
    this.#count++
    if (this.#depth !== undefined) return this.#put(key, value)
    this.#first.push({ key, value })
    return this.#count > this.#sizes.inlineSlots ? this.#divide(key) : undefined
  }

  /** Begins to write chunks. The number of all slots follows from how far the first ones reach, because keys are hashes. */
  async #divide(last: Uint8Array): Promise<void> {
    const reached = (Buffer.from(last).readUInt32BE(0) + 1) / 2 ** 32
    this.#depth = Math.max(1, depthFor(this.#count / reached, this.#sizes.leavesOfChunk))
    for (const { key, value } of this.#first) await this.#put(key, value)
    this.#first = []
  }

  #put(key: Uint8Array, value: Uint8Array): Promise<void> | undefined {
    const prefix = prefixText(key, this.#depth ?? 1)
    const isCut = prefix === this.#prefix && this.#out.length >= mostChunkBytes
    const full = this.#out.length > 0 && (isCut || prefix !== this.#prefix) ? this.#flush(isCut) : undefined
    if (full === undefined) {
      this.#prefix = prefix
      putSlot(this.#out, key, value)
      return undefined
    }
    return full.then(() => {
      this.#prefix = prefix
      putSlot(this.#out, key, value)
    })
  }

  async end(): Promise<PackedSlots> {
    if (this.#depth === undefined) {
      for (const { key, value } of this.#first) putSlot(this.#out, key, value)
      return { entries: [], depth: 0, inline: this.#count === 0 ? undefined : { count: this.#count, bytes: this.#out.view() } }
    }
    await this.#flush(false)
    return { entries: this.#entries, depth: this.#depth, inline: undefined }
  }

  async #flush(isCut: boolean): Promise<void> {
    const isPart = !isCut && this.#prefix !== this.#cutPrefix
    if (isCut) this.#cutPrefix = this.#prefix
    const account = Buffer.from(this.#account).toString('hex')
    const raw = new Uint8Array(this.#out.view())
    this.#out.clear()
    this.#entries.push(await this.#files.add(raw, { kind: 'slots', account, ...(isPart && { prefix: this.#prefix }) }))
  }
}
