import { u64Bytes, u64FromBytes } from '#lib/bytes'
import { storeFault } from './faults.ts'
import { hasRows } from './keys.ts'
import type { Kv, KvReader, KvWriter } from './ports.ts'

const encoder = new TextEncoder()
const schemaKey = encoder.encode('schema')

/** Migrates the tables from the previous version to this one. */
export type Migration = { readonly to: number; readonly name: string; run(tx: KvWriter): void }

export type Schema = {
  /** Version of the tables that this program writes; from 1. */
  readonly version: number
  /** Id of the table that holds the version. */
  readonly metaTable: number
  readonly migrations: readonly Migration[]
}

/** Schema of the chain's environment. */
export const chainSchema: Schema = {
  version: 12,
  metaTable: 1,
  migrations: [
    // the index starts with the next block; older blocks are indexed in the background, a few per transaction
    { to: 2, name: 'log index', run: (): void => {} },
    // new rows of receipts have the new format; old rows stay unchanged and are still read
    { to: 3, name: 'receipts with hashes', run: (): void => {} },
    // new blocks have the new rows; old changes of nodes stay unchanged and are still read
    { to: 4, name: 'trie nodes of a block in one row', run: (): void => {} },
    // rows of finalized blocks move to segment files in the background
    { to: 5, name: 'segments of finalized blocks', run: (): void => {} },
    // later blocks have runs in the index; the index of older blocks is completed with the next block, stays unchanged and is still read
    { to: 6, name: 'index of changed rows in runs', run: (): void => {} },
    // new blocks have shorter rows of trie nodes; older rows stay unchanged and are still read
    { to: 7, name: 'short rows of trie nodes', run: (): void => {} },
    // changes by new blocks name deletions; older rows stay unchanged and are still read
    { to: 8, name: 'deletions in changes', run: (): void => {} },
    // new long values are in pieces; older ones stay whole and are still read
    { to: 9, name: 'long values in pieces', run: (): void => {} },
    // new blocks have digests with a key; those of older blocks stay unchanged and are still read
    { to: 10, name: 'digests with a key', run: (): void => {} },
    // rows of a new database have checksums; those of an older one stay without
    { to: 11, name: 'checksums of rows', run: (): void => {} },
    // the log index of a new block is in slices; rows of older blocks stay whole and are still read
    { to: 12, name: 'log index in slices', run: (): void => {} },
  ],
}

/** Schema of the consensus half's environment. */
export const consensusSchema: Schema = {
  version: 3,
  metaTable: 1,
  // as steps 9 and 11 of the chain
  migrations: [
    { to: 2, name: 'long values in pieces', run: (): void => {} },
    { to: 3, name: 'checksums of rows', run: (): void => {} },
  ],
}

/**
 * Marks new tables with the schema's version, or migrates older tables to it. Each step and its mark are one transaction, so the next start continues
 * after a kill between two steps.
 * @returns the names of the steps that ran
 * @throws Fault SCHEMA_NEWER, SCHEMA_TOO_OLD, SCHEMA_LOST
 */
export function agreeOnSchema(kv: Kv, { version, metaTable, migrations }: Schema): readonly string[] {
  const found = kv.write((tx) => {
    const mark = tx.get(metaTable, schemaKey)
    if (mark !== undefined) return u64FromBytes(mark)
    if (hasRows(tx, metaTable)) throw storeFault('SCHEMA_LOST', {})
    tx.put(metaTable, schemaKey, u64Bytes(version))
    return version
  })
  if (found > version) throw storeFault('SCHEMA_NEWER', { found, known: version })
  const steps = migrations.filter(({ to }) => to > found && to <= version).sort((a, b) => a.to - b.to)
  if (steps.length !== version - found) throw storeFault('SCHEMA_TOO_OLD', { found, known: version })
  for (const { to, run } of steps) {
    kv.write((tx) => {
      run(tx)
      tx.put(metaTable, schemaKey, u64Bytes(to))
    })
  }
  return steps.map(({ name }) => name)
}

/** Rejects tables of a newer version. Tables without a mark pass. @throws Fault SCHEMA_NEWER */
export function rejectNewer(reader: KvReader, { version, metaTable }: Schema): void {
  const found = reader.look(metaTable, schemaKey, u64FromBytes)
  if (found !== undefined && found > version) throw storeFault('SCHEMA_NEWER', { found, known: version })
}

/**
 * Requires a schema that this version can read: its own, or one that it can migrate.
 * @throws Fault SCHEMA_NEWER, SCHEMA_TOO_OLD, SCHEMA_LOST
 */
export function requireReadable(reader: KvReader, schema: Schema): void {
  const { version, metaTable, migrations } = schema
  const found = reader.look(metaTable, schemaKey, u64FromBytes)
  if (found === undefined) throw storeFault('SCHEMA_LOST', {})
  rejectNewer(reader, schema)
  if (found < version - migrations.length) throw storeFault('SCHEMA_TOO_OLD', { found, known: version })
}
