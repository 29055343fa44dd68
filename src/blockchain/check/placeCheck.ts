import { compareBytes, concatBytes, equalBytes, u64Bytes } from '#lib/bytes'
import { isFault } from '#lib/fault'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { KvReader } from '#store/ports'
import type { CheckWatch } from '#store/rowCheck'
import { tables } from '#store/tables'
import { hashFromBytes } from '#types/ids'
import { blockKey, decodeLocation, rowEntry, rowLength } from '../chainRows.ts'
import { readGenesisId, readHead } from '../chainStore.ts'
import { rawTransaction } from './contentCheck.ts'

/** Checks that each entry of blockByHash is a canonical block. @param from first key @returns the next key; undefined at the end */
export function checkBlockHashes(reader: KvReader, from: Uint8Array, watch: CheckWatch): Uint8Array | undefined {
  let isFirst = true
  for (const { key, value } of reader.range(tables.blockByHash.id, { from })) {
    if (!isFirst && !watch.hasTime()) return key
    isFirst = false
    watch.onRow()
    const canonical = value.length === 8 ? reader.get(tables.canonical.id, value) : undefined
    if (canonical !== undefined && equalBytes(canonical, key)) continue
    const expected = 'the number of a canonical block with this hash'
    const found = `${toHex(value)}, where the block is ${canonical ? toHex(canonical) : 'no row'}`
    watch.report({ table: tables.blockByHash.name, key: toHex(key), expected, found })
  }
  return undefined
}

/**
 * Checks that each entry of txByHash is the place of a transaction with that hash. Places in blocks without rows are left out, because the check of blocks
 * reports those.
 * @param from first key
 * @returns the next key; undefined at the end
 */
export function checkTransactionPlaces(reader: KvReader, from: Uint8Array, watch: CheckWatch): Uint8Array | undefined {
  let isFirst = true
  for (const { key, value } of reader.range(tables.txByHash.id, { from })) {
    if (!isFirst && !watch.hasTime()) return key
    isFirst = false
    watch.onRow()
    if (isSound(reader, value, key)) continue
    const expected = 'block and index of a canonical transaction with this hash'
    watch.report({ table: tables.txByHash.name, key: toHex(key), expected, found: `${toHex(value)}, where it is not` })
  }
  return undefined
}

function isSound(reader: KvReader, value: Uint8Array, hash: Uint8Array): boolean {
  try {
    return isPlaceOf(reader, value, hash) || isInBlockWithoutRows(reader, value)
  } catch (error) {
    // the check of blocks reports the file
    if (isFault(error, 'SEGMENT_DAMAGED')) return true
    throw error
  }
}

/** Returns whether a place is in a block up to the head whose canonical hash or body is missing. */
function isInBlockWithoutRows(reader: KvReader, value: Uint8Array): boolean {
  const [genesis, head] = [readGenesisId(reader), readHead(reader)]
  if (value.length !== 12 || !genesis || !head) return false
  const number = value.subarray(0, 8)
  if (compareBytes(number, u64Bytes(genesis.number)) < 0 || compareBytes(number, u64Bytes(head.number)) > 0) return false
  const canonical = reader.get(tables.canonical.id, number)
  return canonical?.length !== 32 || reader.look(tables.bodies.id, concatBytes(number, canonical), () => true) === undefined
}

/** Returns whether the transaction at a place has a hash. Equal deposits have one hash, and the last of them has the row. */
export function isPlaceOf(reader: KvReader, value: Uint8Array, hash: Uint8Array): boolean {
  const canonical = value.length === 12 ? reader.get(tables.canonical.id, value.subarray(0, 8)) : undefined
  // the number of a damaged place may exceed the safe integers; it has no canonical block then
  if (canonical?.length !== 32) return false
  const { number, index } = decodeLocation(value)
  const isThere = reader.look(
    tables.bodies.id,
    blockKey({ number, hash: hashFromBytes(canonical) }),
    (body) => index < rowLength(body) && equalBytes(keccak256(rawTransaction(rowEntry(body, index))), hash),
  )
  return isThere ?? false
}
