import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RecordedChain } from '#devnet/recordedChain'
import { systemClock } from '#lib/clock'
import { unzstd } from '#lib/zstd'
import { openChainKv } from '#store/chainTables'
import { executeRecorded, rowsOf, stateTables } from '#test/harness/snapshot/loadRecorded'
import { executeInto, Folders, smallSizes } from '#test/harness/snapshot/recordedDatadir'
import { type Created, createSnapshot } from './create/createSnapshot.ts'
import { blobsIn } from './format/chunks.ts'
import { bounds, type ChunkEntry, fileOf } from './format/manifest.ts'
import { needsRestore, restoreSnapshot, verifySnapshot } from './restore/restoreSnapshot.ts'

const name = 'op-ecotone-to-jovian'
const folders = new Folders()
const source = folders.make()
const out = folders.make()
let chain: RecordedChain
let created: Created | undefined
const base = 24

const { signal } = new AbortController()
const deps = { clock: systemClock, fetch, signal, onProgress: () => {} }
const create = (to: string, datadir = source) =>
  createSnapshot(
    { signal, onProgress: () => {} },
    { chainDir: join(datadir, 'chain'), out: to, config: chain.config, flavour: 'minimal', key: folders.key, sizes: smallSizes },
  )

beforeAll(async () => {
  chain = await executeInto(source, name, base + 6, base)
  created = await create(out)
}, 300_000)
afterAll(() => folders[Symbol.dispose]())

const options = () => ({ from: out, config: chain.config, given: created?.manifest.block.hash })

it('snapshot: chunks of every kind are made, of the state of the finalized block, and all but few can be verified by themselves', () => {
  const { manifest } = created as Created
  expect(manifest.block).toMatchObject({ number: base, hash: chain.blocks[base]?.hash })
  expect(new Set(manifest.chunks.map(({ kind }) => kind))).toEqual(new Set(['top', 'blocks', 'codes', 'accounts', 'slots']))
  const parts = manifest.chunks.filter(({ kind }) => kind === 'accounts' || kind === 'slots')
  expect(parts.length).toBeGreaterThan(15)
  expect(parts.filter(({ prefix }) => prefix === undefined)).toEqual([])
})

it('snapshot: the chunk of trie nodes has those above the other chunks, and no more', () => {
  const { manifest } = created as Created
  const top = manifest.chunks.find(({ kind }) => kind === 'top') as ChunkEntry
  const nodes = [...blobsIn(unzstd(readFileSync(join(out, fileOf(top))), bounds.chunkBytes) as Uint8Array)]
  const paths = manifest.chunks.flatMap(({ account = '', prefix = '' }) => [...prefix].map((_, at) => `${account} ${prefix.slice(0, at)}`))
  expect(nodes).toHaveLength(new Set(paths).size)
})

it('snapshot: a restored store has the rows of a store that executed the blocks, and a second restore is refused (LOAD_INTO_CHAIN)', async () => {
  const datadir = folders.make()
  const restored = await restoreSnapshot(deps, { ...options(), datadir, command: 'again' })
  const { accounts, slots } = (created as Created).manifest
  expect(restored).toMatchObject({ block: base, hash: chain.blocks[base]?.hash, accounts, slots, trust: 'given' })
  const executed = await executeRecorded(name, base)
  await using kv = openChainKv(join(datadir, 'chain'))
  using found = kv.snapshot()
  using expected = executed.kv.snapshot()
  for (const table of stateTables) {
    // codes of later blocks may be in a snapshot
    const [rows, wanted] = [rowsOf(found, table), rowsOf(expected, table)]
    expect(table === 10 ? rows.filter((row) => wanted.includes(row)) : rows, `table ${table}`).toEqual(wanted)
  }
  await kv[Symbol.asyncDispose]()
  await expect(restoreSnapshot(deps, { ...options(), datadir, command: 'again' })).rejects.toMatchObject({ code: 'LOAD_INTO_CHAIN' })
  // the refused restore left nothing behind
  expect([needsRestore(datadir), readdirSync(datadir)]).toEqual([false, ['chain']])
}, 120_000)

it('snapshot: verify reads the whole snapshot, and demands trust in its block (SNAPSHOT_UNTRUSTED)', async () => {
  const { accounts, slots } = (created as Created).manifest
  await expect(verifySnapshot(deps, options())).resolves.toMatchObject({ block: base, accounts, slots, trust: 'given' })
  await expect(verifySnapshot(deps, { ...options(), given: undefined })).rejects.toMatchObject({ code: 'SNAPSHOT_UNTRUSTED' })
  await expect(verifySnapshot(deps, { ...options(), given: chain.blocks[1]?.hash })).rejects.toMatchObject({ code: 'SNAPSHOT_UNTRUSTED' })
})

it('snapshot: a second snapshot of the same state writes no chunk, and one of a later state re-uses chunks', async () => {
  const again = await create(out)
  expect(again).toMatchObject({ written: 0, reused: (created as Created).manifest.chunks.length })
  const later = folders.make()
  await executeInto(later, name, base + 8, base + 8)
  const copy = folders.make()
  await create(copy)
  const second = await create(copy, later)
  expect(second?.reused).toBeGreaterThan(0)
  expect(second?.manifest.accountDepth).toBe(created?.manifest.accountDepth)
  expect(readdirSync(copy).filter((file) => file.startsWith('manifest'))).toHaveLength(3)
  rmSync(copy, { recursive: true })
}, 120_000)
