import { cpSync, mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { makeModel, proofsIn, recordAll } from '#test/harness/proofs/recordedChain'
import { openProofs } from './openProofs.ts'
import { startProofsThread } from './proofsThread.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-proofs-thread-'))
afterAll(() => rmSync(base, { recursive: true }))

/** Proofs of blocks 20 to 170 of a chain. */
const template = join(base, 'template')
beforeAll(async () => {
  await using model = makeModel(template)
  await using kv = openProofs(proofsIn(template))
  for (const blocks of [20, 150]) {
    model.append(blocks)
    recordAll(kv, model.chain)
  }
})

it.each([
  ['damaged', 'PROOFS_DAMAGED', 0, (dir: string): void => truncateSync(join(dir, 'data.mdb'), 3 * 4_096)],
  ['of another chain', 'PROOFS_OTHER_CHAIN', 1, (): void => {}],
  ['ahead of the chain', 'PROOFS_AHEAD', 0, (): void => {}],
])('proofs/proofsThread: does not start with proofs that are %s (%s)', async (name, code, other, damage) => {
  const datadir = join(base, name)
  await using _chain = makeModel(datadir, other)
  const [dir, chainDir] = [proofsIn(datadir), join(datadir, 'chain')]
  cpSync(proofsIn(template), dir, { recursive: true })
  damage(dir)
  const start = startProofsThread({ log: silentLog, onStep() {} }, chainDir, { dir, window: 'all' })
  await expect(start).rejects.toMatchObject({ code, severity: 'fatal', message: expect.stringContaining(dir) })
})
