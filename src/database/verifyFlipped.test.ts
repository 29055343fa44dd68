import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { openChainKv } from '#store/chainTables'
import { type TableSpec, tables } from '#store/tables'
import { storedChain } from '#test/harness/store/storedChain'
import { verifyDatabase } from './verify.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-verify-flipped-'))
const original = join(base, 'original')
beforeAll(() => storedChain(original, 24), 60_000)
afterAll(() => rmSync(base, { recursive: true, force: true }))

/** Flips a bit of the value of a row of a table, in all pages of the file that have it. */
async function flipped(name: string, { id }: TableSpec, at: number): Promise<string> {
  const datadir = join(base, name)
  cpSync(original, datadir, { recursive: true })
  let row: { key: Uint8Array; value: Uint8Array }
  {
    await using kv = openChainKv(join(datadir, 'chain'))
    using reader = kv.snapshot()
    row = [...reader.range(id, {})][at] ?? expect.fail()
  }
  const path = join(datadir, 'chain/data.mdb')
  const file = readFileSync(path)
  const bytes = concatBytes(row.key, row.value.subarray(0, 1_000))
  for (let place = file.indexOf(bytes); place >= 0; place = file.indexOf(bytes, place + 1)) {
    const byte = place + row.key.length + 3
    file[byte] = (file[byte] as number) ^ 4
  }
  writeFileSync(path, file)
  return datadir
}

const served = /^new blocks are not affected, responses about this block are wrong/
const remedies: Readonly<Record<string, RegExp>> = {
  receipts: served,
  bodies: served,
  txByHash: served,
  blockByHash: served,
  logIndex: served,
}

const verify = (datadir: string) =>
  verifyDatabase({ clock: systemClock, signal: new AbortController().signal, onProgress: () => {} }, { datadir, restart: true })

it.each([
  tables.receipts,
  tables.bodies,
  tables.txByHash,
  tables.blockByHash,
  tables.headers,
  tables.changes,
  tables.accounts,
  tables.historyIndex,
  tables.nodeHistory,
  tables.logIndex,
])('database/verify: a flipped bit in a row of $name is reported with its table and its remedy', async (table) => {
  const datadir = await flipped(table.name, table, 3)
  const result = await verify(datadir)
  expect(result.differences).toContainEqual(
    expect.objectContaining({
      table: table.name,
      expected: 'a row with its checksum',
      remedy: expect.stringMatching(remedies[table.name] ?? /^stop this node/),
    }),
  )
  expect([result.done, result.checked.logs]).toEqual([true, 25])
})

it('database/verify: the rows after a damaged one are checked too', async () => {
  const datadir = await flipped('two', tables.receipts, 3)
  {
    await using kv = openChainKv(join(datadir, 'chain'))
    kv.write((tx) => {
      const [row] = [...tx.range(tables.txByHash.id, { limit: 1 })]
      tx.put(tables.txByHash.id, row?.key ?? expect.fail(), new Uint8Array(12))
    })
  }
  const { differences, checked } = await verify(datadir)
  expect(differences.map(({ table }) => table)).toContain('txByHash')
  expect(checked.transactions).toBeGreaterThan(0)
})
