import { randomBytes } from 'node:crypto'

/** Change of one trie node; `owner` is undefined in the account trie, `node: null` removes the node. */
export type TrieNodeChange = { readonly owner: Uint8Array | undefined; readonly path: Uint8Array; readonly node: Uint8Array | null }

/*
 * Layout, integers little-endian:
 *   header    u32 number of storage tries, u32 number of changes of the account trie, u32 total bytes, u32 offset of the account trie's changes,
 *             u32 offset of the last of them (total bytes: there is none). If its root has changed, that is the last change
 *   owners    for each storage trie: key of its account (32 bytes), u32 number of changes
 *   changes   of the storage tries in the order of their owners, then of the account trie: u8 length of the path, path (a nibble per byte),
 *             u32 size of the node (0: removed), and unless removed: hash (32 bytes), RLP
 */
const headerBytes = 20
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

  /** Returns the ranges of the bytes. */
  sections(): DiffSections {
    const ownersEnd = headerBytes + ownerBytes * this.#view.getUint32(0, true)
    const accountsAt = this.#view.getUint32(12, true)
    const lastAt = this.#view.getUint32(16, true)
    const topAt = this.#bytes[lastAt] === 0 ? lastAt : this.#bytes.length
    return {
      owners: this.#bytes.subarray(headerBytes, ownersEnd),
      storages: this.#bytes.subarray(ownersEnd, accountsAt),
      accountChanges: this.#view.getUint32(4, true),
      accounts: this.#bytes.subarray(accountsAt, topAt),
      top: this.#bytes.subarray(topAt),
    }
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

  /** Returns four bytes of the hash at an offset of `hashes` as a number. @param word 0: the first ones, 1: the next ones */
  wordAt(at: number, word: 0 | 1): number {
    return this.#view.getUint32(at + 4 * word, true)
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

/** Bytes of a diff: its list of owners, and the changes of all storage tries, of the account trie, and of the root of the account trie. */
type DiffSections = {
  readonly owners: Uint8Array
  readonly storages: Uint8Array
  /** that of the root included */
  readonly accountChanges: number
  readonly accounts: Uint8Array
  /** empty: the root has not changed */
  readonly top: Uint8Array
}

/** Returns the RLP of the account trie's root in a diff; undefined when it has not changed or is removed. */
export function topOf(diff: TrieDiff): Uint8Array | undefined {
  const { top } = diff.sections()
  return top.length > changeHeadBytes + hashBytes ? top.slice(changeHeadBytes + hashBytes) : undefined
}

/** Size of a change of a root before its hash: an empty path and the size of the node. */
const changeHeadBytes = 5

function topChange({ hash, rlp }: { readonly hash: Uint8Array; readonly rlp: Uint8Array }): Uint8Array {
  const change = new Uint8Array(changeHeadBytes + hashBytes + rlp.length)
  new DataView(change.buffer).setUint32(1, rlp.length, true)
  change.set(hash, changeHeadBytes)
  change.set(rlp, changeHeadBytes + hashBytes)
  return change
}

/**
 * Returns the changes of several diffs of one state.
 * @param diffs of different accounts, ascending; they share no node but the root of the account trie
 * @param top the root of the account trie after all of them; undefined: it has not changed
 */
export function joinDiffs(diffs: readonly TrieDiff[], top: { readonly hash: Uint8Array; readonly rlp: Uint8Array } | undefined): TrieDiff {
  const parts = diffs.map((diff) => diff.sections())
  const last = top ? [topChange(top)] : []
  const pieces = [...parts.map(({ owners }) => owners), ...parts.map(({ storages }) => storages), ...parts.map(({ accounts }) => accounts)]
  const size = (some: readonly Uint8Array[]): number => some.reduce((sum, { length }) => sum + length, 0)
  const total = headerBytes + size(pieces) + size(last)
  const buffer = new SharedArrayBuffer(total)
  const bytes = new Uint8Array(buffer)
  const view = new DataView(buffer)
  const owners = parts.reduce((sum, part) => sum + part.owners.length / ownerBytes, 0)
  const changes = parts.reduce((sum, part) => sum + part.accountChanges - (part.top.length > 0 ? 1 : 0), last.length)
  const accountsAt = headerBytes + size(pieces.slice(0, 2 * parts.length))
  const header = [owners, changes, total, accountsAt, total - size(last)]
  for (const [i, value] of header.entries()) view.setUint32(4 * i, value, true)
  let at = headerBytes
  for (const piece of [...pieces, ...last]) {
    bytes.set(piece, at)
    at += piece.length
  }
  return new TrieDiff(buffer)
}

/** Memory of `NodesByHash`: that of the diffs, and that of the table. */
export type SharedNodes = { readonly diffs: readonly SharedArrayBuffer[]; readonly table: SharedArrayBuffer }

/** The stored nodes of several diffs by hash, in memory that threads share. */
export class NodesByHash {
  readonly #diffs: readonly TrieDiff[]
  /**
   * Two random odd factors, then open addressing by the products of the first words of the hash with them, two numbers each: the number of the diff plus
   * one (0: free), and an offset. The factors prevent chosen collisions: the hash of a leaf follows from the value of a slot.
   */
  readonly #table: Uint32Array<SharedArrayBuffer>

  /** @param table of the same diffs, as another thread has made it */
  constructor(diffs: readonly TrieDiff[], table?: SharedArrayBuffer) {
    this.#diffs = diffs
    this.#table = new Uint32Array(table ?? newTable(diffs))
    if (table) return
    for (const [i, diff] of diffs.entries()) {
      for (const at of diff.hashes()) this.#enter(i + 1, at, this.#firstPlace(diff.wordAt(at, 0), diff.wordAt(at, 1)))
    }
  }

  get shared(): SharedNodes {
    return { diffs: this.#diffs.map(({ buffer }) => buffer), table: this.#table.buffer }
  }

  get #mask(): number {
    return (this.#table.length - secretNumbers) / 2 - 1
  }

  #firstPlace(first: number, second: number): number {
    const [a = 1, b = 1] = this.#table
    return ((Math.imul(first, a) + Math.imul(second, b)) >>> Math.clz32(this.#mask)) & this.#mask
  }

  #enter(diff: number, at: number, place: number): void {
    let slot = place
    while (this.#table[secretNumbers + 2 * slot] !== 0) slot = (slot + 1) & this.#mask
    this.#table[secretNumbers + 2 * slot] = diff
    this.#table[secretNumbers + 2 * slot + 1] = at
  }

  /** Returns the RLP of the node with a hash. */
  get(hash: Uint8Array): Uint8Array | undefined {
    const table = this.#table
    const mask = this.#mask
    for (let slot = this.#firstPlace(wordOf(hash, 0), wordOf(hash, 4)); ; slot = (slot + 1) & mask) {
      const diff = table[secretNumbers + 2 * slot] as number
      if (diff === 0) return undefined
      const node = this.#diffs[diff - 1]?.nodeAt(table[secretNumbers + 2 * slot + 1] as number, hash)
      if (node !== undefined) return node
    }
  }
}

/** Numbers of a table before its entries. */
const secretNumbers = 2

function newTable(diffs: readonly TrieDiff[]): SharedArrayBuffer {
  const nodes = diffs.reduce((sum, { size }) => sum + size, 0)
  const table = new SharedArrayBuffer(4 * secretNumbers + 8 * 2 ** Math.ceil(Math.log2(2 * nodes + 1)))
  new Uint32Array(table).set(Array.from({ length: secretNumbers }, () => randomBytes(4).readUInt32LE() | 1))
  return table
}

const wordOf = (hash: Uint8Array, at: number): number =>
  (hash[at] ?? 0) | ((hash[at + 1] ?? 0) << 8) | ((hash[at + 2] ?? 0) << 16) | ((hash[at + 3] ?? 0) << 24)
