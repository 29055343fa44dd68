import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { readHead } from '#blockchain/chainStore'
import { createExecution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { encodePayload, parsePayload } from '#engine/payloadJson'
import { journalDir } from '#executionThread/wire/protocol'
import type { Clock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { openChainKv } from '#store/chainTables'
import { openFileJournal } from '#store/fileJournal'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { buildChain, builtGenesis } from '#test/harness/chain/executedBlocks'
import { createManualClock } from '#test/harness/clock'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
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

/** Duration of a transaction on the clock of the import. */
const transactionMs = 250

/** Imports lines into a directory. @returns the result, the number of commits, and the most executed blocks that waited for one */
async function importInto(name: string, from: Iterable<string>) {
  let [ms, commits, waiting, most] = [0, 0, 0, 0]
  const manual = createManualClock()
  // each reading takes 2.5 ms, so that blocks take the same time in every run
  const tick = (): number => (ms += 2.5)
  const clock: Clock = { ...manual, nowMs: tick, elapsedMs: tick }
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
    { genesis: chain.genesis, datadir: join(base, name), lines: from, memory: { memoryMaxBytes: 2 ** 32 } },
  )
  return { ...result, commits, most }
}

it('node/importFile: one transaction writes all blocks that wait, whose number is bounded', async () => {
  const { imported, head, commits, most } = await importInto('many', lines)
  expect([imported, head.number]).toEqual([count, count])
  // a block takes 15 ms on this clock; blocks of half a second may wait while as many are written
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

/** Executes payloads and journals them, and ends before they are committed. */
async function executeInto(name: string, payloads: readonly Payload[]): Promise<void> {
  const dir = join(base, name, 'chain')
  await using kv = openChainKv(dir)
  agreeOnSchema(kv, chainSchema)
  using journal = openFileJournal(journalDir(dir), silentLog)
  const { config, genesis } = chain
  const deps = { kv, journal, config, genesis: () => genesis, evm: sharedEvm, clock: createManualClock(), log: silentLog }
  const execution = await createExecution(deps)
  for (const payload of payloads) {
    expect(execution.insertPayload(payload).kind).not.toBe('invalid')
    await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, payload) })
  }
  using reader = kv.snapshot()
  expect(readHead(reader)?.number).toBe(0)
}

it('node/importFile: commits the blocks that a killed node has journalled before it imports others', async () => {
  const payloads = lines.slice(0, 20).map((line) => {
    const { p, root } = JSON.parse(line) as { p: unknown; root: Hash }
    return parsePayload(p, root)
  })
  await executeInto('journalled', payloads)
  expect(await importInto('journalled', lines.slice(20, 40))).toMatchObject({ skipped: 0, imported: 20, head: { number: 40 } })
})
