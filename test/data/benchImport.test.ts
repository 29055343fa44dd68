import { expect, it } from 'vitest'
import { createReferenceEvm } from '#evm/referenceEvm'
import { createExecution } from '#execution/execution'
import { configOfGenesis } from '#execution/executionConfig'
import { importPayloads } from '#execution/importPayloads'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { createMemoryKv } from '#store/memoryKv'
import { type GenesisNote, recordedGenesis } from '#test/harness/recordedGenesis'
import { readShared, readSharedJson } from '#test/harness/sharedData'

it('execution/importPayloads: the 42 blocks of two other clients import to the same hashes, a second time nothing is left to do', async () => {
  const genesis = recordedGenesis(readSharedJson<GenesisNote>('bench/mixed-42-blocks.genesis.json'))
  const config = configOfGenesis(genesis)
  const kv = createMemoryKv()
  const deps = { kv, evm: createReferenceEvm(), config, genesis: () => genesis, clock: systemClock, log: silentLog }
  const lines = readShared('bench/mixed-42-blocks.jsonl.zst').toString('utf8').split('\n')
  const last = JSON.parse(lines.findLast((line) => line !== '') ?? '')

  expect(await importPayloads(createExecution(deps), config, lines)).toMatchObject({ imported: 42, skipped: 0 })
  const again = createExecution(deps)
  expect(again.published.heads.unsafe).toMatchObject({ number: 42, hash: last.p.blockHash })
  expect(await importPayloads(again, config, lines)).toEqual({ imported: 0, skipped: 42, gas: 0n })
})
