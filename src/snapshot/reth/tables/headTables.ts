import { fromHex } from '#lib/hex'
import type { Hash } from '#types/ids'
import { rethFault } from '../../faults.ts'
import { u64Le } from '../littleEndian.ts'
import type { Database } from '../mdbx/database.ts'

const ascii = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0))

/** Stages whose work is the state that is read. All of them, and the last one, must have reached the same block. */
const stateStages = ['Execution', 'AccountHashing', 'StorageHashing', 'Finish'] as const

/**
 * Returns the number of the block whose state the database holds.
 * @throws Fault SNAPSHOT_FORMAT_UNSUPPORTED for storage version 1, whose hashed tables may lag behind; SNAPSHOT_FILE_DAMAGED
 */
export function readHeadNumber(database: Database): number {
  requireStorageV2(database)
  const stages = database.table('StageCheckpoints')
  const numbers = stateStages.map((stage) => {
    const value = stages.get(ascii(stage))
    const number = value && decodeCheckpoint(value)
    if (number === undefined) throw database.damaged('table StageCheckpoints', `the row of stage ${stage} is missing or damaged`)
    return { stage, number }
  })
  const head = numbers.at(-1)?.number ?? 0
  const other = numbers.find(({ number }) => number !== head)
  if (other) throw database.damaged('table StageCheckpoints', `stage ${other.stage} is at block ${other.number}, stage Finish at ${head}`)
  return head
}

/** Checks that the table of block hashes has a block at a number. Throws Fault SNAPSHOT_FILE_DAMAGED. */
export function requireHeaderNumber(database: Database, hash: Hash, number: number): void {
  const value = database.table('HeaderNumbers').get(fromHex(hash))
  const found = value?.length === 8 ? u64Le(value, 0) : undefined
  if (found !== number)
    throw database.damaged('table HeaderNumbers', `block ${hash} is expected at ${number}, found at ${found ?? 'no number'}`)
}

/** Decodes a value of StageCheckpoints: flag byte whose low 4 bits are the length of the number, then the number big-endian. The rest is not read. */
function decodeCheckpoint(value: Uint8Array): number | undefined {
  const length = (value[0] ?? 0xf) & 0xf
  if (length > 6 || value.length < 1 + length || (length > 0 && value[1] === 0)) return undefined
  return value.subarray(1, 1 + length).reduce((number, byte) => number * 256 + byte, 0)
}

/** Checks the row `storage_settings` of table Metadata: length byte, then JSON. */
function requireStorageV2(database: Database): void {
  const value = database.has('Metadata') ? database.table('Metadata').get(ascii('storage_settings')) : undefined
  if (value !== undefined && isV2(value)) return
  throw rethFault('SNAPSHOT_FORMAT_UNSUPPORTED', { file: database.fileName, reason: 'it does not have storage version 2' })
}

function isV2(value: Uint8Array): boolean {
  try {
    const settings: unknown = JSON.parse(Buffer.from(value.subarray(1)).toString('utf8'))
    return typeof settings === 'object' && settings !== null && 'storage_v2' in settings && settings.storage_v2 === true
  } catch {
    return false
  }
}
