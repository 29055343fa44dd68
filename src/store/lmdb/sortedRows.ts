import { compareBytes } from '#lib/bytes'
import type { Row } from '../ports.ts'

const maxLeaf = 256

/** Rows in key order, in leaves of bounded length. Immutable: `edit` creates a new version that shares the unchanged leaves. */
export class SortedRows {
  static readonly empty: SortedRows = new SortedRows([])
  readonly #leaves: readonly (readonly Row[])[]

  constructor(leaves: readonly (readonly Row[])[]) {
    this.#leaves = leaves
  }

  edit(): SortedRowsEdit {
    return new SortedRowsEdit([...this.#leaves])
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return find(this.#leaves, key)
  }

  /** Iterates over rows with from ≤ key < to, ascending or descending. */
  range(from: Uint8Array | undefined, to: Uint8Array | undefined, reverse: boolean): Generator<Row> {
    return reverse ? descending(this.#leaves, from, to) : ascending(this.#leaves, from, to)
  }
}

/** A new version during its construction. */
export class SortedRowsEdit {
  readonly #leaves: (readonly Row[])[]
  /** Leaves that no finished version shares. */
  readonly #own = new Set<readonly Row[]>()

  constructor(leaves: (readonly Row[])[]) {
    this.#leaves = leaves
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return find(this.#leaves, key)
  }

  /** As that of a version; nothing may be written while it is walked. */
  range(from: Uint8Array | undefined, to: Uint8Array | undefined, reverse: boolean): Generator<Row> {
    return reverse ? descending(this.#leaves, from, to) : ascending(this.#leaves, from, to)
  }

  put(key: Uint8Array, value: Uint8Array): void {
    const leafAt = Math.max(0, leafOf(this.#leaves, key))
    const leaf = this.#ownLeaf(leafAt)
    const at = lowerBound(leaf, key)
    const isThere = hasKeyAt(leaf, at, key)
    leaf.splice(at, isThere ? 1 : 0, { key: key.slice(), value: value.slice() })
    if (leaf.length > maxLeaf) this.#split(leafAt, leaf)
  }

  delete(key: Uint8Array): void {
    const leafAt = leafOf(this.#leaves, key)
    const shared = this.#leaves[leafAt]
    if (shared === undefined || !hasKeyAt(shared, lowerBound(shared, key), key)) return
    const leaf = this.#ownLeaf(leafAt)
    leaf.splice(lowerBound(leaf, key), 1)
    if (leaf.length === 0) this.#leaves.splice(leafAt, 1)
  }

  /** Returns the rows written so far as a separate version. */
  done(): SortedRows {
    this.#own.clear()
    return new SortedRows([...this.#leaves])
  }

  #ownLeaf(at: number): Row[] {
    const leaf = this.#leaves[at] ?? []
    if (this.#own.has(leaf)) return leaf as Row[]
    const copy = [...leaf]
    this.#own.add(copy)
    this.#leaves[at] = copy
    return copy
  }

  #split(at: number, leaf: Row[]): void {
    const upper = leaf.splice(leaf.length >> 1)
    this.#own.add(upper)
    this.#leaves.splice(at + 1, 0, upper)
  }
}

/** Returns the index of the first row whose key is not below `key`. */
function lowerBound(rows: readonly Row[], key: Uint8Array): number {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareBytes((rows[middle] as Row).key, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

const hasKeyAt = (rows: readonly Row[], at: number, key: Uint8Array): boolean => {
  const row = rows[at]
  return row !== undefined && compareBytes(row.key, key) === 0
}

/** Returns the index of the last leaf that begins at or below the key; −1 when all begin above it. */
function leafOf(leaves: readonly (readonly Row[])[], key: Uint8Array): number {
  let [low, high] = [0, leaves.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const first = leaves[middle]?.[0] as Row
    if (compareBytes(first.key, key) <= 0) low = middle + 1
    else high = middle
  }
  return low - 1
}

function find(leaves: readonly (readonly Row[])[], key: Uint8Array): Uint8Array | undefined {
  const leaf = leaves[leafOf(leaves, key)]
  if (leaf === undefined) return undefined
  const row = leaf[lowerBound(leaf, key)]
  return row !== undefined && compareBytes(row.key, key) === 0 ? row.value : undefined
}

function* ascending(leaves: readonly (readonly Row[])[], from: Uint8Array | undefined, to: Uint8Array | undefined): Generator<Row> {
  const start = from === undefined ? 0 : Math.max(0, leafOf(leaves, from))
  for (let i = start; i < leaves.length; i++) {
    const leaf = leaves[i] as readonly Row[]
    for (let at = i === start && from ? lowerBound(leaf, from) : 0; at < leaf.length; at++) {
      const row = leaf[at] as Row
      if (to !== undefined && compareBytes(row.key, to) >= 0) return
      yield row
    }
  }
}

function* descending(leaves: readonly (readonly Row[])[], from: Uint8Array | undefined, to: Uint8Array | undefined): Generator<Row> {
  const start = to === undefined ? leaves.length - 1 : leafOf(leaves, to)
  for (let i = start; i >= 0; i--) {
    const leaf = leaves[i] as readonly Row[]
    for (let at = (i === start && to ? lowerBound(leaf, to) : leaf.length) - 1; at >= 0; at--) {
      const row = leaf[at] as Row
      if (from !== undefined && compareBytes(row.key, from) < 0) return
      yield row
    }
  }
}
