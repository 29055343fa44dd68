import { closeSync, existsSync, fstatSync, openSync } from 'node:fs'
import { dataFile } from '../environmentFiles.ts'
import { DamagedPage, type Meta, PageReader, readMeta } from './pages.ts'

/**
 * Returns the reason why the database file of a directory cannot be opened, or undefined. LMDB maps the file and does not validate it: a truncated
 * file, or a damaged page above the tables, would end the process or show an empty store. Checks both meta pages, the length of the file, the tree of
 * tables, and the first page of each table. A damaged page below is detected only when it is read.
 */
export function damageOf(dir: string): string | undefined {
  const path = dataFile(dir)
  if (!existsSync(path)) return undefined
  const file = openSync(path, 'r')
  try {
    const meta = newestMeta(file)
    if (meta === undefined) return undefined
    const pages = new PageReader(file, meta)
    checkLength(pages, meta, fstatSync(file).size)
    for (const table of pages.tables()) pages.checkRoot(table)
    return undefined
  } catch (error) {
    if (error instanceof DamagedPage) return `data.mdb is cut off or overwritten: ${error.message}`
    throw error
  } finally {
    closeSync(file)
  }
}

/** Returns the meta page of the last transaction; undefined for an empty file. @throws DamagedPage */
export function newestMeta(file: number): Meta | undefined {
  const first = readMeta(file, 0)
  if (first === undefined) return undefined
  if (first === 'foreign') throw new DamagedPage('page 0 is not that of a database')
  const { pageSize } = first
  if (pageSize < 512 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) throw new DamagedPage(`a page size of ${pageSize} bytes`)
  const second = readMeta(file, pageSize)
  if (typeof second !== 'object' || second.pageSize !== pageSize) throw new DamagedPage('page 1 is not that of a database')
  return second.transaction > first.transaction ? second : first
}

/** Checks the length of the file, which may end before the last page ever used when all later pages are free. */
function checkLength(pages: PageReader, { pageSize, lastPage }: Meta, bytes: number): void {
  const whole = Math.floor(bytes / pageSize)
  if (whole > lastPage) return
  const missing = lastPage + 1 - whole
  const free = new Set<number>()
  for (const page of pages.freePages()) if (page >= whole && page <= lastPage) free.add(page)
  if (free.size < missing) throw new DamagedPage(`it has ${bytes} bytes, and pages up to byte ${(lastPage + 1) * pageSize} are used`)
}
