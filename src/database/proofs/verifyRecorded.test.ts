import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { concatBytes, u64FromBytes } from '#lib/bytes'
import { openProofs } from '#proofs/openProofs'
import type { Row } from '#store/ports'
import { proofsTables } from '#store/tables'
import { makeModel, proofsIn, recordAll } from '#test/harness/proofs/recordedChain'
import { verifyRecorded } from './verifyRecorded.ts'

const datadir = mkdtempSync(join(tmpdir(), 'basalt-verify-recorded-'))
afterAll(() => rmSync(datadir, { recursive: true, force: true }))

it('database/proofs/verifyRecorded: counts the blocks that it checked, not those outside of the window', async () => {
  {
    await using model = makeModel(datadir)
    await using kv = openProofs(proofsIn(datadir))
    recordAll(kv, model.chain)
    model.append(6)
    recordAll(kv, model.chain)
  }
  // blocks 3, 7 and 1: the second is above the window, as after a reorg
  const chosen = [2, 6, 0]
  const progress: number[] = []
  const deps = {
    signal: new AbortController().signal,
    random: (): number => chosen.shift() ?? expect.fail(),
    onProgress: (blocks: number): void => void progress.push(blocks),
  }
  expect(await verifyRecorded(deps, { datadir }, 3)).toMatchObject({ done: true, blocks: 2, earliest: 0, latest: 6, differences: [] })
  expect(progress).toEqual([1, 2, 3])
})

it('database/proofs/verifyRecorded: a row without its checksum is a difference of its block, and the other blocks are checked', async () => {
  const dir = mkdtempSync(join(datadir, 'flipped-'))
  let row: Row
  {
    await using model = makeModel(dir)
    await using kv = openProofs(proofsIn(dir))
    recordAll(kv, model.chain)
    model.append(6)
    recordAll(kv, model.chain)
    using reader = kv.snapshot()
    row = [...reader.range(proofsTables.values.id, {})].at(2) ?? expect.fail()
  }
  const path = join(proofsIn(dir), 'data.mdb')
  const file = readFileSync(path)
  const bytes = concatBytes(row.key, row.value)
  const damaged = u64FromBytes(row.key)
  for (let at = file.indexOf(bytes); at >= 0; at = file.indexOf(bytes, at + 1)) file[at + 10] = (file[at + 10] as number) ^ 1
  writeFileSync(path, file)
  const deps = { signal: new AbortController().signal, random: () => 0, onProgress: () => {} }
  const { done, blocks, differences } = await verifyRecorded(deps, { datadir: dir }, 'all')
  expect([done, blocks]).toEqual([true, 6])
  expect(differences).toContainEqual({
    block: damaged,
    expected: 'rows that can be read',
    found: expect.stringContaining('does not have its checksum'),
  })
})
