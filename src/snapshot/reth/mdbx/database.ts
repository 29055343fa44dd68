import type { Fault } from '#lib/fault'
import { rethFault } from '../../faults.ts'
import { DataFile } from '../dataFile.ts'
import { readMeta } from './meta.ts'
import { treeNode } from './page.ts'
import { PageFile } from './pageFile.ts'
import { fixedValuesFlag, severalValuesFlag, Table } from './table.ts'
import { TreeCursor } from './treeCursor.ts'
import { decodeDescriptor } from './treeDescriptor.ts'

/** Flags of tables whose keys and values are in lexical order. Any other flag means another order. */
const knownTableFlags = severalValuesFlag | fixedValuesFlag
/** Tables that a database may have, so that a damaged list of names ends. */
const maxTables = 256
const maxNameBytes = 64

/** Tables of a database file, read-only. The file must not be written meanwhile: it is a copy, or its node has stopped. */
export class Database implements Disposable {
  readonly #file: DataFile
  readonly #tables: ReadonlyMap<string, Table>

  /** Opens a file. Throws Fault SNAPSHOT_FILE_MISSING, SNAPSHOT_FILE_DAMAGED, SNAPSHOT_FORMAT_UNSUPPORTED. */
  constructor(path: string) {
    this.#file = new DataFile(path)
    try {
      this.#tables = openTables(this.#file)
    } catch (error) {
      this.#file[Symbol.dispose]()
      throw error
    }
  }

  get fileName(): string {
    return this.#file.name
  }

  get sizeBytes(): number {
    return this.#file.sizeBytes
  }

  has(name: string): boolean {
    return this.#tables.has(name)
  }

  /** Returns a table by name. Throws Fault SNAPSHOT_FILE_DAMAGED when the database has no such table. */
  table(name: string): Table {
    const table = this.#tables.get(name)
    if (!table) throw this.damaged('its tables', `there is no table ${name}`)
    return table
  }

  damaged(place: string, reason: string): Fault {
    return this.#file.damaged(place, reason)
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]()
  }
}

function openTables(file: DataFile): ReadonlyMap<string, Table> {
  const meta = readMeta(file)
  const pages = new PageFile(file, meta)
  const tables = new Map<string, Table>()
  const names = new TreeCursor(pages, { root: meta.main.root, levels: meta.main.levels, fixedBytes: undefined })
  while (names.next()) {
    const { page, number, index } = names.entry
    const name = String.fromCharCode(...names.key.subarray(0, maxNameBytes))
    const tree = page.flags(index) === treeNode ? decodeDescriptor(page.data(index)) : undefined
    if (!tree || tables.size === maxTables) throw pages.damaged(number, `node ${index} is not the descriptor of a table`)
    if ((tree.flags & ~knownTableFlags) !== 0)
      throw rethFault('SNAPSHOT_FORMAT_UNSUPPORTED', { file: file.name, reason: `table ${name} has flags ${tree.flags}` })
    tables.set(name, new Table(pages, tree))
  }
  return tables
}
