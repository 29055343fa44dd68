import { rethFault } from '../../faults.ts'
import type { DataFile } from '../dataFile.ts'
import { u16Le, u32Le, u64Le } from '../littleEndian.ts'
import { decodeDescriptor, type TreeDescriptor } from './treeDescriptor.ts'

/** Bytes before the content of each page. */
export const pageHeaderBytes = 20
const metaPages = 3
const metaFlag = 8
/** `0x59659DBDEF4C11`, above the version in the low byte, as two words. */
const magicLow = 0xef4c11
const magicHigh = 0x59659dbd
const formatVersion = 3
const pageSizes = [4_096, 8_192, 16_384, 32_768, 65_536]

/** Places in a meta page, counted from the end of the page header. */
const txnIdAt = 8
const nextPageAt = 32
const freeTreeAt = 40
/** Field of the free tree's descriptor that stores the page size of the file. */
const pageSizeAt = freeTreeAt + 4
const mainTreeAt = 88
const closingTxnIdAt = 176
const metaBytes = 184

/** Content of the newest meta page: a snapshot of the whole database. */
export type Meta = {
  readonly pageSize: number
  readonly txnId: number
  /** Pages in use; the rest of the file is not part of the database. */
  readonly pages: number
  /** Tree of table names. */
  readonly main: TreeDescriptor
}

/**
 * Reads the three meta pages and returns the one with the highest transaction id. A meta page that was being written during a crash has two different ids
 * and is skipped, as the other client does.
 * @throws Fault SNAPSHOT_FILE_DAMAGED without a whole meta page, SNAPSHOT_FORMAT_UNSUPPORTED with a page of another version
 */
export function readMeta(file: DataFile): Meta {
  let newest: Meta | undefined
  for (const pageSize of pageSizes) {
    for (let page = 0; page < metaPages; page++) {
      const meta = metaAt(file, page, pageSize)
      if (meta && meta.txnId > (newest?.txnId ?? -1)) newest = meta
    }
    if (newest) return newest
  }
  throw file.damaged('pages 0 to 2', 'none of them is a whole meta page')
}

/** Decodes one meta page. Returns undefined when it is not whole or the file has another page size. */
function metaAt(file: DataFile, page: number, pageSize: number): Meta | undefined {
  const from = page * pageSize
  if (from + pageHeaderBytes + metaBytes > file.sizeBytes) return undefined
  const header = file.read(from, pageHeaderBytes)
  const meta = file.read(from + pageHeaderBytes, metaBytes)
  const hasMagic = u32Le(meta, 0) >>> 8 === magicLow && u32Le(meta, 4) === magicHigh
  if (!hasMagic || u16Le(header, 10) !== metaFlag || u32Le(header, 16) !== page) return undefined
  const version = meta[0] ?? 0
  if (version !== formatVersion)
    throw rethFault('SNAPSHOT_FORMAT_UNSUPPORTED', { file: file.name, reason: `version ${version} of its pages` })
  const txnId = u64Le(meta, txnIdAt)
  const main = decodeDescriptor(meta, mainTreeAt)
  const isWhole = txnId === u64Le(meta, closingTxnIdAt) && main !== undefined && main.flags === 0
  if (!isWhole || u32Le(meta, pageSizeAt) !== pageSize) return undefined
  return { pageSize, txnId, pages: u32Le(meta, nextPageAt), main }
}
