import { compareBytes } from '#lib/bytes'
import type { Page } from './page.ts'
import type { PageFile } from './pageFile.ts'

/** A tree to walk: its root is on a page of the file, or inside a node of page `root`. */
export type TreeRoot = { readonly root: number; readonly levels: number; readonly fixedBytes: number | undefined; readonly page?: Page }

type Step = { readonly page: Page; readonly number: number; index: number }

/**
 * Walks the entries of one B+tree in ascending order of keys. Every way through a damaged tree ends: a page lies at the depth that the descriptor names,
 * has entries, and keys must ascend, so a page that is reached twice is refused at its first key.
 */
export class TreeCursor {
  readonly #file: PageFile
  readonly #tree: TreeRoot
  /** The branch pages above the leaf, the root first. */
  readonly #branches: Step[] = []
  #leaf: Step | undefined
  #before: Uint8Array | undefined
  #key: Uint8Array | undefined

  constructor(file: PageFile, tree: TreeRoot) {
    this.#file = file
    this.#tree = tree
  }

  /** Key of the entry that the last `next` moved to. */
  get key(): Uint8Array {
    if (!this.#key) throw new RangeError('no entry: next has not returned true')
    return this.#key
  }

  /** Page and index of the entry that the last `next` moved to. */
  get entry(): Readonly<Step> {
    if (!this.#leaf) throw new RangeError('no entry: next has not returned true')
    return this.#leaf
  }

  /** Moves to the next entry, at first to the first one. Returns false after the last entry. Throws Fault SNAPSHOT_FILE_DAMAGED. */
  next(): boolean {
    let leaf = this.#leaf ?? this.#firstLeaf()
    if (leaf && leaf.index + 1 >= leaf.page.count) leaf = this.#nextLeaf()
    if (!leaf) return false
    leaf.index++
    const key = leaf.page.key(leaf.index)
    if (this.#before && compareBytes(this.#before, key) >= 0) throw this.#file.damaged(leaf.number, `key ${leaf.index} does not ascend`)
    this.#before = key
    this.#key = key
    this.#leaf = leaf
    return true
  }

  /** Moves before the first entry whose key is at least `key`; `next` then moves to it. */
  seek(key: Uint8Array): void {
    this.#branches.length = 0
    this.#before = undefined
    if (this.#tree.levels === 0) return
    this.#leaf = this.#descend(this.#tree.root, key)
    this.#leaf.index = firstAtLeast(this.#leaf.page, key, 0) - 1
  }

  #firstLeaf(): Step | undefined {
    return this.#tree.levels === 0 ? undefined : this.#descend(this.#tree.root, undefined)
  }

  /** Returns the leaf after the current one, before its first entry; undefined when there is none. */
  #nextLeaf(): Step | undefined {
    for (let above = this.#branches.at(-1); above; above = this.#branches.at(-1)) {
      above.index++
      if (above.index < above.page.count) return this.#descend(above.page.child(above.index), undefined)
      this.#branches.pop()
    }
    return undefined
  }

  /** Goes down from a page below the last branch, to the leaf that may contain `key`, or else to the first leaf. */
  #descend(from: number, key: Uint8Array | undefined): Step {
    const { levels, fixedBytes, page: inNode } = this.#tree
    let number = from
    while (this.#branches.length < levels - 1) {
      const page = this.#file.branch(number)
      const index = key ? firstAtLeast(page, key, 1, 'greater') - 1 : 0
      this.#branches.push({ page, number, index })
      number = page.child(index)
    }
    return { page: inNode ?? this.#file.leaf(number, fixedBytes), number, index: -1 }
  }
}

/** Returns the index, from `from` on, of the first key that is at least `key`, or greater; the number of keys when there is none. */
function firstAtLeast(page: Page, key: Uint8Array, from: number, wanted: 'equal' | 'greater' = 'equal'): number {
  let low = from
  let high = page.count
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = compareBytes(page.key(middle), key)
    if (order < 0 || (order === 0 && wanted === 'greater')) low = middle + 1
    else high = middle
  }
  return low
}
