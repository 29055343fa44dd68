import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { openChainKv, segmentsDir } from '#store/chainTables'
import { signedBy } from '#test/harness/chain/blocks'
import { buildChain } from '#test/harness/chain/executedBlocks'
import { createManualClock } from '#test/harness/clock'
import { moveBlocks } from '#test/harness/store/movedChain'
import { chain, genesis } from '#test/harness/store/movingStore'
import { readLocation } from '../chainStore.ts'
import { commitBranch, commitGenesis } from '../commit/commit.ts'
import { RowPruner } from './rowPruner.ts'

const datadir = mkdtempSync(join(tmpdir(), 'basalt-large-block-'))
afterAll(() => rmSync(datadir, { recursive: true }))

it('blockchain/segments/rowPruner: a step ends within a large block when its time ends, and later steps remove the rest', async () => {
  const dir = join(datadir, 'chain')
  const transfers = Array.from({ length: 200 }, (_, at) => signedBy('alice', { nonce: BigInt(at) }))
  const lists = [transfers, ...Array.from({ length: 12 }, () => [])]
  const blocks = buildChain(chain.config, genesis, lists).map(({ block }) => block)
  const ids = blocks.map(({ hash, header: { number } }) => ({ number, hash }))
  {
    await using kv = openChainKv(dir)
    const [unsafe, finalized] = [ids.at(-1) ?? expect.fail(), ids.at(-2) ?? expect.fail()]
    const first = { number: 0, hash: genesis.block.hash }
    kv.write((tx) => {
      commitGenesis(tx, genesis.block)
      commitBranch(tx, first, { ancestor: first, blocks }, { unsafe, safe: finalized, finalized }, 1)
    })
  }
  await moveBlocks(datadir, 10)
  await using kv = openChainKv(dir)
  const pruner = new RowPruner({
    ...{ kv, clock: createManualClock(), log: silentLog, dir: segmentsDir(dir) },
    retention: { bodies: { blocks: 2 }, receipts: 'all', logs: 'all' },
  })
  const rows: number[] = []
  for (let step = 0; step < 40; step++) {
    const pruned = pruner.step({ rowsIn: () => 1_000, hasTime: () => false })
    if (pruned === undefined) break
    rows.push(pruned.rows)
  }
  expect(Math.max(...rows)).toBe(64)
  // a deposit in each of the nine blocks too
  expect(rows.reduce((sum, count) => sum + count, 0)).toBe(transfers.length + 9)
  using reader = kv.snapshot()
  expect(blocks[0]?.executed.filter(({ hash }) => readLocation(reader, hash))).toEqual([])
})
