import type { KvReader, KvWriter } from '#store/ports'
import { tables } from '#store/tables'
import { decodeTrustRecord, encodeTrustRecord, type TrustRecord } from '#types/trust'
import { readGenesisId } from './chainStore.ts'

const key = new TextEncoder().encode('chain.baseTrust')

/** Writes what vouches for the block on which the state begins, in the transaction that installs the block. */
export function putBaseTrust(tx: KvWriter, record: TrustRecord): void {
  tx.put(tables.meta.id, key, encodeTrustRecord(record))
}

/** Returns what vouches for the block on which the state begins: without a record it is genesis. @throws RangeError on a store without a chain */
export function readBaseTrust(reader: KvReader): TrustRecord {
  const row = reader.get(tables.meta.id, key)
  if (row) return decodeTrustRecord(row)
  const block = readGenesisId(reader)
  if (block === undefined) throw new RangeError('the store has no genesis block')
  return { block, grade: 'derived' }
}
