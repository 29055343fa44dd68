/** Change of one trie node; `owner` is undefined in the account trie, `node: null` removes the node. */
export type TrieNodeChange = { readonly owner: Uint8Array | undefined; readonly path: Uint8Array; readonly node: Uint8Array | null }

/*
 * Layout, integers little-endian:
 *   header    u32 number of storage tries, u32 number of changes of the account trie, u32 total bytes
 *   owners    for each storage trie: key of its account (32 bytes), u32 number of changes
 *   changes   of the storage tries in the order of their owners, then of the account trie: u8 length of the path, path (a nibble per byte),
 *             u32 size of the node (0: removed), and unless removed: hash (32 bytes), RLP
 */
const headerBytes = 12
const ownerBytes = 36
const hashBytes = 32

/**
 * Changes of trie nodes in one immutable `SharedArrayBuffer`, which every thread reads without decoding: one path at most once per trie, leaves
 * included. Iteration yields storage tries in ascending order of owner, then the account trie. Returned byte arrays are not shared.
 */
export class TrieDiff implements Iterable<TrieNodeChange> {
  readonly buffer: SharedArrayBuffer
  readonly #bytes: Uint8Array
  readonly #view: DataView

  /** Throws RangeError unless the header has the buffer's size. */
  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer
    this.#bytes = new Uint8Array(buffer)
    this.#view = new DataView(buffer)
    if (buffer.byteLength < headerBytes || this.#view.getUint32(8, true) !== buffer.byteLength)
      throw new RangeError('trie diff: wrong size')
  }

  /** Number of changes. */
  get size(): number {
    let size = this.#view.getUint32(4, true)
    for (const { changes } of this.#storages()) size += changes
    return size
  }

  /** Copies the bytes once; the arrays of all changes are views of the copy. */
  *[Symbol.iterator](): Generator<TrieNodeChange> {
    const bytes = this.#bytes.slice()
    let at = headerBytes + ownerBytes * this.#view.getUint32(0, true)
    for (const { owner, changes } of this.#tries()) {
      for (let left = changes; left > 0; left--) {
        const pathEnd = at + 1 + (bytes[at] as number)
        const size = this.#view.getUint32(pathEnd, true)
        const path = bytes.subarray(at + 1, pathEnd)
        at = endOf(pathEnd, size)
        yield { owner, path, node: size === 0 ? null : bytes.subarray(at - size, at) }
      }
    }
  }

  /** Offsets of the stored nodes' hashes. */
  *hashes(): Generator<number> {
    let at = headerBytes + ownerBytes * this.#view.getUint32(0, true)
    for (let left = this.size; left > 0; left--) {
      const pathEnd = at + 1 + (this.#bytes[at] as number)
      const size = this.#view.getUint32(pathEnd, true)
      at = endOf(pathEnd, size)
      if (size > 0) yield at - size - hashBytes
    }
  }

  /** Returns the first four bytes of the hash at an offset of `hashes` as a number. */
  wordAt(at: number): number {
    return this.#view.getUint32(at, true)
  }

  /** Returns the node whose hash is at an offset of `hashes`; undefined when its hash is another. */
  nodeAt(at: number, hash: Uint8Array): Uint8Array | undefined {
    for (let i = 0; i < hashBytes; i++) if (this.#bytes[at + i] !== hash[i]) return undefined
    const from = at + hashBytes
    return this.#bytes.slice(from, from + this.#view.getUint32(at - 4, true))
  }

  *#storages(): Generator<{ readonly owner: Uint8Array; readonly changes: number }> {
    for (let i = 0, at = headerBytes; i < this.#view.getUint32(0, true); i++, at += ownerBytes) {
      yield { owner: this.#bytes.slice(at, at + 32), changes: this.#view.getUint32(at + 32, true) }
    }
  }

  *#tries(): Generator<{ readonly owner: Uint8Array | undefined; readonly changes: number }> {
    yield* this.#storages()
    yield { owner: undefined, changes: this.#view.getUint32(4, true) }
  }
}

/** Returns the end of a change. @param pathEnd end of its path @param size of its node */
const endOf = (pathEnd: number, size: number): number => pathEnd + 4 + (size === 0 ? 0 : hashBytes + size)

/** The stored nodes of several diffs by hash. */
export class NodesByHash {
  readonly #diffs: readonly TrieDiff[]
  /** Open addressing by the first bytes of the hash, two numbers each: the number of the diff plus one (0: free), and an offset. */
  readonly #table: Uint32Array

  constructor(diffs: readonly TrieDiff[]) {
    this.#diffs = diffs
    const nodes = diffs.reduce((sum, { size }) => sum + size, 0)
    this.#table = new Uint32Array(2 * 2 ** Math.ceil(Math.log2(2 * nodes + 1)))
    for (const [i, diff] of diffs.entries()) for (const at of diff.hashes()) this.#enter(i + 1, at, diff.wordAt(at))
  }

  #enter(diff: number, at: number, word: number): void {
    const mask = this.#table.length / 2 - 1
    let slot = word & mask
    while (this.#table[2 * slot] !== 0) slot = (slot + 1) & mask
    this.#table[2 * slot] = diff
    this.#table[2 * slot + 1] = at
  }

  /** Returns the RLP of the node with a hash. */
  get(hash: Uint8Array): Uint8Array | undefined {
    const table = this.#table
    const mask = table.length / 2 - 1
    for (let slot = wordOf(hash) & mask; ; slot = (slot + 1) & mask) {
      const diff = table[2 * slot] as number
      if (diff === 0) return undefined
      const node = this.#diffs[diff - 1]?.nodeAt(table[2 * slot + 1] as number, hash)
      if (node !== undefined) return node
    }
  }
}

const wordOf = (hash: Uint8Array): number =>
  ((hash[0] ?? 0) | ((hash[1] ?? 0) << 8) | ((hash[2] ?? 0) << 16) | ((hash[3] ?? 0) << 24)) >>> 0
