import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { lowestWhole } from '#blockchain/base/olderBlocks'
import { createExecution } from '#blockchain/execution'
import { pruneLogIndex, readLogsPruned } from '#blockchain/logIndex/logIndex'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { openChainKv } from '#store/chainTables'
import { type GrownChain, growInto } from '#test/harness/chain/grownDatadir'
import { createManualClock } from '#test/harness/clock'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { type Files, fetchFrom, filesIn, hastyClock } from '#test/harness/snapshot/memoryPlace'
import { Folders, smallSizes } from '#test/harness/snapshot/recordedDatadir'
import { hashTransaction } from '#types/transaction'
import { type Created, createSnapshot } from './create/createSnapshot.ts'
import { fileOf } from './format/manifest.ts'
import { needsRestore, restoreSnapshot, verifySnapshot } from './restore/restoreSnapshot.ts'

const base = 310
const folders = new Folders()
const [source, out] = [folders.make(), folders.make()]
let chain: GrownChain
let made: Created
let files: Files
const { signal } = new AbortController()
const deps = { clock: systemClock, fetch, signal, onProgress: () => {} }

const create = (to: string, datadir: string) =>
  createSnapshot(
    { signal, onProgress: () => {} },
    {
      chainDir: join(datadir, 'chain'),
      out: to,
      config: chain.config,
      flavour: 'full',
      key: folders.key,
      sizes: smallSizes,
      historyBlocks: 8,
    },
  ) as Promise<Created>

beforeAll(async () => {
  const grown = await growInto(source, base + 5, base)
  // blocks of few L1 blocks come with every snapshot
  chain = { ...grown, config: { ...grown.config, channelTimeoutBlocks: 2, channelTimeoutGraniteBlocks: 2 } }
  made = await create(out, source)
  files = filesIn(out)
}, 300_000)
afterAll(() => folders[Symbol.dispose]())

const options = () => ({ from: out, config: chain.config, given: made.manifest.block.hash })
const history = () => made.manifest.chunks.filter(({ kind }) => kind === 'history')

/** Blocks, transactions, receipts and logs since genesis, as the chain's view has them. */
async function blocksOf(datadir: string): Promise<unknown> {
  await using kv = openChainKv(join(datadir, 'chain'))
  const execution = createExecution({
    ...{ kv, evm: sharedEvm, config: chain.config, genesis: chain.genesis, clock: createManualClock(), log: silentLog },
  })
  const found: unknown[] = []
  {
    using view = execution.view()
    for (let number = 0; number <= base; number++) {
      const hash = view.canonicalHash(number)
      if (hash === undefined) throw new Error(`no block ${number}`)
      const block = view.block(hash)
      const transactions = block?.block.transactions.map((raw) => view.transaction(hashTransaction(raw)))
      found.push(hash, block, view.receipts(hash), transactions)
    }
    found.push(view.findLogs({ addresses: [], topics: [] }, 0, base))
  }
  await execution.close()
  return found
}

it('snapshot: a full one has all blocks, and the restored chain has those of the executed one since genesis', async () => {
  expect(history().length).toBeGreaterThan(3)
  const datadir = folders.make()
  expect([datadir, join(datadir, 'missing'), join(import.meta.filename, 'below')].map(needsRestore)).toEqual([true, true, false])
  await restoreSnapshot(deps, { ...options(), datadir, command: 'again' })
  expect(needsRestore(datadir)).toBe(false)
  // as after a compaction
  rmSync(join(datadir, 'chain', 'lock.mdb'))
  expect(needsRestore(datadir)).toBe(false)
  expect(await blocksOf(datadir)).toEqual(await blocksOf(source))
  await expect(verifySnapshot(deps, options())).resolves.toMatchObject({ block: base })
  // a restored node makes the same chunks
  const again = await create(folders.make(), datadir)
  expect(again.manifest.chunks.map(({ name: chunk }) => chunk)).toEqual(made.manifest.chunks.map(({ name: chunk }) => chunk))
}, 300_000)

it('snapshot: a later full one re-uses the chunks of older blocks', async () => {
  const [later, to] = [folders.make(), folders.make()]
  cpSync(out, to, { recursive: true })
  await growInto(later, base + 20, base + 16)
  const { manifest, reused } = await create(to, later)
  const names = new Set(manifest.chunks.map(({ name: chunk }) => chunk))
  expect(history().filter((entry) => !names.has(entry.name))).toEqual([])
  expect(reused).toBeGreaterThanOrEqual(history().length)
}, 300_000)

it('snapshot: a restore that ends between chunks of older blocks continues below them, and a damaged chunk is refused', async () => {
  const datadir = folders.make()
  const [bad, other] = [history()[2], history()[3]]
  if (bad === undefined || other === undefined) throw new Error('too few chunks')
  const served = new Map(files).set(fileOf(bad), files.get(fileOf(other)) as Uint8Array)
  const restore = (from: Files) =>
    restoreSnapshot(
      { ...deps, clock: hastyClock(systemClock), fetch: fetchFrom(from) },
      { ...options(), from: 'http://a.example', datadir, command: 'again' },
    )
  await expect(restore(served)).rejects.toMatchObject({ code: 'CHUNK_DAMAGED' })
  expect(needsRestore(datadir)).toBe(true)
  {
    await using kv = openChainKv(join(datadir, 'chain'))
    using reader = kv.snapshot()
    // two chunks of eight blocks below those that every snapshot has
    const { number } = lowestWhole(reader) ?? expect.fail()
    expect(number % 8).toBe(0)
    expect(number).toBeGreaterThan(0)
  }
  const asked: string[] = []
  await restoreSnapshot(
    { ...deps, fetch: fetchFrom(files, (file) => void asked.push(file)) },
    { ...options(), from: 'http://a.example', datadir, command: 'again' },
  )
  // neither the state nor older blocks are read again
  expect(asked).toEqual(history().slice(2).map(fileOf))
  expect(await blocksOf(datadir)).toEqual(await blocksOf(source))
}, 300_000)

it('snapshot: older blocks that follow after logs were removed do not bring the removed logs back', async () => {
  const datadir = folders.make()
  const bad = history()[2] ?? expect.fail('too few chunks')
  const without = new Map(files)
  without.delete(fileOf(bad))
  const restore = (from: Files) =>
    restoreSnapshot(
      { ...deps, clock: hastyClock(systemClock), fetch: fetchFrom(from) },
      { ...options(), from: 'http://a.example', datadir, command: 'again' },
    )
  await expect(restore(without)).rejects.toMatchObject({ code: 'CHUNK_UNAVAILABLE' })
  const open = () => openChainKv(join(datadir, 'chain'))
  {
    await using kv = open()
    kv.write((tx) => pruneLogIndex(tx, { from: base, keys: [] }))
  }
  await restore(files)
  await using kv = open()
  using reader = kv.snapshot()
  expect([readLogsPruned(reader), lowestWhole(reader)?.number]).toEqual([base, 0])
}, 300_000)

it('snapshot: a chain without its older blocks makes no full snapshot (HISTORY_INCOMPLETE)', async () => {
  const [datadir, minimal] = [folders.make(), folders.make()]
  const chunks = { chainDir: join(source, 'chain'), out: minimal, config: chain.config, key: folders.key, sizes: smallSizes }
  await createSnapshot({ signal, onProgress: () => {} }, { ...chunks, flavour: 'minimal' })
  await restoreSnapshot(deps, { ...options(), from: minimal, datadir, command: 'again' })
  await expect(create(folders.make(), datadir)).rejects.toMatchObject({ code: 'HISTORY_INCOMPLETE' })
  expect(readdirSync(minimal).length).toBeGreaterThan(3)
  rmSync(datadir, { recursive: true })
}, 300_000)
