import { existsSync } from 'node:fs'
import { isFault } from '#lib/fault'
import { dataFile } from '#store/environmentFiles'
import type { Kv, SnapshotSource } from '#store/ports'
import { openForeignProofsReader, openProofsKv } from '#store/proofsTables'
import { agreeOnSchema, requireReadable, type Schema } from '#store/schema'
import { proofsTables } from '#store/tables'
import { proofsFault } from './faults.ts'

/** Version 1 had smaller slices of indices, version 2 no hints in them. Neither was part of a release, so nothing migrates them. */
const proofsSchema: Schema = {
  version: 6,
  metaTable: proofsTables.meta.id,
  // as steps 9 to 11 of the chain
  migrations: [
    { to: 4, name: 'long values in pieces', run: (): void => {} },
    { to: 5, name: 'digests with a key', run: (): void => {} },
    { to: 6, name: 'checksums of rows', run: (): void => {} },
  ],
}

/**
 * Opens the tables of the proofs for their one writer, and creates them in an empty directory.
 * @throws Fault DATADIR_LOCKED, DATADIR_UNWRITABLE, PROOFS_DAMAGED, PROOFS_OLD, SCHEMA_NEWER
 */
export function openProofs(dir: string): Kv {
  let kv: Kv | undefined
  try {
    kv = openProofsKv(dir)
    agreeOnSchema(kv, proofsSchema)
    return kv
  } catch (error) {
    void kv?.[Symbol.asyncDispose]()
    throw ofProofs(error, dir)
  }
}

/**
 * Opens the tables of the proofs for reading, without their lock: another process may write them.
 * @throws Fault PROOFS_MISSING, PROOFS_DAMAGED, PROOFS_OLD, SCHEMA_NEWER
 */
export async function openProofsForReading(dir: string): Promise<SnapshotSource> {
  requireProofs(dir)
  await using opening = new AsyncDisposableStack()
  try {
    const source = opening.use(openForeignProofsReader(dir))
    using reader = source.snapshot()
    requireReadable(reader, proofsSchema)
    opening.move()
    return source
  } catch (error) {
    throw ofProofs(error, dir)
  }
}

/** Checks that a directory has proofs. @throws Fault PROOFS_MISSING */
export function requireProofs(dir: string): void {
  const path = dataFile(dir)
  if (!existsSync(path)) throw proofsFault('PROOFS_MISSING', { path })
}

/** Returns a fault of the proofs for a damaged or old database in their directory: its remedy is another than that of a damaged or old chain. */
export function ofProofs(error: unknown, dir: string): unknown {
  if (isFault(error, 'SCHEMA_TOO_OLD')) {
    return proofsFault('PROOFS_OLD', { dir, found: Number(error.data['found']), known: Number(error.data['known']) }, error)
  }
  if (isFault(error, 'SCHEMA_LOST')) return proofsFault('PROOFS_DAMAGED', { dir, reason: 'it has rows and no schema' }, error)
  const isDamage = (isFault(error, 'DATADIR_DAMAGED') || isFault(error, 'STORE_DAMAGED')) && error.data['dir'] === dir
  return isDamage ? proofsFault('PROOFS_DAMAGED', { dir, reason: String(error.data['reason']) }, error) : error
}
