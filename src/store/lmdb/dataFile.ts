import { closeSync, existsSync, mkdirSync, openSync, readSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Makes a directory and those above it. Throws the system's error. (`mkdir` with `recursive` never ends where a file system takes none.) */
export function makeDir(dir: string): void {
  if (existsSync(dir)) return
  makeDir(dirname(dir))
  mkdirSync(dir)
}

const metaMagic = 0xbeefc0de
const [magicAt, pageSizeAt, metaBytes] = [24, 48, 52]

/**
 * Why the database file of a directory cannot be one, or undefined: LMDB maps the file and trusts it, so a foreign file would end the process.
 */
export function damageOf(dir: string): string | undefined {
  const path = join(dir, 'data.mdb')
  if (!existsSync(path)) return undefined
  const file = openSync(path, 'r')
  try {
    const first = metaPage(file, 0)
    if (first === undefined) return undefined
    if (first === 'foreign') return 'data.mdb is not a database'
    const second = metaPage(file, first)
    return typeof second === 'number' ? undefined : 'data.mdb is cut off or overwritten'
  } finally {
    closeSync(file)
  }
}

/** The page size that a meta page states; undefined when the file ends before it begins. */
function metaPage(file: number, at: number): number | 'foreign' | undefined {
  const bytes = new Uint8Array(metaBytes)
  const length = readSync(file, bytes, 0, metaBytes, at)
  if (length === 0) return undefined
  const view = new DataView(bytes.buffer)
  const isMeta = length === metaBytes && view.getUint32(magicAt, true) === metaMagic
  return isMeta ? view.getUint32(pageSizeAt, true) : 'foreign'
}
