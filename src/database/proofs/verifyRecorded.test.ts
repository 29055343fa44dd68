import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openProofs } from '#proofs/openProofs'
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
