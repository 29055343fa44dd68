import { type Fault, isFault } from '#lib/fault'
import { storeFault } from '../faults.ts'

const fullCodes = /No space left|Disk quota exceeded|MDB_MAP_FULL/
/** A write that ends in the middle of a page is reported as an I/O error; with less than this free it is for want of room. */
const roomBytes = 64 * 2 ** 20

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The fault that a failed call of the database is. */
export function storeFailure(dir: string, error: unknown, freeBytes: number): Fault {
  if (isFault(error)) return error
  const reason = reasonOf(error)
  const isFull = fullCodes.test(reason) || freeBytes < roomBytes
  return storeFault(isFull ? 'DISK_FULL' : 'STORE_FAILED', { dir, reason }, error)
}
