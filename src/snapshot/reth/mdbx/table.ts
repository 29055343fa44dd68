import { compareBytes, equalBytes } from '#lib/bytes'
import type { Fault } from '#lib/fault'
import { u32Le } from '../littleEndian.ts'
import { decodeSubPage, duplicatesNode, largeNode, treeNode } from './page.ts'
import type { PageFile } from './pageFile.ts'
import { TreeCursor, type TreeRoot } from './treeCursor.ts'
import { decodeDescriptor, type TreeDescriptor } from './treeDescriptor.ts'

export const severalValuesFlag = 4
export const fixedValuesFlag = 0x10

/** Largest value that is read: a code with its jump table, with room. A table of this format has no greater ones. */
const maxValueBytes = 4 << 20

const rootOf = ({ root, levels }: TreeDescriptor): TreeRoot => ({ root, levels, fixedBytes: undefined })

/** Place of a row: a key, and a value of it where keys have several. */
export type RowPlace = { readonly key: Uint8Array; readonly value?: Uint8Array }

/** One table of a database. */
export class Table {
  readonly #file: PageFile
  readonly #tree: TreeDescriptor

  constructor(file: PageFile, tree: TreeDescriptor) {
    this.#file = file
    this.#tree = tree
  }

  /** Rows, as the table's descriptor counts them: each value of a key is a row. */
  get items(): number {
    return this.#tree.items
  }

  /** Returns the value of a key, its first one when it has several. Throws Fault SNAPSHOT_FILE_DAMAGED. */
  get(key: Uint8Array): Uint8Array | undefined {
    const rows = this.rows({ key })
    return rows.next() && equalBytes(rows.key, key) ? rows.value : undefined
  }

  /** Returns a cursor before the first row, or before the first row at or after `start`. */
  rows(start?: RowPlace): RowCursor {
    return new RowCursor(this.#file, this.#tree, start)
  }
}

/** Walks the rows of a table in ascending order of keys, and of values where a key has several. */
export class RowCursor {
  readonly #file: PageFile
  readonly #keys: TreeCursor
  readonly #hasSeveral: boolean
  readonly #fixedBytes: number | undefined
  /** Row to start at, until the first key is read. */
  #start: RowPlace | undefined
  #values: TreeCursor | undefined
  /** Values of the current key that follow, when all of them are walked. */
  #left = 0
  #value: Uint8Array | undefined

  constructor(file: PageFile, tree: TreeDescriptor, start: RowPlace | undefined) {
    this.#file = file
    this.#keys = new TreeCursor(file, rootOf(tree))
    this.#hasSeveral = (tree.flags & severalValuesFlag) !== 0
    this.#fixedBytes = (tree.flags & fixedValuesFlag) === 0 ? undefined : tree.fixedBytes
    this.#start = start
    if (start) this.#keys.seek(start.key)
  }

  /** View of the key of the row that the last `next` moved to. */
  get key(): Uint8Array {
    return this.#keys.key
  }

  /** View of the value of the row that the last `next` moved to. */
  get value(): Uint8Array {
    if (!this.#value) throw new RangeError('no row: next has not returned true')
    return this.#value
  }

  /** Moves to the next row, at first to the first one. Returns false after the last row. Throws Fault SNAPSHOT_FILE_DAMAGED. */
  next(): boolean {
    while (!this.#values?.next()) {
      if (this.#left > 0) throw this.#damaged('the tree of its values is shorter than its descriptor says')
      if (!this.#keys.next()) return false
      const single = this.#singleValue()
      this.#values = single ? undefined : this.#severalValues()
      const least = this.#takeStart()
      if (single && least && compareBytes(single, least) < 0) continue
      if (single) {
        this.#value = single
        return true
      }
      if (least) this.#seekValue(least)
    }
    this.#left--
    this.#value = this.#values.key
    return true
  }

  /** Returns the value to start at, when the current key is the first one and the key to start at. */
  #takeStart(): Uint8Array | undefined {
    const start = this.#start
    this.#start = undefined
    return start && equalBytes(start.key, this.key) ? start.value : undefined
  }

  #seekValue(least: Uint8Array): void {
    this.#values?.seek(least)
    this.#left = 0
  }

  /** Returns the value of the current key, or undefined when the key has several. */
  #singleValue(): Uint8Array | undefined {
    const { page, index } = this.#keys.entry
    const flags = page.flags(index)
    if (flags === 0) return page.data(index)
    if (this.#hasSeveral) return undefined
    const length = page.dataBytes(index)
    if (flags !== largeNode || length > maxValueBytes) throw this.#damaged(`its flags are ${flags}, its size is ${length}`)
    return this.#file.largeValue(u32Le(page.data(index), 0), length)
  }

  /** Returns a cursor over the values of the current key and sets their number. */
  #severalValues(): TreeCursor {
    const { page, number, index } = this.#keys.entry
    const flags = page.flags(index)
    const fixedBytes = this.#fixedBytes
    if (flags === duplicatesNode) {
      const values = decodeSubPage(page.data(index), fixedBytes)
      if (!values) throw this.#damaged('the page of its values is not whole')
      this.#left = values.count
      return new TreeCursor(this.#file, { root: number, levels: 1, fixedBytes, page: values })
    }
    const tree = flags === (duplicatesNode | treeNode) ? decodeDescriptor(page.data(index)) : undefined
    if (!tree || tree.items === 0) throw this.#damaged('the tree of its values has no sound descriptor')
    this.#left = tree.items
    return new TreeCursor(this.#file, { root: tree.root, levels: tree.levels, fixedBytes })
  }

  #damaged(reason: string): Fault {
    const { number, index } = this.#keys.entry
    return this.#file.damaged(number, `node ${index}: ${reason}`)
  }
}
