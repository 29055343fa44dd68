import { cpSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, expect, it } from 'vitest'
import { verifyRecorded } from '#database/proofs/verifyRecorded'
import { openProofs } from '#proofs/openProofs'
import { writeRegions } from '#proofs/regions'
import { requestWanted } from '#proofs/wanted'
import { pruneHistory } from '#state/pruneHistory'
import { openChainKv } from '#store/chainTables'
import { tables } from '#store/tables'
import { addBlock, hourSec, openProvingHalf, untilRecorded } from '#test/harness/process/provingHalf'
import type { ExecutionHalf } from './executionHalf.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-proofs-faults-'))
afterAll(() => rmSync(base, { recursive: true }))

async function addBlocks(half: ExecutionHalf, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await addBlock(half)
}

const headOf = ({ execution }: ExecutionHalf): number => execution.published.heads.unsafe.number
const proofsIn = (datadir: string): string => join(datadir, 'proofs')

/** Data directory with a chain of twelve blocks that keeps its values. */
const twelve = join(base, 'twelve')
async function copyOfTwelve(name: string): Promise<string> {
  if (!statSync(twelve, { throwIfNoEntry: false })) {
    await using half = await openProvingHalf(twelve, { history: 'all', without: 'proofs' })
    await addBlocks(half, 12)
  }
  const datadir = join(base, name)
  cpSync(twelve, datadir, { recursive: true })
  return datadir
}

it.each([
  ['names the lag of recording when proofs are required', true, ['proofs are recorded up to block 0, 10800 s behind the head']],
  ['has no problem with a lag of recording when they are not', false, []],
] as const)('node/parts/proofsPart: %s, and the chain continues', async (_what, isRequired, problems) => {
  await using half = await openProvingHalf(join(base, `lag-${isRequired}`), { isRequired, stepPauseMs: 60_000 })
  await untilRecorded(half, 0, 0)
  await addBlocks(half, 3)
  expect([headOf(half), half.proofsProblems()]).toEqual([3, problems])
})

/** Changes a value before a block, and removes the trie nodes of older blocks, which are computed from values then. */
async function damageValues(datadir: string, number: number): Promise<void> {
  await using kv = openChainKv(join(datadir, 'chain'))
  kv.write((tx) => {
    pruneHistory(tx, { values: 0, nodes: 6 }, () => true)
    const from = Buffer.alloc(8)
    from.writeBigUInt64BE(BigInt(number))
    for (const { key, value } of tx.range(tables.changes.id, { from, limit: 1 })) {
      const other = value.slice()
      other[other.length - 1] = (other.at(-1) ?? 0) ^ 1
      tx.put(tables.changes.id, key, other)
    }
  })
}

it('node/parts/proofsPart: names the error that ended recording, here of a damaged value, and the chain continues', async () => {
  const datadir = await copyOfTwelve('mismatch')
  await damageValues(datadir, 3)
  const registry = new Registry()
  await using half = await openProvingHalf(datadir, { history: 'all', windowSec: 100 * hourSec, registry })
  await untilRecorded(half, 12, 12)
  expect(half.proofsProblems()).toEqual([])
  requestWanted(proofsIn(datadir), 0)
  await expect.poll(() => half.proofsProblems(), { timeout: 20_000 }).toEqual([expect.stringMatching(/^proofs are not recorded: ./)])
  await addBlocks(half, 2)
  expect(headOf(half)).toBe(14)
  half.collect()
  expect(await registry.metrics()).toContain('basalt_proofs_recording_state 0')
}, 60_000)

it('node/parts/proofsPart: refuses proofs that are damaged, of another chain, or ahead, at the start (PROOFS_DAMAGED, PROOFS_OTHER_CHAIN, PROOFS_AHEAD)', async () => {
  const datadir = await copyOfTwelve('refused')
  {
    await using half = await openProvingHalf(datadir, { history: 'all' })
    await untilRecorded(half, 12, 12)
  }
  const dir = proofsIn(datadir)
  await expect(openProvingHalf(join(base, 'other'), { isOtherChain: true, dir, isRequired: false })).rejects.toMatchObject({
    code: 'PROOFS_OTHER_CHAIN',
    message: expect.stringContaining(dir),
  })
  {
    await using kv = openProofs(dir)
    kv.write((tx) => writeRegions(tx, [{ first: 1, last: 200 }]))
  }
  await expect(openProvingHalf(datadir, { isRequired: false })).rejects.toMatchObject({
    code: 'PROOFS_AHEAD',
    data: { dir, last: 200, head: 12 },
  })
  const file = join(dir, 'data.mdb')
  truncateSync(file, statSync(file).size >> 1)
  await expect(openProvingHalf(datadir, { isRequired: false })).rejects.toMatchObject({ code: 'PROOFS_DAMAGED', data: { dir } })
  // the chain starts without them
  await using half = await openProvingHalf(datadir, { without: 'proofs' })
  expect(headOf(half)).toBe(12)
}, 60_000)

it('node/parts/proofsPart: begins at the head when the directory of the proofs was removed', async () => {
  const datadir = await copyOfTwelve('removed')
  {
    await using half = await openProvingHalf(datadir, { history: 'all' })
    await untilRecorded(half, 12, 12)
    await addBlocks(half, 2)
  }
  rmSync(proofsIn(datadir), { recursive: true })
  await using half = await openProvingHalf(datadir, { history: 'all' })
  await untilRecorded(half, 14, 14)
  await addBlocks(half, 1)
  await untilRecorded(half, 14, 15)
  expect(half.proofsProblems()).toEqual([])
}, 60_000)

it('node/parts/proofsPart: continues from an older copy of the proofs, and computes the blocks whose nodes the chain has removed', async () => {
  const datadir = join(base, 'restored')
  const settings = { history: 'all', windowSec: 100 * hourSec } as const
  {
    await using half = await openProvingHalf(datadir, settings)
    await addBlocks(half, 2)
    await untilRecorded(half, 0, 2)
  }
  cpSync(proofsIn(datadir), join(base, 'copy'), { recursive: true })
  for (const [count, head] of [
    [3, 5],
    [11, 16],
  ] as const) {
    {
      await using half = await openProvingHalf(datadir, settings)
      await addBlocks(half, count)
      await untilRecorded(half, 0, head)
    }
    rmSync(proofsIn(datadir), { recursive: true })
    cpSync(join(base, 'copy'), proofsIn(datadir), { recursive: true })
    const registry = new Registry()
    {
      await using half = await openProvingHalf(datadir, { ...settings, registry })
      await untilRecorded(half, 0, head)
      const computed = Number(/basalt_proofs_computed_blocks_total (\d+)/.exec(await registry.metrics())?.[1])
      expect([head, computed > 0]).toEqual([head, head === 16])
    }
    const deps = { signal: new AbortController().signal, random: (): number => 0, onProgress(): void {} }
    expect(await verifyRecorded(deps, { datadir }, 'all')).toMatchObject({ earliest: 0, latest: head, blocks: head, differences: [] })
  }
}, 120_000)
