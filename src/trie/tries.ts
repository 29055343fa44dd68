import { readFileSync } from 'node:fs'
import { compareBytes, emptyBytes } from '#lib/bytes'
import { fromHex, hexAt, toHex } from '#lib/hex'
import { lazy } from '#lib/lazy'
import type { CacheFacts } from '#lib/lru'
import type { Hash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import { accountBytes, readLayout, slotBytes } from '#types/stateDiffLayout'
import { trieFault } from './faults.ts'
import { locationOf } from './loadNode.ts'
import { lookAt, type NodeSource, noNodes } from './ports.ts'
import { TrieDiff } from './trieDiff.ts'

/** The used part of the global `WebAssembly`, which the Node types omit. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

type Global = { readonly value: number }

/** Exports of `assembly/index.ts`, where they are documented. Pointers are numbers. */
type Exports = {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly landing: Global
  readonly landingBytes: Global
  readonly packedBytes: Global
  readonly hits: Global
  readonly reads: Global
  open(cacheBytes: number): void
  begin(inputBytes: number): number
  update(root: number, owner: number, changes: number, count: number, keyNibbles: number): number
  updateState(root: number, accounts: number, accountRows: number, slots: number, slotRows: number, trust: boolean): number
  pack(): number
  keepPacked(packed: number): void
  rootCount(): number
  packRoots(): number
  workBytes(): number
}

const compiled = lazy(() => new WebAssembly.Module(readFileSync(new URL('./tries.wasm', import.meta.url))))

/** Working memory that is kept for the next call. After a larger call the whole memory is given back, since it cannot shrink. */
export const keptWorkBytes = 32 * 2 ** 20
/** Linear memory ends at 4 GiB, and holds the working memory of a call too. */
const mostCacheBytes = 3 * 2 ** 30
const maxKeyBytes = 32
const changeBytes = 16
const noAccount = 2

/** Change of one key of a trie; `null` removes the key. */
export type TrieChange = { readonly key: Uint8Array; readonly value: Uint8Array | null }

/** Result of `Tries.updateState`. */
export type UpdatedState = {
  readonly root: Hash
  /** Trie nodes to store or remove. Nodes of a wiped account's old storage are not listed: all of them are removed before these are stored. */
  readonly nodes: TrieDiff
  /**
   * Storage root after the block, by hex of the address key, for every existing account that the diff or its slots name. An account of the diff is
   * omitted when it has no storage before and after the block.
   */
  readonly storageRoots: ReadonlyMap<string, Hash>
}

/** Rows of a diff, by number: from the first one to before the last one. */
export type DiffRows = {
  readonly accounts: readonly [from: number, to: number]
  readonly slots: readonly [from: number, to: number]
}

/** Which nodes of a source are compared with their hashes: each one, or none, since the caller compares the resulting root. */
export type NodeCheck = 'nodes' | 'root'

/**
 * Updates tries in linear memory (ADR 0030). Its cache has nodes by hash: those that updates have read and made. It serves any state, since a hash
 * names one node only. A call occupies the instance; a source must not use the instance that reads from it.
 */
export class Tries {
  readonly #givenBytes: number
  #cacheBytes: number
  #hits = 0
  #misses = 0
  #missShare = 0
  #wasm: Exports | undefined
  #memory: Uint8Array = emptyBytes
  #source: NodeSource | undefined
  #keyBytes = 0

  /** @param cacheBytes bound on the cache in bytes, 3 GiB at most; 0: none. Pages of it are used as it fills. */
  constructor(cacheBytes = 0) {
    this.#givenBytes = Math.min(cacheBytes, mostCacheBytes)
    this.#cacheBytes = this.#givenBytes
  }

  /** Returns the facts of the cache. Its size is that of the whole linear memory, working memory included. */
  facts(): CacheFacts {
    const sizeBytes = this.#wasm?.memory.buffer.byteLength ?? 0
    return { sizeBytes, maxBytes: this.#cacheBytes, hits: this.#hits, misses: this.#misses }
  }

  /** Bounds the cache to a share of its bytes. It is empty then, since linear memory cannot shrink. @param share 0 to 1 */
  limitTo(share: number): void {
    const bytes = this.#givenBytes * share
    if (bytes === this.#cacheBytes) return
    this.#cacheBytes = bytes
    this.#close()
  }

  /**
   * Applies changes to one trie. Reads, encodes and hashes each node on a changed path once.
   * @param owner keccak(address) for a storage trie, undefined for the account trie
   * @param changes strictly ascending by key, keys of one length up to 32 bytes; `null` removes the key, which may be absent; values are not empty
   * @returns the new root and the node changes, each path at most once, leaves included; a removal may name a node that was not stored
   * @throws Fault MISSING_NODE, BAD_NODE; RangeError when the keys do not ascend
   */
  update(nodes: NodeSource, owner: Uint8Array | undefined, root: Hash, changes: readonly TrieChange[]): { root: Hash; changes: TrieDiff } {
    const keyBytes = checkKeys(changes)
    const input = 64 + changes.reduce((sum, { value }) => sum + changeBytes + keyBytes + (value?.length ?? 0), 0)
    return this.#call(nodes, keyBytes, input, (wasm, at) => {
      this.#writeChanges(at, owner, root, changes)
      const rootAt = changes.length === 0 ? at : wasm.update(at, owner ? at + 32 : 0, at + 64, changes.length, keyBytes * 2)
      return { root: this.#hashAt(rootAt), changes: this.#packed(wasm) }
    })
  }

  /**
   * Updates the account trie and the storage tries of a diff.
   * @param nodes of the state that `root` names
   * @param expected the new root, if the caller knows it. Nodes are compared with their hashes only when the result is another root
   * @throws Fault MISSING_NODE, BAD_NODE; RangeError when the diff has slots of an account that is in neither the diff nor the state
   */
  updateState(nodes: NodeSource, root: Hash, diff: StateDiff, expected?: Hash): UpdatedState {
    const { accounts, slots } = readLayout(new DataView(diff.bytes))
    const all: DiffRows = { accounts: [0, accounts.rows], slots: [0, slots.rows] }
    const updated = this.updateRows(nodes, root, diff, all, expected === undefined ? 'nodes' : 'root')
    return expected === undefined || updated.root === expected ? updated : this.updateRows(nodes, root, diff, all, 'nodes')
  }

  /** `updateState` for some rows of a diff. @param rows all rows of each of their accounts */
  updateRows(nodes: NodeSource, root: Hash, diff: StateDiff, rows: DiffRows, check: NodeCheck): UpdatedState {
    const { accounts, slots } = readLayout(new DataView(diff.bytes))
    const accountRows = rows.accounts[1] - rows.accounts[0]
    const slotRows = rows.slots[1] - rows.slots[0]
    const [accountsSize, slotsSize] = [accountRows * accountBytes, slotRows * slotBytes]
    return this.#call(nodes, maxKeyBytes, 32 + accountsSize + slotsSize, (wasm, at) => {
      const slotsAt = at + 32 + accountsSize
      this.#memory.set(fromHex(root), at)
      this.#memory.set(new Uint8Array(diff.bytes, accounts.rowsAt + rows.accounts[0] * accountBytes, accountsSize), at + 32)
      this.#memory.set(new Uint8Array(diff.bytes, slots.rowsAt + rows.slots[0] * slotBytes, slotsSize), slotsAt)
      const rootAt = wasm.updateState(at, at + 32, accountRows, slotsAt, slotRows, check === 'root')
      return { root: this.#hashAt(rootAt), nodes: this.#packed(wasm), storageRoots: this.#storageRoots(wasm) }
    })
  }

  /** Copies the nodes of a diff that another instance has computed to the cache. */
  keep({ buffer }: TrieDiff): void {
    if (this.#cacheBytes === 0) return
    this.#call(noNodes, maxKeyBytes, buffer.byteLength, (wasm, at) => {
      this.#memory.set(new Uint8Array(buffer), at)
      wasm.keepPacked(at)
    })
  }

  /** Share of the nodes of the last update that were not in the cache; 0 before the first one. */
  get missShare(): number {
    return this.#missShare
  }

  #call<T>(nodes: NodeSource, keyBytes: number, inputBytes: number, run: (wasm: Exports, input: number) => T): T {
    if (this.#source) throw new Error('tries: a call within a call')
    this.#wasm ??= this.#open()
    const wasm = this.#wasm
    this.#source = nodes
    this.#keyBytes = keyBytes
    try {
      const input = wasm.begin(inputBytes)
      this.#look()
      return run(wasm, input)
    } finally {
      this.#source = undefined
      const { hits, reads } = wasm
      this.#hits += hits.value
      this.#misses += reads.value
      if (hits.value + reads.value > 0) this.#missShare = reads.value / (hits.value + reads.value)
      if (wasm.workBytes() > keptWorkBytes) this.#close()
    }
  }

  #open(): Exports {
    const host = { load: this.#load.bind(this), fail: this.#fail.bind(this) }
    const wasm = new WebAssembly.Instance(compiled(), { host }).exports as Exports
    wasm.open(this.#cacheBytes)
    return wasm
  }

  #close(): void {
    this.#wasm = undefined
    this.#memory = emptyBytes
  }

  /** Takes a new view of the memory when it has grown. */
  #look(): Uint8Array {
    const { buffer } = (this.#wasm as Exports).memory
    if (this.#memory.buffer !== buffer) this.#memory = new Uint8Array(buffer)
    return this.#memory
  }

  #load(owner: number, path: number, depth: number, hash: number, key: number): number {
    const memory = this.#look()
    const wasm = this.#wasm as Exports
    const place = this.#placeOf(owner, path, depth, hash, 32)
    const below = key === 0 ? undefined : memory.slice(key, key + this.#keyBytes)
    const land = (rlp: Uint8Array): number => {
      if (rlp.length > wasm.landingBytes.value) throw trieFault('BAD_NODE', locationOf(place.owner, place.path, place.ref))
      memory.set(rlp, wasm.landing.value)
      return rlp.length
    }
    const size = lookAt(this.#source as NodeSource, place.owner, place.path, place.ref, below, land)
    if (size === undefined) throw trieFault('MISSING_NODE', locationOf(place.owner, place.path, place.ref))
    return size
  }

  #fail(reason: number, owner: number, path: number, depth: number, ref: number, size: number): void {
    this.#look()
    const place = this.#placeOf(owner, path, depth, ref, size)
    if (reason === noAccount) throw new RangeError(`state diff: slots of ${toHex(place.ref)}, an account that does not exist`)
    throw trieFault('BAD_NODE', locationOf(place.owner, place.path, place.ref))
  }

  #placeOf(
    owner: number,
    path: number,
    depth: number,
    ref: number,
    size: number,
  ): { owner?: Uint8Array; path: Uint8Array; ref: Uint8Array } {
    const memory = this.#memory
    return {
      ...(owner !== 0 && { owner: memory.slice(owner, owner + 32) }),
      path: memory.slice(path, path + depth),
      ref: memory.slice(ref, ref + size),
    }
  }

  #writeChanges(at: number, owner: Uint8Array | undefined, root: Hash, changes: readonly TrieChange[]): void {
    const memory = this.#memory
    const view = new DataView(memory.buffer)
    memory.set(fromHex(root), at)
    if (owner) memory.set(owner, at + 32)
    let free = at + 64 + changes.length * changeBytes
    for (const [i, { key, value }] of changes.entries()) {
      const change = at + 64 + i * changeBytes
      memory.set(key, free)
      memory.set(value ?? emptyBytes, free + key.length)
      view.setUint32(change, free, true)
      view.setUint32(change + 4, free + key.length, true)
      view.setUint32(change + 8, value?.length ?? 0, true)
      free += key.length + (value?.length ?? 0)
    }
  }

  #hashAt(at: number): Hash {
    return hexAt(this.#look(), at, 32) as Hash
  }

  #packed(wasm: Exports): TrieDiff {
    const at = wasm.pack()
    const buffer = new SharedArrayBuffer(wasm.packedBytes.value)
    new Uint8Array(buffer).set(this.#look().subarray(at, at + buffer.byteLength))
    return new TrieDiff(buffer)
  }

  #storageRoots(wasm: Exports): Map<string, Hash> {
    const count = wasm.rootCount()
    const at = wasm.packRoots()
    const memory = this.#look()
    const roots = new Map<string, Hash>()
    for (let i = at; i < at + 64 * count; i += 64) roots.set(hexAt(memory, i, 32), hexAt(memory, i + 32, 32) as Hash)
    return roots
  }
}

/** Returns the length of the keys; throws RangeError unless they ascend, have one length and fit. */
function checkKeys(changes: readonly TrieChange[]): number {
  const bytes = changes[0]?.key.length ?? 0
  for (const [i, { key }] of changes.entries()) {
    const before = changes[i - 1]
    if (before && compareBytes(before.key, key) >= 0) throw new RangeError('trie: keys do not ascend')
    if (key.length !== bytes || bytes > maxKeyBytes) throw new RangeError(`trie: a key of ${key.length} bytes`)
  }
  return bytes
}

/** Tries of this thread without a cache, for calls now and then. */
export const plainTries: () => Tries = lazy(() => new Tries())
