import { join } from 'node:path'
import { readGenesisId } from '#blockchain/chainStore'
import { buildSegments } from '#blockchain/segments/buildSegments'
import { waitingRows } from '#blockchain/segments/waitingRows'
import { openChainKv, segmentsDir } from '#store/chainTables'
import type { Kv } from '#store/ports'
import { putSegment, writeMoved } from '#store/segments/segmentRecords'
import { joinLogs } from './logRuns.ts'

const bounds = { blocks: 10, rowBytes: 2 ** 20, windowSec: 86_400 }
const noLimits = { rowsIn: () => Number.POSITIVE_INFINITY, hasTime: () => true }

/**
 * Moves the first blocks of a stored chain and their log index to segment files, ten blocks each, whether finalized or not. The log index gets segments of five
 * blocks. @param blocks a multiple of ten
 */
export async function moveBlocks(datadir: string, blocks: number): Promise<void> {
  const dir = join(datadir, 'chain')
  await using kv = openChainKv(dir)
  using reader = kv.snapshot()
  const genesis = readGenesisId(reader)?.hash
  if (genesis === undefined) throw new Error('no chain')
  joinLogs(kv, 5)
  for (let from = 0; from < blocks; from += bounds.blocks) {
    for (const of of ['blocks', 'logs'] as const) {
      const built = buildSegments(kv, { of, dir: segmentsDir(dir), genesis, from, upTo: from + bounds.blocks - 1, bounds })
      if (built?.last !== from + bounds.blocks - 1) throw new Error('no segments')
      kv.write((tx) => {
        for (const record of built.records) putSegment(tx, record)
        writeMoved(tx, built.last + 1)
      })
      while (removeWaiting(kv)) {}
    }
  }
}

function removeWaiting(kv: Kv): boolean {
  return kv.write((tx) => {
    const found = waitingRows(tx, noLimits)
    for (const key of found?.keys ?? []) tx.delete(found?.table ?? 0, key)
    return found !== undefined
  })
}
