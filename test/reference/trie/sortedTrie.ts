import { emptyBytes } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import { decodeRlp, encodeRlp, type RlpItem, rlpBytes, rlpList } from '#lib/rlp'
import { emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import { nibblesOf, partingOf } from '../../../src/trie/nibbles.ts'
import { encodeBranch, encodeNode, type NodeRef } from '../../../src/trie/node.ts'

/**
 * Receives a finished node.
 * @param path nibbles from the root, one per byte
 */
export type NodeSink = (path: Uint8Array, node: Uint8Array) => void

/** A branch on the last entry's path, which may still get children. `depth`: nibbles of its own path. */
type OpenBranch = { depth: number; readonly children: (NodeRef | undefined)[] }

/**
 * Builds a trie from its entries in key order. Encodes and hashes each node once. Memory: one entry, and one branch for each nibble of a key.
 *
 * The sink receives the branches and extensions that are not embedded in their parent, children before parents: the key order of a store that ends
 * each path with 0x10. Leaves are not emitted, because the entries contain them.
 */
export class SortedTrie {
  readonly #sink: NodeSink
  /** From the root down. The first `#open` are in use; the others are kept for later branches. */
  readonly #branches: OpenBranch[] = []
  #open = 0
  /** The last entry, or the last one of a sealed part. */
  #path: Uint8Array | undefined
  /** Value of the last entry, whose leaf is encoded once the next entry determines its parent; undefined in a sealed part. */
  #value: Uint8Array | undefined
  /** Nibbles of a sealed part; the next entry differs in one of them. */
  #sealed = 0

  constructor(sink: NodeSink) {
    this.#sink = sink
  }

  /**
   * Adds an entry.
   * @param key above all earlier keys, and of their length
   * @param value not empty; the caller must not change it before the next call
   * @throws RangeError when keys do not ascend, or differ in length
   */
  add(key: Uint8Array, value: Uint8Array): void {
    const path = nibblesOf(key)
    const last = this.#path
    if (last !== undefined) {
      if (path.length !== last.length) throw new RangeError('trie: keys of different lengths')
      const parting = partingOf(last, path, 0)
      if (parting === path.length || (path[parting] ?? 0) < (last[parting] ?? 0)) throw new RangeError('trie: keys do not ascend')
      if (this.#value === undefined && parting >= this.#sealed) throw new RangeError('trie: a key of a part that is sealed')
      this.#closeTo(last, parting)
    }
    this.#path = path
    this.#value = value
  }

  /** Finishes the trie and returns its root. The object can then build another trie. */
  end(): Hash {
    const [path, value] = [this.#path, this.#value]
    if (path === undefined) return emptyRoot
    this.#path = undefined
    const top = this.#top()
    if (top === undefined) return hashFromBytes(keccak256(encodeNode({ kind: 'leaf', path, value: value ?? emptyBytes })))
    this.#placeLeaf(path, top)
    for (let branch = top; ; ) {
      this.#open--
      const parent = this.#top()
      const ref = this.#close(path, branch, parent?.depth ?? -1)
      if (parent === undefined) return hashFromBytes(ref)
      parent.children[path[parent.depth] ?? 0] = ref
      branch = parent
    }
  }

  /**
   * Finishes the part of the trie whose keys begin with the first nibbles of the last key. No later key may be in it.
   * @param depth nibbles, at least one. The node above them must be a branch of the whole trie: otherwise the result, and every later one, is wrong
   * @returns the reference to the part in that branch
   */
  seal(depth: number): NodeRef {
    const path = this.#path
    if (path === undefined || depth < 1 || depth > path.length) throw new RangeError('trie: no part to seal')
    this.#closeTo(path, depth - 1)
    this.#value = undefined
    this.#sealed = depth
    return this.#top()?.children[path[depth - 1] ?? 0] ?? emptyBytes
  }

  /** Returns the trie up to the last entry, for `restore`: some kilobytes. */
  save(): Uint8Array {
    const branches = this.#branches.slice(0, this.#open).map(({ depth, children }): RlpItem => {
      return [Uint8Array.of(depth), Array.from(children, (child) => child ?? emptyBytes)]
    })
    const value = this.#value === undefined ? [] : [this.#value]
    return encodeRlp([this.#path === undefined ? [] : [this.#path], value, Uint8Array.of(this.#sealed), branches])
  }

  /** Continues a trie from its state. @throws RlpError on other bytes */
  restore(state: Uint8Array): void {
    const [path, value, sealed, branches] = rlpList(decodeRlp(state), 'trie')
    const optional = (item: RlpItem | undefined): Uint8Array | undefined =>
      rlpList(item, 'entry').map((each) => rlpBytes(each, 'part').slice())[0]
    this.#path = optional(path)
    this.#value = optional(value)
    this.#sealed = rlpBytes(sealed, 'depth')[0] ?? 0
    this.#open = 0
    for (const branch of rlpList(branches, 'branches')) {
      const [depth, children] = rlpList(branch, 'branch')
      const opened = this.#branchFrom(rlpBytes(depth, 'depth')[0] ?? 0)
      for (const [at, child] of rlpList(children, 'children').entries()) {
        const ref = rlpBytes(child, 'child').slice()
        if (ref.length > 0) opened.children[at] = ref
      }
    }
  }

  /** Places the last leaf and closes all branches deeper than `depth`, where the next entry parts from the path. A branch is then open there. */
  #closeTo(path: Uint8Array, depth: number): void {
    this.#placeLeaf(path, this.#branchFrom(depth))
    for (let branch = this.#top(); branch !== undefined && branch.depth > depth; branch = this.#top()) {
      this.#open--
      const ref = this.#close(path, branch, Math.max(depth, this.#top()?.depth ?? -1))
      const parent = this.#branchFrom(depth)
      parent.children[path[parent.depth] ?? 0] = ref
    }
  }

  /** Places the leaf of the last entry, unless its part is sealed. */
  #placeLeaf(path: Uint8Array, { depth, children }: OpenBranch): void {
    if (this.#value === undefined) return
    const leaf = encodeNode({ kind: 'leaf', path: path.subarray(depth + 1), value: this.#value })
    children[path[depth] ?? 0] = leaf.length < 32 ? leaf : keccak256(leaf)
  }

  /** Returns the reference of the parent, or of the root with parent depth −1, to a finished branch and the extension above it. */
  #close(path: Uint8Array, { depth, children }: OpenBranch, parentDepth: number): NodeRef {
    const ref = this.#emit(path.subarray(0, depth), encodeBranch(children))
    if (depth === parentDepth + 1) return ref
    const extension = encodeNode({ kind: 'extension', path: path.subarray(parentDepth + 1, depth), child: ref })
    return this.#emit(path.subarray(0, parentDepth + 1), extension)
  }

  #emit(path: Uint8Array, node: Uint8Array): NodeRef {
    if (node.length < 32 && path.length > 0) return node
    this.#sink(path, node)
    return keccak256(node)
  }

  #top(): OpenBranch | undefined {
    return this.#open === 0 ? undefined : this.#branches[this.#open - 1]
  }

  /** Returns the deepest open branch, after opening one at `depth` if all open branches are above that depth. */
  #branchFrom(depth: number): OpenBranch {
    const top = this.#top()
    if (top !== undefined && top.depth >= depth) return top
    let branch = this.#branches[this.#open]
    if (branch === undefined) {
      branch = { depth, children: new Array<NodeRef | undefined>(16) }
      this.#branches.push(branch)
    }
    branch.depth = depth
    branch.children.fill(undefined)
    this.#open++
    return branch
  }
}
