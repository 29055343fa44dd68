/** A table for `mdbxFile`: rows ascend by key, and by value where a key has several. */
export type TableRows = {
  readonly name: string
  readonly values: 'one' | 'several' | 'several of one size'
  readonly rows: Iterable<readonly [key: Uint8Array, value: Uint8Array]>
}

const headerBytes = 20
const branchFlag = 1
const leafFlag = 2
const largeFlag = 4
const fixedFlag = 0x20
const subPageFlag = 0x40
const noPage = 0xffff_ffff
const txnId = 9

type Node = { readonly key: Uint8Array; readonly data: Uint8Array; readonly flags: number; readonly size?: number; readonly child?: number }
type Tree = { readonly levels: number; readonly root: number; readonly items: number; readonly fixedBytes?: number; readonly flags: number }

/**
 * Writes a database file of the format that `src/snapshot/reth/mdbx` reads, for page sizes and shapes that the recorded databases lack. Only as good as
 * its author's knowledge of the format: the recorded databases judge the reader.
 */
export function mdbxFile(pageSize: number, tables: readonly TableRows[]): Uint8Array {
  const writer = new Writer(pageSize)
  const names = tables.map((table) => ({ key: new TextEncoder().encode(table.name), data: descriptor(writer.table(table)), flags: 2 }))
  return writer.finish(writer.tree(names, names.length, 0))
}

class Writer {
  readonly #pageSize: number
  /** Pages from 3 on; a large value is one entry with all its pages. */
  readonly #parts: Uint8Array[] = []
  #next = 3

  constructor(pageSize: number) {
    this.#pageSize = pageSize
  }

  get #room(): number {
    return this.#pageSize - headerBytes
  }

  table({ values, rows }: TableRows): Tree {
    const flags = { one: 0, several: 4, 'several of one size': 0x14 }[values]
    if (values === 'one') {
      let items = 0
      const nodes = function* (this: Writer): Generator<Node> {
        for (const [key, data] of rows) {
          items++
          yield this.#valueNode(key, data)
        }
      }
      const tree = this.tree(nodes.call(this), 0, flags)
      return { ...tree, items }
    }
    let items = 0
    const isFixed = values === 'several of one size'
    const nodes = function* (this: Writer): Generator<Node> {
      for (const [key, group] of groups(rows)) {
        items += group.length
        yield this.#valuesNode(key, group, isFixed)
      }
    }
    const tree = this.tree(nodes.call(this), 0, flags)
    return { ...tree, items, ...(isFixed && { fixedBytes: 8 }) }
  }

  #valueNode(key: Uint8Array, data: Uint8Array): Node {
    if (8 + key.length + data.length <= this.#room / 2 - 2) return { key, data, flags: 0 }
    const pages = Math.ceil((headerBytes + data.length) / this.#pageSize)
    const bytes = new Uint8Array(pages * this.#pageSize)
    const number = this.#add(bytes, pages)
    header(bytes, { flags: largeFlag, number, fixedBytes: 0 })
    new DataView(bytes.buffer).setUint32(12, pages, true)
    bytes.set(data, headerBytes)
    return { key, data: u32(number), flags: 1, size: data.length }
  }

  #valuesNode(key: Uint8Array, group: readonly Uint8Array[], isFixed: boolean): Node {
    const [first] = group
    if (first && group.length === 1) return { key, data: first, flags: 0 }
    const size = group.reduce(
      (sum, value) => sum + (isFixed ? value.length : 2 + nodeBytes({ key: value, data: none, flags: 0 })),
      headerBytes,
    )
    if (8 + key.length + size <= this.#room / 2 - 2) {
      const bytes = new Uint8Array(size + (size % 2))
      this.#fill(
        bytes,
        group.map((value) => ({ key: value, data: none, flags: 0 })),
        isFixed ? leafFlag | fixedFlag | subPageFlag : leafFlag | subPageFlag,
        0,
      )
      return { key, data: bytes, flags: 4 }
    }
    const tree = isFixed
      ? this.#fixedTree(group)
      : this.tree(
          group.map((value) => ({ key: value, data: none, flags: 0 })),
          group.length,
          0,
        )
    return { key, data: descriptor(tree), flags: 6 }
  }

  #fixedTree(group: readonly Uint8Array[]): Tree {
    const each = group[0]?.length ?? 1
    const perPage = Math.floor(this.#room / each)
    const leaves: Node[] = []
    for (let at = 0; at < group.length; at += perPage) {
      const keys = group.slice(at, at + perPage).map((value) => ({ key: value, data: none, flags: 0 }))
      leaves.push({ key: keys[0]?.key ?? none, data: none, flags: 0, child: this.#page(keys, leafFlag | fixedFlag) })
    }
    return { ...this.#branches(leaves), items: group.length, fixedBytes: each, flags: 0 }
  }

  tree(nodes: Iterable<Node>, items: number, flags: number): Tree {
    const leaves: Node[] = []
    for (const group of this.#groups(nodes))
      leaves.push({ key: group[0]?.key ?? none, data: none, flags: 0, child: this.#page(group, leafFlag) })
    return { ...this.#branches(leaves), items, flags }
  }

  #branches(leaves: readonly Node[]): { readonly levels: number; readonly root: number } {
    if (leaves.length === 0) return { levels: 0, root: noPage }
    let level = leaves
    let levels = 1
    for (; level.length > 1; levels++) {
      const above: Node[] = []
      for (const group of this.#groups(level)) {
        const [first] = group
        // the first key of a branch page is empty
        const children = group.map((node, index) => (index === 0 ? { ...node, key: none } : node))
        above.push({ key: first?.key ?? none, data: none, flags: 0, child: this.#page(children, branchFlag) })
      }
      level = above
    }
    return { levels, root: level[0]?.child ?? noPage }
  }

  /** Groups nodes that fit one page together. */
  *#groups(nodes: Iterable<Node>): Generator<Node[]> {
    let group: Node[] = []
    let used = 0
    for (const node of nodes) {
      const size = 2 + nodeBytes(node)
      if (used + size > this.#room) {
        yield group
        group = []
        used = 0
      }
      group.push(node)
      used += size
    }
    if (group.length > 0) yield group
  }

  #page(nodes: readonly Node[], flags: number): number {
    const bytes = new Uint8Array(this.#pageSize)
    const number = this.#add(bytes, 1)
    this.#fill(bytes, nodes, flags, number)
    return number
  }

  #fill(bytes: Uint8Array, nodes: readonly Node[], flags: number, number: number): void {
    const view = new DataView(bytes.buffer)
    const isFixed = (flags & fixedFlag) !== 0
    header(bytes, { flags, number, fixedBytes: isFixed ? (nodes[0]?.key.length ?? 0) : 0 })
    let upper = bytes.length - headerBytes
    nodes.forEach((node, index) => {
      if (isFixed) {
        bytes.set(node.key, headerBytes + index * node.key.length)
        return
      }
      upper -= nodeBytes(node)
      upper -= upper % 2
      const at = headerBytes + upper
      view.setUint16(headerBytes + 2 * index, upper, true)
      view.setUint32(at, node.child ?? node.size ?? node.data.length, true)
      view.setUint8(at + 4, node.flags)
      view.setUint16(at + 6, node.key.length, true)
      bytes.set(node.key, at + 8)
      bytes.set(node.data, at + 8 + node.key.length)
    })
    view.setUint16(12, 2 * nodes.length, true)
    view.setUint16(14, upper, true)
  }

  #add(bytes: Uint8Array, pages: number): number {
    const number = this.#next
    this.#parts.push(bytes)
    this.#next += pages
    return number
  }

  finish(main: Tree): Uint8Array {
    const out = new Uint8Array(this.#next * this.#pageSize)
    for (let page = 0; page < 3; page++) out.set(this.#meta(page, main), page * this.#pageSize)
    let at = 3 * this.#pageSize
    for (const part of this.#parts) {
      out.set(part, at)
      at += part.length
    }
    return out
  }

  #meta(page: number, main: Tree): Uint8Array {
    const bytes = new Uint8Array(this.#pageSize)
    const view = new DataView(bytes.buffer)
    header(bytes, { flags: 8, number: page, fixedBytes: 0 })
    view.setBigUint64(20, (0x59659dbdef4c11n << 8n) | 3n, true)
    view.setBigUint64(28, BigInt(txnId - page), true)
    view.setUint32(52, this.#next, true)
    bytes.set(descriptor({ levels: 0, root: noPage, items: 0, flags: 8, fixedBytes: this.#pageSize }), 60)
    bytes.set(descriptor(main), 108)
    view.setBigUint64(196, BigInt(txnId - page), true)
    return bytes
  }
}

const none = new Uint8Array(0)
const nodeBytes = ({ key, data }: Node): number => (8 + key.length + data.length + 1) & ~1

function* groups(rows: TableRows['rows']): Generator<readonly [Uint8Array, readonly Uint8Array[]]> {
  let last: readonly [Uint8Array, Uint8Array[]] | undefined
  for (const [key, value] of rows) {
    if (last && Buffer.compare(last[0], key) === 0) last[1].push(value)
    else {
      if (last) yield last
      last = [key, [value]]
    }
  }
  if (last) yield last
}

function header(
  bytes: Uint8Array,
  { flags, number, fixedBytes }: { readonly flags: number; readonly number: number; readonly fixedBytes: number },
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  view.setBigUint64(0, 1n, true)
  view.setUint16(8, fixedBytes, true)
  view.setUint16(10, flags, true)
  view.setUint32(16, number, true)
}

function descriptor({ flags, levels, fixedBytes = 0, root, items }: Tree): Uint8Array {
  const bytes = new Uint8Array(48)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, flags, true)
  view.setUint16(2, levels, true)
  view.setUint32(4, fixedBytes, true)
  view.setUint32(8, root, true)
  view.setBigUint64(32, BigInt(items), true)
  return bytes
}

function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value, true)
  return bytes
}
