import { u16Le, u32Le } from '../littleEndian.ts'
import { pageHeaderBytes } from './meta.ts'

const nodeHeaderBytes = 8
const subPageFlags = 0x42
const fixedFlag = 0x20

/** Flags of a leaf node. */
export const largeNode = 1
export const treeNode = 2
export const duplicatesNode = 4
const knownNodeFlags = largeNode | treeNode | duplicatesNode

/** Kind of a page: children, nodes of key and data, or keys of one size without data. */
export type PageKind = 'branch' | 'leaf' | 'fixed'

/**
 * One page of a tree, or a page inside a node that holds the few values of one key. `fault` must have returned undefined before any other method is called.
 * Layout: header of 20 bytes, then an offset of 2 bytes for each node, free space, nodes. Offsets count from the end of the header.
 * A node: size of data or child page (u32), flags (u8), a spare byte, size of key (u16), key, data.
 */
export class Page {
  readonly kind: PageKind
  readonly count: number
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array, kind: PageKind) {
    this.#bytes = bytes
    this.kind = kind
    this.count = u16Le(bytes, 12) >>> 1
  }

  /** Bytes of each key of a page of kind `fixed`. */
  get fixedBytes(): number {
    return u16Le(this.#bytes, 8)
  }

  /** Returns what is wrong with the page by itself: a size, an offset or flags. The order of keys is checked by cursors. */
  fault(): string | undefined {
    const bytes = this.#bytes
    const { count, kind } = this
    const room = bytes.length - pageHeaderBytes
    const lower = u16Le(bytes, 12)
    const upper = u16Le(bytes, 14)
    if (count === 0) return 'it has no entries'
    if (lower % 2 !== 0 || lower > upper || upper > room) return `its free space is from ${lower} to ${upper}`
    if (kind === 'fixed') return this.fixedBytes > 0 && count * this.fixedBytes <= room ? undefined : 'its keys do not fit the page'
    for (let i = 0; i < count; i++) {
      const reason = this.#nodeFault(i, upper)
      if (reason !== undefined) return `node ${i}: ${reason}`
    }
    return undefined
  }

  #nodeFault(index: number, upper: number): string | undefined {
    const bytes = this.#bytes
    const from = u16Le(bytes, pageHeaderBytes + 2 * index)
    if (from < upper || from % 2 !== 0) return `its offset is ${from}`
    const at = pageHeaderBytes + from
    if (at + nodeHeaderBytes > bytes.length) return `its offset is ${from}`
    const flags = bytes[at + 4] ?? 0
    const dataAt = at + nodeHeaderBytes + u16Le(bytes, at + 6)
    if (this.kind === 'branch') return flags === 0 && dataAt <= bytes.length ? undefined : 'its key does not fit the page'
    const isFlagged = (flags & ~knownNodeFlags) === 0 && ((flags & largeNode) === 0 || flags === largeNode)
    if (!isFlagged) return `its flags are ${flags}`
    const size = flags === largeNode ? 4 : u32Le(bytes, at)
    return dataAt + size <= bytes.length ? undefined : 'its data does not fit the page'
  }

  /** Offset in the page of a node's header. */
  #node(index: number): number {
    return pageHeaderBytes + u16Le(this.#bytes, pageHeaderBytes + 2 * index)
  }

  /** Returns a view of a key. The first key of a branch page is empty: it is below every key. */
  key(index: number): Uint8Array {
    const bytes = this.#bytes
    if (this.kind === 'fixed') {
      const from = pageHeaderBytes + index * this.fixedBytes
      return bytes.subarray(from, from + this.fixedBytes)
    }
    const at = this.#node(index)
    const from = at + nodeHeaderBytes
    return bytes.subarray(from, from + u16Le(bytes, at + 6))
  }

  /** Returns the number of a child page. */
  child(index: number): number {
    return u32Le(this.#bytes, this.#node(index))
  }

  /** Returns the flags of a node of a leaf page. */
  flags(index: number): number {
    return this.kind === 'fixed' ? 0 : (this.#bytes[this.#node(index) + 4] ?? 0)
  }

  /** Returns the size of a node's data; of a large value too, whose data is elsewhere. */
  dataBytes(index: number): number {
    return this.kind === 'fixed' ? 0 : u32Le(this.#bytes, this.#node(index))
  }

  /** Returns a view of a node's data. Of a large value, the number of its page. */
  data(index: number): Uint8Array {
    const bytes = this.#bytes
    if (this.kind === 'fixed') return bytes.subarray(0, 0)
    const at = this.#node(index)
    const from = at + nodeHeaderBytes + u16Le(bytes, at + 6)
    const size = bytes[at + 4] === largeNode ? 4 : u32Le(bytes, at)
    return bytes.subarray(from, from + size)
  }
}

/** Decodes the page inside a node. Returns undefined when it is no whole page of values, of one size when `fixedBytes` is given. */
export function decodeSubPage(data: Uint8Array, fixedBytes: number | undefined): Page | undefined {
  const isFixed = fixedBytes !== undefined
  if (data.length < pageHeaderBytes || u16Le(data, 10) !== (isFixed ? subPageFlags | fixedFlag : subPageFlags)) return undefined
  const page = new Page(data, isFixed ? 'fixed' : 'leaf')
  return page.fault() === undefined && (!isFixed || page.fixedBytes === fixedBytes) ? page : undefined
}
