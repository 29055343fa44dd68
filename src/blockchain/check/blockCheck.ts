import { equalBytes, u64Bytes } from '#lib/bytes'
import { isFault } from '#lib/fault'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { oldestProof, oldestState } from '#state/chainState'
import { checkChanges, checkUndo } from '#state/historyCheck'
import type { KvReader, SnapshotSource } from '#store/ports'
import type { CheckWatch } from '#store/rowCheck'
import { blockTables, isRecorded, readPruned, unlessDamaged } from '#store/segments/segmentRecords'
import { type TableSpec, tables } from '#store/tables'
import { decodeHeader, type Header } from '#types/header'
import { type Hash, hashFromBytes } from '#types/ids'
import { blockKey, encodeLocation } from '../chainRows.ts'
import { readCanonicalHash, readGenesisId, readHeads } from '../chainStore.ts'
import { readLogsPruned } from '../logIndex/logIndex.ts'
import { checkedBody, type Problem, receiptsProblem } from './contentCheck.ts'
import { isPlaceOf } from './placeCheck.ts'

/** Checks the labels of the chain: each is a canonical block, in order; and that rows of finalized blocks only count as pruned. */
export function checkHeads(reader: KvReader, watch: CheckWatch): void {
  const heads = readHeads(reader)
  const genesis = readGenesisId(reader)
  if (heads === undefined || genesis === undefined) return
  const isStored = genesis.number >= readPruned(reader, tables.headers.id)
  const labels = Object.entries({ ...(isStored && { genesis }), finalized: heads.finalized, safe: heads.safe, unsafe: heads.unsafe })
  checkPruned(reader, heads.finalized.number, watch)
  let below = genesis.number
  for (const [label, { number, hash }] of labels) {
    const key = toHex(Buffer.from(`chain.${label}`))
    const report = (expected: string, found: string): void => watch.report({ table: tables.meta.name, key, expected, found })
    if (number < below) report(`a ${label} block at or above ${below}`, `block ${number}`)
    below = number
    const canonical = readCanonicalHash(reader, number)
    if (canonical === hash) continue
    const expected = `${hash}, the ${label} block`
    watch.report({ table: tables.canonical.name, key: toHex(u64Bytes(number)), expected, found: canonical ?? 'no row' })
  }
}

/** Checks the marks of pruned rows: other checks begin there. The last finalized block may be pruned where the chain begins with it. */
function checkPruned(reader: KvReader, finalized: number, watch: CheckWatch): void {
  const marks = blockTables.map(({ id, name }) => [`pruned.${name}`, readPruned(reader, id)] as const)
  for (const [mark, number] of [...marks, ['logs.pruned', readLogsPruned(reader)] as const]) {
    if (number <= finalized + 1) continue
    const expected = `${mark} ≤ ${finalized + 1}, the number after the finalized block`
    watch.report({ table: tables.meta.name, key: toHex(Buffer.from(mark)), expected, found: String(number) })
  }
}

/** A block to check. `source`: where newer snapshots come from. */
type CheckedBlock = {
  readonly number: number
  readonly hash: Hash
  readonly isGenesis: boolean
  readonly source: Pick<SnapshotSource, 'snapshot'>
}

/** Check of the rows of one block. All of it is on one snapshot. */
class BlockCheck {
  readonly #reader: KvReader
  readonly #watch: CheckWatch
  readonly #block: CheckedBlock
  readonly #number: number
  readonly #hash: Hash
  readonly #key: Uint8Array

  constructor(reader: KvReader, watch: CheckWatch, block: CheckedBlock) {
    this.#reader = reader
    this.#watch = watch
    this.#block = block
    this.#number = block.number
    this.#hash = block.hash
    this.#key = blockKey(block)
  }

  /** Checks the block. When retention has removed a file meanwhile, it checks the block again on a newer snapshot. */
  run(): void {
    const { isGenesis, source } = this.#block
    try {
      this.#check(isGenesis)
    } catch (error) {
      if (!isFault(error, 'SEGMENT_DAMAGED')) throw error
      using newest = source.snapshot()
      if (!isRecorded(newest, this.#number, String(error.data['path']))) {
        new BlockCheck(newest, this.#watch, this.#block).run()
        return
      }
      this.#report(tables.segments, this.#key, { expected: `the rows of block ${this.#number}`, found: error.message })
    }
  }

  #check(isGenesis: boolean): void {
    const header = this.#header()
    this.#checkPosition()
    const [bodyRow, receipts] = [this.#only(tables.bodies), this.#only(tables.receipts)]
    if (header === undefined) return
    if (!isGenesis) this.#checkParent(header)
    const body = bodyRow && checkedBody(bodyRow, header)
    if (body === undefined) return
    if ('expected' in body) {
      this.#report(tables.bodies, this.#key, body)
      return
    }
    const hashes = body.transactions.map((raw) => keccak256(raw))
    const problem = receipts && receiptsProblem(receipts, hashes, header)
    if (problem) this.#report(tables.receipts, this.#key, problem)
    // places are removed before the bodies
    if (this.#number >= readPruned(this.#reader, tables.bodies.id)) this.#checkPlaces(hashes)
  }

  #checkPosition(): void {
    const key = fromHex(this.#hash)
    const value = this.#reader.get(tables.blockByHash.id, key)
    if (value !== undefined && equalBytes(value, u64Bytes(this.#number))) return
    this.#report(tables.blockByHash, key, { expected: `block ${toHex(u64Bytes(this.#number))}`, found: shown(value) })
  }

  #header(): Header | undefined {
    const row = this.#only(tables.headers)
    if (row === undefined) return undefined
    const hash = toHex(keccak256(row))
    if (hash === this.#hash) return decodeHeader(row)
    this.#report(tables.headers, this.#key, { expected: `a header with hash ${this.#hash}`, found: `a header with hash ${hash}` })
    return undefined
  }

  /** Reads the block's row of a table. Reports rows of other blocks at this number. */
  #only(table: TableSpec): Uint8Array | undefined {
    let own: Uint8Array | undefined
    for (const { key, value } of this.#reader.range(table.id, { from: u64Bytes(this.#number), to: u64Bytes(this.#number + 1) })) {
      if (equalBytes(key, this.#key)) own = value
      else this.#report(table, key, { expected: 'no row of a block that is not canonical', found: 'a row' })
    }
    const row = own ?? this.#reader.get(table.id, this.#key)
    if (row === undefined && this.#number >= readPruned(this.#reader, table.id)) {
      this.#report(table, this.#key, { expected: `the row of block ${this.#number}`, found: 'no row' })
    }
    return row
  }

  #checkParent({ number, parentHash }: Header): void {
    const parent = this.#number - 1
    const own = { expected: `the hash of a block with number ${this.#number}`, found: `the hash of block ${number}` }
    if (number !== this.#number) this.#report(tables.canonical, u64Bytes(this.#number), own)
    const canonical = this.#reader.get(tables.canonical.id, u64Bytes(parent))
    // a missing row is reported with its own block
    if (canonical !== undefined && toHex(canonical) !== parentHash) {
      const expected = `${parentHash}, the parent of block ${this.#number}`
      this.#report(tables.canonical, u64Bytes(parent), { expected, found: shown(canonical) })
    }
  }

  #checkPlaces(hashes: readonly Uint8Array[]): void {
    for (const [index, hash] of hashes.entries()) {
      const expected = encodeLocation({ number: this.#number, index })
      const value = this.#reader.get(tables.txByHash.id, hash)
      if (value !== undefined && (equalBytes(value, expected) || isPlaceOf(this.#reader, value, hash))) continue
      this.#report(tables.txByHash, hash, { expected: `block and transaction ${toHex(expected)}`, found: shown(value) })
    }
  }

  #report(table: TableSpec, key: Uint8Array, { expected, found }: Problem): void {
    this.#watch.report({ table: table.name, key: toHex(key), expected, found })
  }
}

/**
 * Checks the rows of blocks, from a number to the head, for as long as the watch has time: hashes, links to parents, transactions and receipts against
 * the roots in the header, positions by hash. Each block is checked on one snapshot.
 * @param source newest snapshots: retention may remove a file meanwhile
 * @returns the next number; undefined at the head
 */
export function checkBlocks(
  reader: KvReader,
  { from, head, source }: { readonly from: number; readonly head: number } & Pick<CheckedBlock, 'source'>,
  watch: CheckWatch,
): number | undefined {
  const genesis = readGenesisId(reader)?.number
  const first = Math.max(from, readPruned(reader, tables.headers.id))
  for (let number = first; number <= head; number++) {
    if (number > first && !watch.hasTime()) return number
    watch.onRow()
    const stored = reader.get(tables.canonical.id, u64Bytes(number))
    const hash = hashAt(reader, number, stored)
    if (hash === undefined || stored === undefined || toHex(stored) !== hash) {
      const expected = hash ?? `the hash of block ${number}`
      watch.report({ table: tables.canonical.name, key: toHex(u64Bytes(number)), expected, found: shown(stored) })
    }
    if (hash !== undefined) new BlockCheck(reader, watch, { number, hash, isGenesis: number === genesis, source }).run()
  }
  return undefined
}

/**
 * Checks the history of states for as long as the watch has time, from a block down to the oldest state: undoing each block leads to the state root of its parent.
 * Where trie nodes are pruned, only keys and places in the index are checked. A block without sound headers is left out, because the check of blocks
 * reports it.
 * @returns the next block; undefined at the end
 */
export function checkHistory(reader: KvReader, from: number, watch: CheckWatch): number | undefined {
  const [proved, oldest] = [oldestProof(reader), oldestState(reader)]
  for (let number = from; number > oldest; number--) {
    if (number < from && !watch.hasTime()) return number
    watch.onRow()
    if (number <= proved) {
      checkChanges(reader, number, watch.report)
      continue
    }
    const [root, parentRoot] = [stateRootAt(reader, number), stateRootAt(reader, number - 1)]
    if (root !== undefined && parentRoot !== undefined) checkUndo(reader, number, { root, parentRoot }, watch.report)
  }
  return undefined
}

/** Returns the state root in the header of a canonical block; undefined without a header that has the block's hash. */
function stateRootAt(reader: KvReader, number: number): Hash | undefined {
  const hash = readCanonicalHash(reader, number)
  const row = hash && unlessDamaged(() => reader.get(tables.headers.id, blockKey({ number, hash })))
  return row && toHex(keccak256(row)) === hash ? decodeHeader(row).stateRoot : undefined
}

/** Returns the hash of the canonical block; without a header of that hash, the hash of a sound header at the number, if there is one. */
function hashAt(reader: KvReader, number: number, stored: Uint8Array | undefined): Hash | undefined {
  const canonical = stored?.length === 32 ? hashFromBytes(stored) : undefined
  let other: Hash | undefined
  for (const { key, value } of reader.range(tables.headers.id, { from: u64Bytes(number), to: u64Bytes(number + 1) })) {
    if (stored !== undefined && equalBytes(key.subarray(8), stored)) return canonical
    if (equalBytes(keccak256(value), key.subarray(8))) other = hashFromBytes(key.subarray(8))
  }
  return other ?? canonical
}

const shown = (value: Uint8Array | undefined): string => (value === undefined ? 'no row' : toHex(value))
