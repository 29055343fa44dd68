import { errorMessage, isFault } from '#lib/fault'
import type { Kv } from '#store/ports'
import { openProofsKv } from '#store/proofsTables'
import { agreeOnSchema, type Schema } from '#store/schema'
import { proofsTables } from '#store/tables'
import { proofsFault } from './faults.ts'

export const proofsSchema: Schema = { version: 1, metaTable: proofsTables.meta.id, migrations: [] }

/**
 * Opens the tables of the proofs for their one writer, and creates them in an empty directory.
 * @throws Fault DATADIR_LOCKED, DATADIR_UNWRITABLE, PROOFS_DAMAGED, SCHEMA_NEWER
 */
export function openProofs(dir: string): Kv {
  let kv: Kv | undefined
  try {
    kv = openProofsKv(dir)
    agreeOnSchema(kv, proofsSchema)
    return kv
  } catch (error) {
    void kv?.[Symbol.asyncDispose]()
    if (isFault(error, 'DATADIR_DAMAGED') || isFault(error, 'SCHEMA_LOST') || isFault(error, 'STORE_DAMAGED'))
      throw proofsFault('PROOFS_DAMAGED', { dir, reason: errorMessage(error.cause ?? error) }, error)
    throw error
  }
}
