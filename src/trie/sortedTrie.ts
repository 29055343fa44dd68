import { emptyBytes } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import { emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import { nibblesOf, partingOf } from './nibbles.ts'
import { encodeBranch, encodeNode, type NodeRef } from './node.ts'

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
  /** The last entry. Its leaf is encoded once the next entry determines its parent. */
  #path: Uint8Array | undefined
  #value: Uint8Array = emptyBytes

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
      this.#closeTo(last, parting)
    }
    this.#path = path
    this.#value = value
  }

  /** Finishes the trie and returns its root. The object can then build another trie. */
  end(): Hash {
    const path = this.#path
    if (path === undefined) return emptyRoot
    this.#path = undefined
    const top = this.#top()
    if (top === undefined) return hashFromBytes(keccak256(encodeNode({ kind: 'leaf', path, value: this.#value })))
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

  #placeLeaf(path: Uint8Array, { depth, children }: OpenBranch): void {
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
