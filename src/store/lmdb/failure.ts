import { errorMessage, type Fault, isFault } from '#lib/fault'
import { storeFault } from '../faults.ts'
import { freeBytes } from '../freeSpace.ts'
import { DamagedRow } from './tableRows.ts'

const fullCodes = /no space left|disk quota exceeded|MDB_MAP_FULL/i
/** LMDB reports a partly written page as an I/O error. With less than this free, the error counts as a full disk. */
const roomBytes = 64 * 2 ** 20

/** Errors of the database carry its negative codes or the system's numbers. */
export const isLmdbError = (error: unknown): boolean => error instanceof Error && 'code' in error && typeof error.code === 'number'

/** Whether a fault is that of one row, which does not have its checksum: others can be read. */
export const isRowDamage = (error: unknown): boolean => isFault(error, 'STORE_DAMAGED') && error.cause instanceof DamagedRow

/** Returns the free bytes on the disk; infinity when the query fails, so that the original error is reported. */
export function roomIn(dir: string): number {
  try {
    return freeBytes(dir)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Converts the error of a failed database call to a fault. Never throws, although the query for free space may fail too. */
export function storeFailure(dir: string, error: unknown, room: number = roomIn(dir)): Fault {
  if (isFault(error)) return error
  const reason = errorMessage(error)
  const isFull = fullCodes.test(reason) || room < roomBytes
  return storeFault(isFull ? 'DISK_FULL' : 'STORE_FAILED', { dir, reason }, error)
}
