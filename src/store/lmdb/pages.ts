import { readSync } from 'node:fs'

/** Thrown when a page of the database file contradicts the pages above it. */
export class DamagedPage extends Error {}

/** A tree of LMDB as described by the page above it. */
export type Tree = {
  readonly depth: number
  readonly entries: number
  /** Number of its pages, those of long values included. */
  readonly pages: number
  /** Page number; undefined for an empty tree. */
  readonly root: number | undefined
}

/** Contents of a meta page: the database as of one transaction. */
export type Meta = {
  readonly pageSize: number
  readonly lastPage: number
  readonly transaction: number
  readonly free: Tree
  readonly main: Tree
}

/** A node of a leaf page, with the position of its value in the file. */
type Leaf = { readonly key: string; readonly valueAt: number; readonly length: number; readonly isTree: boolean }

const metaMagic = 0xbeefc0de
const metaBytes = 168
/** Header of a page: number u64, transaction u64, padding u16, flags u16, lower u16, upper u16. */
const headerBytes = 24
const at = { flags: 18, lower: 20, magic: 24, free: 48, main: 96, lastPage: 144, transaction: 152 } as const
const isBranch = 1
const isLeaf = 2
const isOverflow = 4
/** The bits of a page's kind; some are of kinds that a database of unique keys has not. */
const kinds = 0x6f
const nodeHeaderBytes = 8
const valueElsewhere = 1
const valueIsTree = 2
/** Upper bound of a tree's depth; a tree of 2^48 bytes is not this deep. */
const maxDepth = 32

const number64 = (view: DataView, offset: number): number => Number(view.getBigUint64(offset, true))

/** Decodes the description of a tree, 48 bytes: flags, depth, counts of branch, leaf and overflow pages, entries, root. */
function treeAt(view: DataView, offset: number): Tree {
  const root = view.getBigUint64(offset + 40, true)
  return {
    depth: view.getUint16(offset + 6, true),
    entries: number64(view, offset + 32),
    pages: number64(view, offset + 8) + number64(view, offset + 16) + number64(view, offset + 24),
    root: root === 2n ** 64n - 1n ? undefined : Number(root),
  }
}

function read(file: number, position: number, length: number): DataView {
  const bytes = new Uint8Array(length)
  return new DataView(bytes.buffer, 0, readSync(file, bytes, 0, length, position))
}

/** Reads the meta page at a position; undefined when the file ends there. */
export function readMeta(file: number, position: number): Meta | 'foreign' | undefined {
  const view = read(file, position, metaBytes)
  if (view.byteLength === 0) return undefined
  if (view.byteLength < metaBytes || view.getUint32(at.magic, true) !== metaMagic) return 'foreign'
  return {
    pageSize: view.getUint32(at.free, true),
    lastPage: number64(view, at.lastPage),
    transaction: number64(view, at.transaction),
    free: treeAt(view, at.free),
    main: treeAt(view, at.main),
  }
}

/** Reads the pages of one transaction's trees without LMDB, which does not validate mapped pages. Follows the format in `mdb.c` of lmdb-js 3.5. */
export class PageReader {
  readonly #file: number
  readonly #meta: Meta

  constructor(file: number, meta: Meta) {
    this.#file = file
    this.#meta = meta
  }

  /** Iterates over the tables in the main tree, ascending by name. @throws DamagedPage */
  *tables(): Generator<Tree & { readonly name: string }> {
    let last = ''
    for (const { key, isTree, valueAt, length } of this.#leaves(this.#meta.main)) {
      // lmdb-js ends each name with a zero byte; a search for a table follows the order of names
      if (!isTree || key <= last || !key.endsWith('\0')) throw new DamagedPage('the list of tables is damaged')
      last = key
      yield { name: key.slice(0, -1), ...treeAt(this.#bytes(valueAt, length), 0) }
    }
  }

  /** Iterates over the numbers of the free pages. @throws DamagedPage */
  *freePages(): Generator<number> {
    for (const { valueAt, length } of this.#leaves(this.#meta.free)) {
      const list = this.#bytes(valueAt, length)
      const entry = (index: number): number => Number(list.getBigInt64(8 * index, true))
      const count = Math.min(entry(0), list.byteLength / 8 - 1)
      // a negative entry is the length of a run and is followed by its first page; zero is an empty entry
      for (let index = 1; index <= count; index++) {
        const pages = entry(index) < 0 ? -entry(index++) : 1
        const first = index <= count ? entry(index) : 0
        if (first > 0) for (let page = first; page < first + pages; page++) yield page
      }
    }
  }

  /** Reads the root page of a tree and checks its kind. @throws DamagedPage */
  checkRoot({ root, depth, entries }: Tree): void {
    if (root === undefined ? entries > 0 || depth > 0 : depth === 0) throw new DamagedPage('the description of a table is damaged')
    if (root !== undefined) this.#page(root, depth === 1 ? isLeaf : isBranch)
  }

  #leaves(tree: Tree): Leaf[] {
    this.checkRoot(tree)
    const leaves = tree.root === undefined ? [] : [...this.#below(tree.root, tree.depth)]
    if (leaves.length !== tree.entries) throw new DamagedPage(`a tree has ${leaves.length} entries instead of ${tree.entries}`)
    return leaves
  }

  *#below(number: number, depth: number): Generator<Leaf> {
    if (depth > maxDepth) throw new DamagedPage(`a tree has ${depth} levels`)
    const page = this.#page(number, depth === 1 ? isLeaf : isBranch)
    for (let index = 0; index < page.getUint16(at.lower, true) >> 1; index++) {
      const node = headerBytes + page.getUint16(headerBytes + 2 * index, true)
      if (node + nodeHeaderBytes > page.byteLength) throw new DamagedPage(`page ${number} is damaged`)
      const [low, flags, keyBytes] = [page.getUint32(node, true), page.getUint16(node + 4, true), page.getUint16(node + 6, true)]
      if (depth > 1) yield* this.#below(low + flags * 2 ** 32, depth - 1)
      else yield this.#leaf(page, number, { length: low, flags, keyBytes, keyAt: node + nodeHeaderBytes })
    }
  }

  #leaf(page: DataView, number: number, node: { length: number; flags: number; keyBytes: number; keyAt: number }): Leaf {
    const { pageSize } = this.#meta
    const { length, flags, keyBytes, keyAt } = node
    const valueAt = keyAt + keyBytes
    const isElsewhere = (flags & valueElsewhere) !== 0
    if (valueAt + (isElsewhere ? 8 : length) > pageSize) throw new DamagedPage(`page ${number} is damaged`)
    const isTree = (flags & valueIsTree) !== 0
    const key = Buffer.from(page.buffer, page.byteOffset + keyAt, keyBytes).toString('latin1')
    if (!isElsewhere) return { key, isTree, length, valueAt: number * pageSize + valueAt }
    const first = number64(page, valueAt)
    this.#page(first, isOverflow)
    return { key, isTree, length, valueAt: first * pageSize + headerBytes }
  }

  /** Reads a page and checks its kind and its own number. */
  #page(number: number, kind: number): DataView {
    const { pageSize, lastPage } = this.#meta
    if (number > lastPage) throw new DamagedPage(`page ${number} is used, and page ${lastPage} is the last one`)
    const page = this.#bytes(number * pageSize, pageSize)
    if (number64(page, 0) !== number || (page.getUint16(at.flags, true) & kinds) !== kind)
      throw new DamagedPage(`page ${number} is damaged`)
    return page
  }

  #bytes(position: number, length: number): DataView {
    const view = read(this.#file, position, length)
    if (view.byteLength < length) throw new DamagedPage(`the file ends before byte ${position + length}`)
    return view
  }
}
