import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openProofs } from '#proofs/openProofs'
import { readWanted, writeWanted } from '#proofs/wanted'
import { createManualClock } from '#test/harness/clock'
import { makeModel, proofsIn, recordAll } from '#test/harness/proofs/recordedChain'
import { type ChangeDeps, initProofs } from './changeRecorded.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-change-recorded-'))
afterAll(() => rmSync(base, { recursive: true }))

/** A chain of 20 blocks, of which blocks 10 to 20 are recorded. */
const template = join(base, 'template')
beforeAll(async () => {
  await using model = makeModel(template)
  await using kv = openProofs(proofsIn(template))
  for (const blocks of [10, 10]) {
    model.append(blocks)
    recordAll(kv, model.chain)
  }
})

function copied(name: string): string {
  const datadir = join(base, name)
  cpSync(template, datadir, { recursive: true })
  return datadir
}

const depsWith = (clock: ChangeDeps['clock']): ChangeDeps => ({ clock, signal: new AbortController().signal, onProgress(): void {} })

it('database/proofs/changeRecorded: init ends at its block, and keeps an earlier request that reaches further back', async () => {
  const datadir = copied('two')
  {
    await using kv = openProofs(proofsIn(datadir))
    kv.write((tx) => writeWanted(tx, 3))
  }
  let ms = 0
  // each step has time for one block
  const clock = { ...createManualClock(), elapsedMs: () => (ms += 100) }
  expect(await initProofs(depsWith(clock), { datadir }, 7)).toMatchObject({ done: true, earliest: 7, wanted: 7, by: 'command' })
  await using kv = openProofs(proofsIn(datadir))
  using reader = kv.snapshot()
  expect(readWanted(reader)).toBe(3)
})

it('database/proofs/changeRecorded: init ends when the node has ended before the block is reached', async () => {
  const datadir = copied('ended')
  const clock = createManualClock()
  const node = openProofs(proofsIn(datadir))
  let result: unknown
  const init = initProofs(depsWith(clock), { datadir }, 5).then((ended) => {
    result = ended
  })
  await expect.poll(() => clock.waiting).toBe(1)
  await clock.advanceMs(10_000)
  expect(result).toBeUndefined()
  await node[Symbol.asyncDispose]()
  await clock.advanceMs(1_000)
  await init
  expect(result).toMatchObject({ done: false, earliest: 10, by: 'node' })
})
