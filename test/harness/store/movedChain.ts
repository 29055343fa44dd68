import { join } from 'node:path'
import { readGenesisId } from '#blockchain/chainStore'
import { buildSegments } from '#blockchain/segments/buildSegments'
import { u64Bytes } from '#lib/bytes'
import { openChainKv, segmentsDir } from '#store/chainTables'
import { blockTables, putSegment, writeMoved } from '#store/segments/segmentRecords'

const bounds = { blocks: 10, rowBytes: 2 ** 20, windowSec: 86_400 }

/** Moves the first blocks of a stored chain to segment files, ten blocks each, whether finalized or not. @param blocks a multiple of ten */
export async function moveBlocks(datadir: string, blocks: number): Promise<void> {
  const dir = join(datadir, 'chain')
  await using kv = openChainKv(dir)
  using reader = kv.snapshot()
  const genesis = readGenesisId(reader)?.hash
  if (genesis === undefined) throw new Error('no chain')
  for (let from = 0; from < blocks; from += bounds.blocks) {
    const built = buildSegments(kv, { of: 'blocks', dir: segmentsDir(dir), genesis, from, upTo: from + bounds.blocks - 1, bounds })
    if (built === undefined) throw new Error('no segments')
    kv.write((tx) => {
      for (const record of built.records) putSegment(tx, record)
      writeMoved(tx, built.last + 1)
      for (const { id } of blockTables) for (const key of tx.keys(id, { to: u64Bytes(built.last + 1) })) tx.delete(id, key)
    })
  }
}
