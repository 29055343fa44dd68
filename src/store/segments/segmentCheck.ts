import { closeSync, fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '#lib/fault'
import { toHex } from '#lib/hex'
import { storeFault } from '../faults.ts'
import type { KvReader } from '../ports.ts'
import type { CheckWatch } from '../rowCheck.ts'
import { tables } from '../tables.ts'
import { digestOf } from './frameWriter.ts'
import { decodeRecord, type SegmentRecord, segmentFileName } from './segmentRecords.ts'

const { id, name } = tables.segments

/**
 * Compares each recorded segment file with its SHA-256, for as long as the watch has time; a file is read whole.
 * @param from first key in the table of records
 * @param isRecorded whether the newest snapshot still has a record: retention may remove a file meanwhile
 * @returns the next key; undefined at the end
 */
export function checkSegmentFiles(
  reader: KvReader,
  { dir, from, isRecorded }: { readonly dir: string; readonly from: Uint8Array; isRecorded(key: Uint8Array): boolean },
  watch: CheckWatch,
): Uint8Array | undefined {
  let isFirst = true
  for (const { key, value } of reader.range(id, { from })) {
    if (!isFirst && !watch.hasTime()) return key
    isFirst = false
    watch.onRow()
    const record = decodeRecord(key, value)
    const path = join(dir, segmentFileName(record))
    const reason = segmentProblem(path, record)
    if (reason === undefined || !isRecorded(key)) continue
    const found = storeFault('SEGMENT_DAMAGED', { path, reason }).message
    watch.report({ table: name, key: toHex(key), expected: `a file of ${record.fileBytes} bytes with SHA-256 ${record.digest}`, found })
  }
  return undefined
}

/** Returns how a file contradicts its record; undefined: it does not. The file is read whole. */
export function segmentProblem(path: string, { digest, fileBytes }: Pick<SegmentRecord, 'digest' | 'fileBytes'>): string | undefined {
  try {
    const file = openSync(path, 'r')
    try {
      const { size } = fstatSync(file)
      if (size !== fileBytes) return `it has ${size} bytes, not ${fileBytes}`
      const found = digestOf(file, fileBytes)
      return found === digest ? undefined : `its SHA-256 is ${found}`
    } finally {
      closeSync(file)
    }
  } catch (error) {
    return errorMessage(error)
  }
}
