import { executionFault } from '#block/faults'
import { type GivenBlock, verifyWholeBlocks, type WholeBlock } from '#blockchain/base/baseBlocks'
import { addOlderBlocks, type LowestWhole, lowestWhole } from '#blockchain/base/olderBlocks'
import { openChainKv, segmentsDir } from '#store/chainTables'
import type { BlockId } from '#types/blockRef'
import { snapshotFault } from '../faults.ts'
import { decodeBlocks } from '../format/chunks.ts'
import type { ChunkEntry } from '../format/manifest.ts'
import { reading } from './checkChunk.ts'
import type { SnapshotReader } from './snapshotReader.ts'

type Source = { readonly reader: SnapshotReader; readonly entries: readonly ChunkEntry[]; readonly genesis: BlockId }

/**
 * Iterates over the older blocks of a snapshot, newest chunk first, each verified by its links to the chunk before.
 * @param above the block whose parent is the newest of them
 * @param onBytes called with the size of each chunk that is read; chunks from `above` on are not
 * @throws Fault CHUNK_DAMAGED, BASE_BLOCK_REFUSED; those of the reader
 */
async function* olderBlocks(
  { reader, entries, genesis }: Source,
  above: LowestWhole,
  onBytes: (size: number) => void,
): AsyncGenerator<readonly WholeBlock[]> {
  let next = above
  for await (const { entry, raw } of reader.contents(entries.filter(({ first = 0 }) => first < above.number))) {
    onBytes(entry.size)
    yield verified(reading(entry, reader.place, () => decodeBlocks(raw)))
  }
  if (next.number > genesis.number) {
    throw snapshotFault('MANIFEST_BAD', { place: reader.place, reason: `it has no blocks below ${next.number}` })
  }

  function verified(given: readonly GivenBlock[]): readonly WholeBlock[] {
    const blocks = verifyWholeBlocks(given, { number: next.number - 1, hash: next.parentHash }, genesis)
    const [first] = blocks
    if (first) next = { number: first.number, hash: first.hash, parentHash: first.header.parentHash }
    return blocks
  }
}

/**
 * Adds the older blocks of a snapshot to a chain that begins with its block, one transaction a chunk. Continues below the blocks that are there.
 * @throws as `olderBlocks`, and those of the store
 */
export async function restoreOlder(source: Source, chainDir: string, onBytes: (size: number) => void): Promise<void> {
  await using kv = openChainKv(chainDir)
  const above = lowestOf(kv)
  const into = { kv, segmentsDir: segmentsDir(chainDir), genesis: source.genesis }
  for await (const blocks of olderBlocks(source, above, onBytes)) addOlderBlocks(into, blocks)
}

function lowestOf(kv: ReturnType<typeof openChainKv>): LowestWhole {
  using reader = kv.snapshot()
  const found = lowestWhole(reader)
  if (found === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: 'its lowest block' })
  return found
}

/** Verifies the older blocks of a snapshot. @param lowest the lowest of its blocks @throws as `olderBlocks` */
export async function verifyOlder(source: Source, lowest: LowestWhole, onBytes: (size: number) => void): Promise<void> {
  for await (const _ of olderBlocks(source, lowest, onBytes));
}
