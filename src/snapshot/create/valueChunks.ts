import { readCanonicalHash } from '#blockchain/chainStore'
import { u64Bytes } from '#lib/bytes'
import { openProofsForReading } from '#proofs/openProofs'
import { joined, readRegions } from '#proofs/regions'
import { encodeValues } from '#proofs/valueRow'
import { oldestState } from '#state/chainState'
import { changesOf } from '#state/history'
import { accountsTable, storageTable } from '#state/rows'
import type { KvReader, SnapshotSource } from '#store/ports'
import { proofsTables } from '#store/tables'
import type { BlockId } from '#types/blockRef'
import { snapshotFault } from '../faults.ts'
import { ByteWriter } from '../format/byteReader.ts'
import { putBlob } from '../format/chunks.ts'
import type { ChunkEntry } from '../format/manifest.ts'
import type { ChunkFiles } from './chunkFiles.ts'

/** Blocks of a chunk of values: those from a multiple of this number on, so that later snapshots have the same chunks. */
export const blocksOfValues = 256
/** Bytes from which on a chunk of values is ended. */
const mostBytes = 16 * 2 ** 20

/** Returns the row of values of a block, as of `proofs/valueRow.ts`; undefined when they are pruned. Reads for some milliseconds. */
export type ReadValues = (number: number) => Uint8Array | undefined

/**
 * Returns a reader of the history of a chain's values.
 * @throws Fault VALUES_MISSING (fatal) when it has none before the block
 */
export function chainValues(source: SnapshotSource, base: BlockId): ReadValues {
  const read: ReadValues = (number) => {
    using reader = source.snapshot()
    if (number <= oldestState(reader)) return undefined
    // earlier schemas have trie nodes among them
    return encodeValues([...changesOf(reader, number)].filter(({ table }) => table === accountsTable || table === storageTable))
  }
  if (read(base.number) === undefined) throw snapshotFault('VALUES_MISSING', { number: base.number })
  return read
}

/**
 * Opens a reader of the values in recorded proofs.
 * @throws Fault PROOFS_MISSING, PROOFS_NOT_AT_BLOCK (fatal), those of the proofs
 */
export async function openProofsValues(dir: string, base: BlockId): Promise<{ readonly read: ReadValues } & AsyncDisposable> {
  const source = await openProofsForReading(dir)
  const isRecorded = (reader: KvReader, number: number): boolean => {
    const regions = joined(readRegions(reader))
    return number >= (regions[0]?.first ?? number + 1) && number <= (regions.at(-1)?.last ?? -1)
  }
  try {
    using reader = source.snapshot()
    const isThere = isRecorded(reader, base.number) && readCanonicalHash(reader, base.number) === base.hash
    if (!isThere) throw snapshotFault('PROOFS_NOT_AT_BLOCK', { dir, number: base.number, ...windowOf(reader) })
  } catch (error) {
    await source[Symbol.asyncDispose]()
    throw error
  }
  return {
    read(number): Uint8Array | undefined {
      using reader = source.snapshot()
      if (!isRecorded(reader, number)) return undefined
      return reader.get(proofsTables.values.id, u64Bytes(number)) ?? encodeValues([])
    },
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  }
}

function windowOf(reader: KvReader): { readonly first: number; readonly last: number } {
  const regions = joined(readRegions(reader))
  return { first: regions[0]?.first ?? 0, last: regions.at(-1)?.last ?? 0 }
}

/**
 * Writes the values of a block and of all blocks below it that are not pruned, newest chunk first.
 * @param window blocks of a chunk at most: those from a multiple of it on, so that later snapshots have the same chunks
 * @returns undefined when the signal ended it
 */
export async function valueChunks(
  read: ReadValues,
  files: ChunkFiles,
  { number: last, window, signal }: { readonly number: number; readonly window: number; readonly signal: AbortSignal },
): Promise<readonly ChunkEntry[] | undefined> {
  const entries: ChunkEntry[] = []
  let rows: Uint8Array[] = []
  let bytes = 0
  for (let number = last; ; number--) {
    const row = read(number)
    if (row) rows.push(row)
    bytes += row?.length ?? 0
    const isEnd = row === undefined || number === 0
    if (rows.length > 0 && (isEnd || number % window === 0 || bytes >= mostBytes)) {
      const out = new ByteWriter()
      for (const each of rows.reverse()) putBlob(out, each)
      entries.push(await files.add(out.view(), { kind: 'values', first: row ? number : number + 1 }))
      rows = []
      bytes = 0
    }
    if (isEnd) return entries
    if (signal.aborted) return undefined
  }
}
