import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parseGethGenesis } from '#chainspec/genesisJson'
import { migrateDatabase } from '#database/migrate'
import { verifyDatabase } from '#database/verify'
import { encodePayload } from '#engine/payloadJson'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { importFile } from '#node/importFile'
import { openLmdbKv } from '#store/lmdbKv'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { tables } from '#store/tables'
import { recordedProcessChain } from '#test/harness/process/chain'
import { chainName, fixtureSchemas, importedBlocks, schemaOf, unpackFixture } from './fixtures.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-upgrade-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

const chain = recordedProcessChain(chainName)
const genesis = parseGethGenesis(chain.genesisJson).genesis
const addedBlocks = 12
const signal = new AbortController().signal
const deps = { clock: systemClock, signal, onProgress: () => {} }

const open = (datadir: string) => openLmdbKv(join(datadir, 'chain'), Object.values(tables))

/** Imports the blocks after those of the fixture; the first line is its last block. @returns the head */
async function importMore(datadir: string) {
  const lines = chain.blocks
    .slice(importedBlocks, importedBlocks + addedBlocks + 1)
    .map((payload) => JSON.stringify({ p: encodePayload(payload), root: payload.parentBeaconBlockRoot }))
  const { head, imported, skipped } = await importFile({ clock: systemClock, log: silentLog }, { genesis, datadir, lines })
  return { hash: head.hash, imported, skipped }
}
const grown = { hash: chain.blocks[importedBlocks + addedBlocks]?.blockHash, imported: addedBlocks, skipped: 1 }

const older = Array.from({ length: chainSchema.version - 1 }, (_, i) => i + 1)

it('test/upgrade: has the store of every earlier schema', () => {
  expect(fixtureSchemas()).toEqual(older)
})

describe.each(older)('test/upgrade: a store of schema %i', (schema) => {
  const [original, migrated] = [join(base, `${schema}`), join(base, `${schema}-migrated`)]

  it('is migrated by basalt db migrate, verifies, and takes the next blocks of the recorded chain', { timeout: 120_000 }, async () => {
    unpackFixture(schema, original)
    cpSync(original, migrated, { recursive: true })
    const { steps } = await migrateDatabase(deps, migrated)
    expect(steps).toEqual(chainSchema.migrations.filter(({ to }) => to > schema).map(({ name }) => name))
    expect(await importMore(migrated)).toEqual(grown)
    const { done, differences } = await verifyDatabase(deps, { datadir: migrated, restart: true })
    expect([done, differences]).toEqual([true, []])
  })

  it('is migrated by a start, and takes the next blocks', { timeout: 120_000 }, async () => {
    const started = join(base, `${schema}-started`)
    cpSync(original, started, { recursive: true })
    expect(await importMore(started)).toEqual(grown)
    await using kv = open(started)
    expect(schemaOf(kv)).toBe(chainSchema.version)
  })

  it('is refused by its own version after the migration, and stays as it is (SCHEMA_NEWER)', async () => {
    await using kv = open(migrated)
    const own = { ...chainSchema, version: schema, migrations: chainSchema.migrations.filter(({ to }) => to <= schema) }
    expect(() => agreeOnSchema(kv, own)).toThrow(`the data directory has schema ${chainSchema.version}, this version supports ${schema}`)
    expect(schemaOf(kv)).toBe(chainSchema.version)
  })
})
