import { cpSync, mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { u64Bytes } from '#lib/bytes'
import { silentLog } from '#lib/log'
import { proofsTables } from '#store/tables'
import { makeModel, proofsIn, recordAll } from '#test/harness/proofs/recordedChain'
import { openProofs, openProofsForReading } from './openProofs.ts'
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

/** Marks the proofs with the format of version 1. */
async function markOld(dir: string): Promise<void> {
  await using kv = openProofs(dir)
  kv.write((tx) => tx.put(proofsTables.meta.id, new TextEncoder().encode('schema'), u64Bytes(1)))
}

it.each([
  ['damaged', 'PROOFS_DAMAGED', 0, async (dir: string): Promise<void> => truncateSync(join(dir, 'data.mdb'), 3 * 4_096)],
  ['of an older format', 'PROOFS_OLD', 0, markOld],
  ['of another chain', 'PROOFS_OTHER_CHAIN', 1, async (): Promise<void> => {}],
  ['ahead of the chain', 'PROOFS_AHEAD', 0, async (): Promise<void> => {}],
])('proofs/proofsThread: does not start with proofs that are %s (%s)', async (name, code, other, damage) => {
  const datadir = join(base, name)
  await using _chain = makeModel(datadir, other)
  const [dir, chainDir] = [proofsIn(datadir), join(datadir, 'chain')]
  cpSync(proofsIn(template), dir, { recursive: true })
  await damage(dir)
  const start = startProofsThread({ log: silentLog, onStep() {} }, chainDir, { dir, window: 'all' })
  await expect(start).rejects.toMatchObject({ code, severity: 'fatal', message: expect.stringContaining(dir) })
})

it('proofs/proofsThread: a command does not read proofs of an older format (PROOFS_OLD)', async () => {
  const dir = join(base, 'old')
  cpSync(proofsIn(template), dir, { recursive: true })
  await markOld(dir)
  await expect(openProofsForReading(dir)).rejects.toMatchObject({ code: 'PROOFS_OLD', data: { dir, found: 1 } })
})
