import { type Fault, isFault } from '#lib/fault'
import { storeFault } from '../faults.ts'
import { freeBytes } from '../freeSpace.ts'

const fullCodes = /No space left|Disk quota exceeded|MDB_MAP_FULL/
/** A write that ends in the middle of a page is reported as an I/O error; with less than this free it is for want of room. */
const roomBytes = 64 * 2 ** 20

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Plenty where the disk does not even say: then the error itself is all that is known. */
export function roomIn(dir: string): number {
  try {
    return freeBytes(dir)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** The fault that a failed call of the database is. Never throws: a disk that fails may fail to be asked as well. */
export function storeFailure(dir: string, error: unknown, room: number = roomIn(dir)): Fault {
  if (isFault(error)) return error
  const reason = reasonOf(error)
  const isFull = fullCodes.test(reason) || room < roomBytes
  return storeFault(isFull ? 'DISK_FULL' : 'STORE_FAILED', { dir, reason }, error)
}
