import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { encodePayload } from '#engine/payloadJson'
import type { Clock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { buildChain, builtGenesis } from '#test/harness/chain/executedBlocks'
import { createManualClock } from '#test/harness/clock'
import { importFile } from './importFile.ts'

const count = 400
const chain = smallChain(scheduleTo('granite'))
const transactions = Array.from({ length: count }, (_, nonce) =>
  nonce % 50 === 0 ? [signedBy('alice', { nonce: BigInt(nonce / 50) })] : [],
)
const lines = buildChain(chain.config, builtGenesis(chain), transactions).map(({ block }) => {
  const payload = payloadOfBlock(block, block.hash)
  return JSON.stringify({ p: encodePayload(payload), root: payload.parentBeaconBlockRoot })
})
const base = mkdtempSync(join(tmpdir(), 'basalt-import-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

/** Duration of a transaction on the clock of the import: four times as long as a node lets one take. */
const transactionMs = 100

/** Imports lines into a directory. @returns the result, the number of commits, and the most acknowledged blocks that waited for one */
async function importInto(name: string, from: Iterable<string>) {
  let [ms, commits, waiting, most] = [0, 0, 0, 0]
  const manual = createManualClock()
  // each reading takes a millisecond, so that blocks take the same time in every run
  const clock: Clock = { ...manual, nowMs: () => ms++, elapsedMs: () => ms++ }
  const result = await importFile(
    {
      clock,
      log: silentLog,
      onCommit: (phase) => {
        if (phase === 'end') return
        ms += transactionMs
        commits++
        waiting = 0
      },
      onBlock: () => {
        most = Math.max(most, ++waiting)
      },
    },
    { genesis: chain.genesis, datadir: join(base, name), lines: from },
  )
  return { ...result, commits, most }
}

it('node/importFile: one transaction writes all blocks that wait, whose number is bounded', async () => {
  const { imported, head, commits, most } = await importInto('many', lines)
  expect([imported, head.number]).toEqual([count, count])
  // a block takes 6 ms on this clock; blocks of 200 ms may wait while as many are written
  expect(commits).toBeLessThan(count / 24)
  expect(most).toBeLessThan(40)
})

it('node/importFile: keeps the blocks before the line at which the file fails or the caller stops, and continues after them', async () => {
  const failing = function* () {
    yield* lines.slice(0, 150)
    throw new Error('the disk with the file is gone')
  }
  await expect(importInto('parts', failing())).rejects.toThrow('is gone')
  expect(await importInto('parts', [])).toMatchObject({ imported: 0, head: { number: 150 } })
  await expect(importInto('parts', [...lines.slice(0, 160), 'not JSON'])).rejects.toMatchObject({ code: 'BAD_LINE' })
  expect(await importInto('parts', lines.slice(0, 300))).toMatchObject({ skipped: 160, imported: 140, head: { number: 300 } })
  expect(await importInto('parts', lines)).toMatchObject({ skipped: 300, imported: 100, head: { number: count } })
})
