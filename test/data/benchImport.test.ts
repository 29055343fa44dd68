import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { configOfGenesis } from '#block/executionConfig'
import { createExecution } from '#blockchain/execution'
import { importPayloads } from '#blockchain/importPayloads'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import type { Evm } from '#evm/ports'
import { createWasmEvm } from '#evm/wasmEvm'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { openLmdbKv } from '#store/lmdbKv'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import { interpreters } from '#test/harness/evm/interpreters'
import { readShared, readSharedJson } from '#test/harness/sharedData'
import { createMemoryKv } from '#test/harness/store/memoryKv'

const { genesis } = parseBaseGenesisNote(readSharedJson('bench/mixed-42-blocks.genesis.json'))
const config = configOfGenesis(genesis)
const lines = readShared('bench/mixed-42-blocks.jsonl.zst').toString('utf8').trimEnd().split('\n')
const last = JSON.parse(lines.at(-1) ?? '')
const open = (kv: Kv, evm: Evm = createWasmEvm()) =>
  createExecution({ kv, evm, config, genesis: () => genesis, clock: systemClock, log: silentLog })

it.each(interpreters)(
  'blockchain/importPayloads: imports the 42 blocks of two other clients in memory with the same hashes, $name',
  async ({ create }) => {
    await using kv = createMemoryKv()
    const execution = open(kv, create())
    expect(await importPayloads(execution, config, lines)).toMatchObject({ imported: 42, skipped: 0 })
    expect(execution.published.heads.unsafe).toMatchObject({ number: 42, hash: last.p.blockHash })
  },
)

it('blockchain/importPayloads: continues an import into LMDB after a restart and ends with the same hash', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'basalt-import-'))
  const openStore = () => openLmdbKv(dir, Object.values(tables))
  try {
    {
      await using kv = openStore()
      expect(await importPayloads(open(kv), config, lines.slice(0, 10))).toMatchObject({ imported: 10, skipped: 0 })
    }
    await using kv = openStore()
    const execution = open(kv)
    expect(await importPayloads(execution, config, lines)).toMatchObject({ imported: 32, skipped: 10 })
    expect(execution.published.heads.unsafe).toMatchObject({ number: 42, hash: last.p.blockHash })
    using view = execution.view()
    expect(view.canonicalHash(1)).toBe(JSON.parse(lines[0] ?? '').p.blockHash)
  } finally {
    rmSync(dir, { recursive: true })
  }
})
