import { cpSync, existsSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { lowestWhole } from '#blockchain/base/olderBlocks'
import { createExecution } from '#blockchain/execution'
import { pruneLogIndex, readLogsPruned } from '#blockchain/logIndex/logIndex'
import { u32At } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { openChainKv, segmentsDir } from '#store/chainTables'
import { recordOf, SegmentFiles } from '#store/segments/segmentFiles'
import { blockTables, writePruned } from '#store/segments/segmentRecords'
import { SegmentWriter } from '#store/segments/segmentWriter'
import { type GrownChain, growInto } from '#test/harness/chain/grownDatadir'
import { createManualClock } from '#test/harness/clock'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { type Files, fetchFrom, filesIn, hastyClock } from '#test/harness/snapshot/memoryPlace'
import { Folders, smallSizes } from '#test/harness/snapshot/recordedDatadir'
import { moveBlocks } from '#test/harness/store/movedChain'
import { type Hash, zeroHash } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import { type Created, createSnapshot } from './create/createSnapshot.ts'
import { type ChunkEntry, entryOf, fileOf, manifestName, signManifest, tableOf } from './format/manifest.ts'
import { needsRestore, type RestoreProgress, restoreSnapshot, verifySnapshot } from './restore/restoreSnapshot.ts'

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
const segments = () => made.manifest.chunks.filter(({ kind }) => kind === 'segment')
/** Returns the files of the n-th newest range of blocks. */
const rangeOf = (n: number) => segments().slice(3 * n, 3 * n + 3)

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
  const ranges = [0, 1, 2].map(rangeOf).map((range) => range.map(({ table, first, last }) => [table, (last ?? 0) - (first ?? 0) + 1]))
  const wholeRange = [
    ['receipts', 8],
    ['bodies', 8],
    ['headers', 8],
  ]
  expect(ranges.slice(1)).toEqual([wholeRange, wholeRange])
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
  const newest = rangeOf(0).map(({ name }) => name)
  expect(segments().filter(({ name }) => !names.has(name) && !newest.includes(name))).toEqual([])
  expect(reused).toBeGreaterThanOrEqual(segments().length - 3)
  // segments that reach above the lowest block of the snapshot
  const isSegment = ({ kind }: ChunkEntry): boolean => kind === 'segment'
  const chunks = [...made.manifest.chunks.filter((entry) => !isSegment(entry)), ...manifest.chunks.filter(isSegment)]
  writeFileSync(join(to, manifestName), signManifest({ ...made.manifest, chunks }, folders.key).file)
  await expect(verifySnapshot(deps, { ...options(), from: to })).rejects.toMatchObject({
    code: 'MANIFEST_BAD',
    message: expect.stringContaining('its segments end with block 69, and block 53 is the next one'),
  })
}, 300_000)

it('snapshot: a restore that ends between chunks of older blocks continues below them, and a damaged chunk is refused', async () => {
  const datadir = folders.make()
  const bad = rangeOf(2)[1] ?? expect.fail('too few chunks')
  const bytes = (files.get(fileOf(bad)) ?? expect.fail()).slice()
  bytes[1_000] = (bytes[1_000] as number) ^ 1
  const served = new Map(files).set(fileOf(bad), bytes)
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
    // two ranges of blocks below those that every snapshot has
    const lowest = (bad.last ?? 0) + 1
    expect(lowestWhole(reader)?.number).toBe(lowest)
    // as after a kill between two transactions of a range
    kv.write((tx) => {
      for (const { id } of blockTables) writePruned(tx, id, lowest + 5)
    })
  }
  const asked: string[] = []
  const shown: RestoreProgress[] = []
  await restoreSnapshot(
    { ...deps, fetch: fetchFrom(files, (file) => void asked.push(file)), onProgress: (progress) => void shown.push(progress) },
    { ...options(), from: 'http://a.example', datadir, command: 'again' },
  )
  // neither the state nor the files of older blocks are read again
  expect(asked.sort()).toEqual(segments().slice(6).map(fileOf).sort())
  const [before, end] = [shown[0] ?? expect.fail(), shown.at(-1) ?? expect.fail()]
  expect([before.bytesBefore, before.bytes > 0]).toEqual([before.bytes, true])
  expect(end.bytesBefore).toBeGreaterThan(before.bytes)
  // parts of files are rounded
  expect(end.bytes / end.ofBytes).toBeCloseTo(1, 4)
  expect(await blocksOf(datadir)).toEqual(await blocksOf(source))
}, 300_000)

it('snapshot: segment files of the chain are files of the snapshot, and blocks that are in none get their own', async () => {
  const [datadir, to, restored] = [folders.make(), join(folders.make(), 'new'), folders.make()]
  cpSync(source, datadir, { recursive: true })
  await moveBlocks(datadir, 60)
  const { manifest, written, reused } = await create(to, datadir)
  const inChain = segmentsDir(join(datadir, 'chain'))
  const shared = manifest.chunks.filter((entry) => entry.kind === 'segment' && existsSync(join(inChain, fileOf(entry))))
  const lowest = manifest.chunks.filter(({ kind }) => kind === 'segment')[0]
  // blocks of the last file of the chain come with every snapshot
  expect([shared.length, lowest?.last]).toEqual([3 * 5, 53])
  for (const entry of shared) expect(statSync(join(to, fileOf(entry))).ino).toBe(statSync(join(inChain, fileOf(entry))).ino)
  expect(written + reused).toBe(manifest.chunks.length)
  const modeOf = (path: string): number => statSync(path).mode & 0o777
  expect([modeOf(to), ...readdirSync(to).map((name) => modeOf(join(to, name)))]).toEqual([0o755, ...readdirSync(to).map(() => 0o644)])
  // a manifest of another version is replaced
  writeFileSync(join(to, manifestName), 'of another version')
  expect((await create(to, datadir)).written).toBe(0)
  await restoreSnapshot(deps, { ...options(), from: to, datadir: restored, command: 'again' })
  expect(await blocksOf(restored)).toEqual(await blocksOf(source))
  const damaged = shared[1] ?? expect.fail()
  truncateSync(join(inChain, fileOf(damaged)), 1_000)
  await expect(create(folders.make(), datadir)).rejects.toMatchObject({ code: 'SEGMENT_DAMAGED' })
}, 300_000)

type Writing = { readonly rowOf?: (row: Uint8Array, number: number) => Uint8Array; readonly genesis?: Hash }

/** Returns the files of a snapshot whose signer wrote one file of the newest range anew, or has other values in its entry. */
async function liesIn(table: string, { rowOf = (row) => row, genesis = made.manifest.genesis }: Writing, other: Partial<ChunkEntry> = {}) {
  const entry = rangeOf(0).find((each) => each.table === table) ?? expect.fail()
  const dir = folders.make()
  const { name: digest, size: fileBytes, rawSize: rowBytes, first = 0, last = 0 } = entry
  const record = recordOf(join(out, fileOf(entry)), made.manifest.genesis, {
    table: tableOf(table),
    first,
    last,
    digest,
    fileBytes,
    rowBytes,
  })
  using rows = new SegmentFiles(out, systemClock)
  using writer = new SegmentWriter({ dir, table: record.table, genesis })
  for (let number = record.first; number <= record.last; number++) {
    const hash = number === record.first ? record.firstHash : record.lastHash
    writer.add({ number, hash }, rowOf(rows.row(record, number), number))
  }
  const changed = { ...entryOf(writer.finish()), ...other }
  const chunks = made.manifest.chunks.map((each) => (each === entry ? changed : each))
  const { file } = signManifest({ ...made.manifest, chunks }, folders.key)
  return new Map([...files, ...filesIn(dir)]).set(manifestName, Buffer.from(file))
}

/** Returns a row with another byte. @param at from the end, when it is negative */
function flipped(row: Uint8Array, at: number): Uint8Array {
  const copy = row.slice()
  const index = at < 0 ? copy.length + at : at
  copy[index] = (copy[index] as number) ^ 1
  return copy
}

/** Offset of the first entry of a row: a count and as many ends are before it. */
const entriesAt = (row: Uint8Array): number => 4 + 4 * u32At(row, 0)

it.each<[string, string, Writing, Partial<ChunkEntry>, string]>([
  ['a sender', 'bodies', { rowOf: (row) => flipped(row, entriesAt(row)) }, {}, 'transaction 0 has another sender than its signature'],
  ['a transaction', 'bodies', { rowOf: (row) => flipped(row, -40) }, {}, 'expected transactions with root'],
  ['a receipt', 'receipts', { rowOf: (row) => flipped(row, -1) }, {}, 'expected receipts with root'],
  ['gas used', 'receipts', { rowOf: (row) => flipped(row, 9 + entriesAt(row.subarray(9)) + 7) }, {}, 'expected gas'],
  ['a header', 'headers', { rowOf: (row) => flipped(row, 40) }, {}, 'its hash is'],
  ['the genesis', 'bodies', { genesis: zeroHash as Hash }, {}, 'it is of the chain with genesis'],
  ['the size of the rows', 'bodies', {}, { rawSize: 1 }, 'its index is damaged'],
  ['the table', 'receipts', {}, { table: 'bodies' }, 'it has no segments with block'],
])(
  'snapshot: a signer lies about %s of older blocks',
  async (_what, table, writing, other, says) => {
    const served = await liesIn(table, writing, other)
    const hasNone = other.table !== undefined
    const refused = { code: hasNone ? 'MANIFEST_BAD' : 'CHUNK_DAMAGED', message: expect.stringContaining(says) }
    const lying = { ...deps, clock: hastyClock(systemClock), fetch: fetchFrom(served) }
    const from = { ...options(), from: 'http://a.example' }
    await expect(verifySnapshot(lying, from)).rejects.toMatchObject(refused)
    const datadir = folders.make()
    await expect(restoreSnapshot(lying, { ...from, datadir, command: 'again' })).rejects.toMatchObject(refused)
    await using kv = openChainKv(join(datadir, 'chain'))
    using reader = kv.snapshot()
    expect(lowestWhole(reader)?.number).toBe((rangeOf(0)[0]?.last ?? 0) + 1)
  },
  300_000,
)

it('snapshot: a full one without segments, or without those of some blocks, is refused (MANIFEST_BAD)', async () => {
  for (const gone of [() => true, ({ first = 0 }: ChunkEntry) => first === 16]) {
    const chunks = made.manifest.chunks.filter((entry) => entry.kind !== 'segment' || !gone(entry))
    const served = new Map(files).set(manifestName, Buffer.from(signManifest({ ...made.manifest, chunks }, folders.key).file))
    const from = { ...options(), from: 'http://a.example' }
    const lacking = { ...deps, fetch: fetchFrom(served) }
    const refused = { code: 'MANIFEST_BAD', message: expect.stringContaining('it has no segments with block') }
    await expect(verifySnapshot(lacking, from)).rejects.toMatchObject(refused)
    await expect(restoreSnapshot(lacking, { ...from, datadir: folders.make(), command: 'again' })).rejects.toMatchObject(refused)
  }
}, 300_000)

it('snapshot: older blocks that follow after logs were removed do not bring the removed logs back', async () => {
  const datadir = folders.make()
  const bad = rangeOf(2)[1] ?? expect.fail('too few chunks')
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
