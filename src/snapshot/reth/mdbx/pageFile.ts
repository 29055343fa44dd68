import type { Fault } from '#lib/fault'
import { Lru } from '#lib/lru'
import type { DataFile } from '../dataFile.ts'
import { u16Le, u32Le, u64Le } from '../littleEndian.ts'
import { type Meta, pageHeaderBytes } from './meta.ts'
import { Page } from './page.ts'

/** Bytes of one read, a multiple of every page size: neighbouring pages cost one read from the disk. */
const chunkBytes = 65_536
/** Chunks kept in memory. A branch page is read once for each of its children, a leaf once. */
const cacheBytes = 32 << 20

const branchFlag = 1
const leafFlag = 2
const largeFlag = 4
const fixedFlag = 0x20
/** Set by the other client on pages that it has not written yet; without meaning in a file. */
const ignoredFlags = 0xc000

/** The pages of one snapshot of a database file, each checked before it is returned. */
export class PageFile {
  readonly #file: DataFile
  readonly #meta: Meta
  readonly #chunks = new Lru<number, Uint8Array>(cacheBytes)

  constructor(file: DataFile, meta: Meta) {
    this.#file = file
    this.#meta = meta
  }

  get name(): string {
    return this.#file.name
  }

  /** Returns a branch page of a tree. Throws Fault SNAPSHOT_FILE_DAMAGED for any other page. */
  branch(number: number): Page {
    const bytes = this.#page(number)
    if (this.#flags(bytes) !== branchFlag) throw this.damaged(number, 'a branch page is expected')
    return this.#checked(number, new Page(bytes, 'branch'))
  }

  /** Returns a leaf page of a tree, of keys of one size when `fixedBytes` is given. Throws Fault SNAPSHOT_FILE_DAMAGED for any other page. */
  leaf(number: number, fixedBytes: number | undefined): Page {
    const bytes = this.#page(number)
    const isFixed = fixedBytes !== undefined
    if (this.#flags(bytes) !== (isFixed ? leafFlag | fixedFlag : leafFlag)) throw this.damaged(number, 'a leaf page is expected')
    const page = new Page(bytes, isFixed ? 'fixed' : 'leaf')
    if (isFixed && page.fixedBytes !== fixedBytes) throw this.damaged(number, `keys of ${fixedBytes} bytes are expected`)
    return this.#checked(number, page)
  }

  /** Returns a value that has pages of its own. Throws Fault SNAPSHOT_FILE_DAMAGED when those pages do not hold `length` bytes. */
  largeValue(number: number, length: number): Uint8Array {
    const header = this.#page(number)
    const pages = u32Le(header, 12)
    const { pageSize } = this.#meta
    if (this.#flags(header) !== largeFlag) throw this.damaged(number, 'a page of a large value is expected')
    if (number + pages > this.#meta.pages || pageHeaderBytes + length > pages * pageSize)
      throw this.damaged(number, `${length} bytes do not fit its ${pages} pages`)
    return this.#file.read(number * pageSize + pageHeaderBytes, length)
  }

  damaged(page: number, reason: string): Fault {
    return this.#file.damaged(`page ${page}`, reason)
  }

  #flags(bytes: Uint8Array): number {
    return u16Le(bytes, 10) & ~ignoredFlags
  }

  #checked(number: number, page: Page): Page {
    const reason = page.fault()
    if (reason !== undefined) throw this.damaged(number, reason)
    return page
  }

  /** Returns the bytes of a page whose header has its number and a transaction of this snapshot. */
  #page(number: number): Uint8Array {
    const { pageSize, pages, txnId } = this.#meta
    if (number >= pages) throw this.damaged(number, `a tree refers to it, the database has ${pages} pages`)
    const from = number * pageSize
    if (from + pageSize > this.#file.sizeBytes) throw this.damaged(number, 'the file ends before it')
    const at = from % chunkBytes
    const bytes = this.#chunk(from - at).subarray(at, at + pageSize)
    if (u32Le(bytes, 16) !== number) throw this.damaged(number, `its header has number ${u32Le(bytes, 16)}`)
    if (u64Le(bytes, 0) > txnId) throw this.damaged(number, `it is newer than transaction ${txnId}`)
    return bytes
  }

  #chunk(from: number): Uint8Array {
    const known = this.#chunks.get(from)
    if (known) return known
    const chunk = this.#file.read(from, Math.min(chunkBytes, this.#file.sizeBytes - from))
    this.#chunks.set(from, chunk, chunk.length)
    return chunk
  }
}
