import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readHead } from '#blockchain/chainStore'
import { createExecution, type Execution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { latin1, u64Bytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { unzstd, zstd } from '#lib/zstd'
import { recordedStates } from '#proofs/olderStates'
import { openProofs } from '#proofs/openProofs'
import { pruneBlocks } from '#proofs/proofStore'
import { encodeValues, valuesIn } from '#proofs/valueRow'
import { checkRecorded } from '#proofs/verifyProofs'
import { decodeAccountRow, encodeAccountRow } from '#state/account'
import { oldestState, stateAt } from '#state/chainState'
import { isMarkedDeleted } from '#state/changeIndex'
import { changesOf, type RowChange } from '#state/history'
import { HistoryCache } from '#state/historyCache'
import { blockRowKey } from '#state/nodeHistory'
import { firstChanges } from '#state/pruneHistory'
import { accountsTable, storageTable } from '#state/rows'
import { openChainKv } from '#store/chainTables'
import { proofsTables, tables } from '#store/tables'
import { type GrownChain, growInto } from '#test/harness/chain/grownDatadir'
import { places } from '#test/harness/chain/randomDeposits'
import { createManualClock } from '#test/harness/clock'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { rowsOf } from '#test/harness/snapshot/loadRecorded'
import { type Files, fetchFrom, filesIn, hastyClock } from '#test/harness/snapshot/memoryPlace'
import { digestAt, readChain, recordProofs, requireProofs } from '#test/harness/snapshot/olderValues'
import { Folders, smallSizes } from '#test/harness/snapshot/recordedDatadir'
import { deletionsIn, metaRows, nodeCounts, runsIn } from '#test/harness/store/digestedRows'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { type Created, createSnapshot } from './create/createSnapshot.ts'
import { ByteWriter } from './format/byteReader.ts'
import { blobsIn, putBlob } from './format/chunks.ts'
import { bounds, type ChunkEntry, type Flavour, fileOf, manifestName, sha256, signManifest } from './format/manifest.ts'
import { needsRestore, type RestoreDeps, type RestoreProgress, restoreSnapshot, verifySnapshot } from './restore/restoreSnapshot.ts'

const base = 90
const folders = new Folders()
const [source, out] = [folders.make(), folders.make()]
let chain: GrownChain
const { signal } = new AbortController()
const deps: RestoreDeps = { clock: systemClock, fetch, signal, onProgress: () => {} }
const made = {} as Record<'archive' | 'proofs', Created>

const create = (flavour: Flavour, to: string, datadir: string) =>
  createSnapshot(
    { signal, onProgress: () => {} },
    { chainDir: join(datadir, 'chain'), out: to, config: chain.config, flavour, key: folders.key, sizes: smallSizes, historyBlocks: 8 },
  ) as Promise<Created>

beforeAll(async () => {
  chain = await growInto(source, base + 5, base)
  await recordProofs(source)
  made.archive = await create('archive', out, source)
  made.proofs = await create('proofs', folders.make(), source)
}, 300_000)
afterAll(() => folders[Symbol.dispose]())

const options = (from = out) => ({ from, config: chain.config, given: made.archive.manifest.block.hash, command: 'again' })
const valuesOf = ({ manifest }: Created) => manifest.chunks.filter(({ kind }) => kind === 'values')
async function execute<T>(datadir: string, run: (execution: Execution) => Promise<T>): Promise<T> {
  await using kv = openChainKv(join(datadir, 'chain'))
  const execution = createExecution({
    ...{ kv, evm: sharedEvm, config: chain.config, genesis: chain.genesis, clock: createManualClock(), log: silentLog },
  })
  const result = await run(execution)
  await execution.close()
  return result
}

/** Executes the later blocks of the source on a restored chain, removes some of them, and executes them again. */
async function goOn(datadir: string): Promise<void> {
  const numbers = Array.from({ length: 5 }, (_, i) => base + 1 + i)
  const payloads = await execute(source, async (execution) => await Promise.all(numbers.map((number) => execution.payload(number))))
  await execute(datadir, async (execution) => {
    const { finalized } = execution.published.heads
    for (const upTo of [5, 2, 5]) {
      for (const payload of payloads.slice(0, upTo)) expect((await execution.insert(payload as Payload)).kind).toBe('valid')
      await execution.setHeads({ unsafe: l2RefOf(chain.config, payloads[upTo - 1] as Payload), safe: finalized, finalized })
      execution.commit()
    }
  })
}

/** The execution marks a row as deleted that a block wiped and wrote again; an undone block does not. */
const unmarked = (rows: readonly string[]): string[] => rows.filter((row) => !row.startsWith('60')).map((row) => row.replace(/ 03/, ' 02'))

describe('snapshot/archive', () => {
  it('snapshot/archive: a restored chain has the history of an executed one, in the same rows', async () => {
    const [datadir, executed] = [folders.make(), folders.make()]
    const restored = await restoreSnapshot(deps, { ...options(), datadir })
    expect(restored).toMatchObject({ block: base, oldestState: 0 })
    expect([needsRestore(datadir), existsSync(join(datadir, 'restore-values'))]).toEqual([false, false])
    await growInto(executed, base, base)
    for (const { id, name } of [tables.changes, tables.accounts, tables.storage]) {
      const [found, expected] = await Promise.all([datadir, executed].map((dir) => readChain(dir, (reader) => rowsOf(reader, id))))
      expect(unmarked(found as string[]), name).toEqual(unmarked(expected as string[]))
    }
    const indexOf = (dir: string): Promise<string[]> => readChain(dir, (reader) => runsIn(reader, tables.historyIndex))
    expect(await indexOf(datadir)).toEqual(await indexOf(executed))
    await readChain(datadir, (reader) => {
      for (let number = 1; number <= base; number++) {
        const { view } = stateAt(reader, number, () => undefined)
        for (const change of changesOf(reader, number)) {
          const { table, key, before, isDeleted } = change
          const isThere = table === accountsTable ? view.account(key) : view.slot(key.subarray(0, 32), key.subarray(32))
          const isGone = before !== undefined && isThere === undefined
          expect([isDeleted, isMarkedDeleted(reader, change, number)]).toEqual([isGone, isGone])
        }
      }
    })
    // a restored node makes the same chunks
    const again = await create('archive', folders.make(), datadir)
    expect(valuesOf(again)).toEqual(valuesOf(made.archive))
  }, 300_000)

  it('snapshot/archive: a restored chain answers as its source at each block, and goes on through a reorg', async () => {
    const datadir = folders.make()
    await restoreSnapshot(deps, { ...options(), datadir })
    const answers = (dir: string, numbers: readonly number[]) =>
      readChain(dir, (reader) => numbers.map((number) => digestAt(reader, number)))
    const all = Array.from({ length: base / 6 + 1 }, (_, i) => 6 * i)
    expect(await answers(datadir, all)).toEqual(await answers(source, all))
    // the same by address, as requests read a state
    const reads = (dir: string) =>
      execute(dir, async (execution) => {
        using view = execution.view()
        return all.map((number) => {
          const state = view.state({ number, hash: view.canonicalHash(number) as Hash })
          return places.addresses.map((address) => [
            state?.account(address),
            state?.code(address),
            places.slots.map((slot) => state?.slot(address, slot)),
          ])
        })
      })
    expect(await reads(datadir)).toEqual(await reads(source))
    await goOn(datadir)
    all.push(...Array.from({ length: 5 }, (_, i) => base + 1 + i))
    expect(await answers(datadir, all)).toEqual(await answers(source, all))
  }, 300_000)
})

describe('snapshot/proofs', () => {
  it('snapshot/proofs: a restored node has the recorded values and trie nodes of its source, and each block of them is right', async () => {
    const [datadir, from] = [folders.make(), folders.make()]
    const { manifest } = await create('proofs', from, source)
    // values are those of an archive
    expect(manifest.chunks.filter(({ kind }) => kind === 'values')).toEqual(valuesOf(made.archive))
    await expect(restoreSnapshot(deps, { ...options(from), datadir })).resolves.toMatchObject({ oldestState: 0 })
    await using proofs = openProofs(join(datadir, 'proofs'))
    await using own = openProofs(join(source, 'proofs'))
    using found = proofs.snapshot()
    using expected = own.snapshot()
    for (const { id, name } of [proofsTables.values, proofsTables.canonical]) {
      expect(rowsOf(found, id, u64Bytes(base + 1)), name).toEqual(rowsOf(expected, id, u64Bytes(base + 1)))
    }
    const nodes = nodeCounts(expected, blockRowKey(base + 1))
    const others = nodeCounts(found).filter((row) => !nodes.includes(row))
    // the execution also records equal nodes of a storage that a block wiped and wrote again
    expect(others.length).toBeLessThan(4)
    await readChain(datadir, (reader) => {
      for (let number = 1; number <= base; number++) expect(checkRecorded({ proofs: found, chain: reader, head: base }, number)).toEqual([])
    })
  }, 300_000)

  it('snapshot/proofs: a restored node proves old accounts at once, records on through a reorg, and prunes', async () => {
    const [datadir, from] = [folders.make(), folders.make()]
    await create('proofs', from, source)
    await restoreSnapshot(deps, { ...options(from), datadir })
    const proved = async (numbers: readonly number[]): Promise<void> => {
      await using proofs = openProofs(join(datadir, 'proofs'))
      using recorded = proofs.snapshot()
      await readChain(datadir, (reader) => {
        const states = recordedStates(recorded, reader, readHead(reader)?.number ?? 0, new HistoryCache())
        for (const number of numbers)
          requireProofs(
            states.at(number, () => undefined),
            reader,
            number,
          )
      })
    }
    await proved([0, 1, 17, base - 1, base])
    await goOn(datadir)
    await recordProofs(datadir)
    await proved([0, 1, 17, base - 1, base, base + 3, base + 5])
    await using proofs = openProofs(join(datadir, 'proofs'))
    while (!proofs.write((tx) => pruneBlocks(tx, base - 20, () => true)).isDone);
    await proofs[Symbol.asyncDispose]()
    await proved([base - 20, base, base + 5])
  }, 300_000)
})

describe('snapshot/older values', () => {
  let files: Files
  beforeAll(() => {
    files = filesIn(out)
  })

  const restoreFrom = (datadir: string, served: Files, on?: Parameters<typeof fetchFrom>[1], more: Partial<RestoreDeps> = {}) =>
    restoreSnapshot(
      { ...deps, clock: hastyClock(systemClock), fetch: fetchFrom(served, on), ...more },
      { ...options('http://a.example'), datadir },
    )

  /** Files of a snapshot whose signer lies about the values of a block. */
  async function lying(number: number, lie: (values: RowChange[]) => RowChange[]): Promise<Files> {
    const { manifest } = made.archive
    const entry = manifest.chunks.find(({ kind, first = 0 }) => kind === 'values' && first <= number && number < first + 8) as ChunkEntry
    const rows = [...blobsIn(unzstd(files.get(fileOf(entry)) as Uint8Array, bounds.chunkBytes) as Uint8Array)]
    const at = number - (entry.first ?? 0)
    rows[at] = encodeValues(lie([...valuesIn(rows[at] as Uint8Array)]))
    const content = new ByteWriter()
    for (const row of rows) putBlob(content, row)
    const bytes = await zstd(new Uint8Array(content.view()))
    const changed = { ...entry, name: sha256(bytes), size: bytes.length, rawSize: content.length }
    const chunks = manifest.chunks.map((each) => (each === entry ? changed : each))
    const signed = Buffer.from(signManifest({ ...manifest, chunks }, folders.key).file)
    return new Map(files).set(fileOf(changed), bytes).set(manifestName, signed)
  }

  /** Finds the newest block that changed a row of a kind. */
  const blockWith = (is: (change: RowChange, all: readonly RowChange[]) => boolean) =>
    readChain(source, (reader) => {
      for (let number = base; number > 0; number--) {
        const all = [...changesOf(reader, number)]
        if (all.some((change) => is(change, all))) return number
      }
      throw new Error('no such block')
    })
  const isAccount = ({ table }: RowChange): boolean => table === accountsTable
  const isSlot = ({ table }: RowChange): boolean => table === storageTable
  const ownerOf = ({ key }: RowChange): string => latin1(key.subarray(0, 32))
  const isCreated = (change: RowChange, all: readonly RowChange[]): boolean =>
    isSlot(change) && all.some((account) => isAccount(account) && ownerOf(account) === ownerOf(change) && account.before === undefined)
  const changeFirst = (
    is: (change: RowChange, all: readonly RowChange[]) => boolean,
    before: (row: RowChange) => Uint8Array | undefined,
  ) => {
    return (values: RowChange[]): RowChange[] => {
      const at = values.findIndex((change) => is(change, values))
      return values.map((change, i) => (i === at ? { ...change, before: before(change) } : change))
    }
  }
  const dropFirst =
    (is: (change: RowChange, all: readonly RowChange[]) => boolean) =>
    (values: RowChange[]): RowChange[] => {
      const at = values.findIndex((change) => is(change, values))
      return values.filter((_, i) => i !== at)
    }
  const withRoot = ({ before }: RowChange): Uint8Array => {
    const account = decodeAccountRow(before as Uint8Array)
    return encodeAccountRow({ ...account, storageRoot: `0x${'77'.repeat(32)}` as Hash })
  }
  const hadAccount = (change: RowChange): boolean => isAccount(change) && change.before !== undefined
  const hadSlot = (change: RowChange): boolean => isSlot(change) && change.before !== undefined

  it.each([
    ['another value of a slot', hadSlot, changeFirst(hadSlot, () => Uint8Array.of(9, 9))],
    ['a slot with a leading zero', hadSlot, changeFirst(hadSlot, ({ before }) => Uint8Array.of(0, ...(before as Uint8Array)))],
    ['no value of a slot', hadSlot, dropFirst(hadSlot)],
    ['no account', hadAccount, dropFirst(hadAccount)],
    ['another storage root of an account', hadAccount, changeFirst(hadAccount, withRoot)],
    ['a value of a slot before its account existed', isCreated, changeFirst(isCreated, () => Uint8Array.of(5))],
    ['no slot of a new account', isCreated, dropFirst(isCreated)],
    ['no values at all', hadSlot, () => []],
  ] as const)(
    'snapshot/older values: a signer who gives %s is refused, and nothing below is written (CHUNK_DAMAGED)',
    async (_what, is, lie) => {
      const number = await blockWith(is)
      const datadir = folders.make()
      const failure = expect(restoreFrom(datadir, await lying(number, lie))).rejects
      await failure.toMatchObject({ code: 'CHUNK_DAMAGED' })
      await readChain(datadir, (reader) => {
        expect(firstChanges(reader)).toBeGreaterThan(number)
        expect(oldestState(reader)).toBe(base)
      })
      // the sound snapshot is another one, for another directory
      await expect(restoreFrom(datadir, files)).rejects.toMatchObject({ code: 'SNAPSHOT_REPLACED' })
    },
    300_000,
  )

  it('snapshot/older values: a snapshot without a chunk of values, or with one twice, is refused', async () => {
    const { manifest } = made.archive
    const [first, second, third] = valuesOf(made.archive)
    const sign = (chunks: readonly ChunkEntry[]): Files =>
      new Map(files).set(manifestName, Buffer.from(signManifest({ ...manifest, chunks }, folders.key).file))
    const verify = (served: Files) =>
      verifySnapshot({ ...deps, clock: hastyClock(systemClock), fetch: fetchFrom(served) }, options('http://a.example'))
    for (const chunks of [
      manifest.chunks.filter((entry) => entry !== second),
      manifest.chunks.flatMap((entry) => (entry === second ? [entry, entry] : [entry])),
      manifest.chunks.map((entry) => (entry === second ? third : entry === third ? second : entry) as ChunkEntry),
      manifest.chunks.filter((entry) => entry !== first),
      manifest.chunks.filter(({ kind }) => kind !== 'values'),
    ]) {
      await expect(verify(sign(chunks))).rejects.toMatchObject({ code: expect.stringMatching(/CHUNK_DAMAGED|MANIFEST_BAD/) })
      const datadir = folders.make()
      await expect(restoreFrom(datadir, sign(chunks))).rejects.toMatchObject({ code: expect.stringMatching(/CHUNK_DAMAGED|MANIFEST_BAD/) })
    }
    await expect(verify(files)).resolves.toMatchObject({ block: base, oldestState: 0 })
  }, 300_000)

  it('snapshot/older values: no node opens a chain whose values are not loaded, and an interrupted load continues at any point', async () => {
    const [datadir, kept] = [folders.make(), folders.make()]
    const walk = join(datadir, 'restore-values')
    const names = valuesOf(made.archive).map(fileOf)
    /** Restores up to a chunk of values. */
    const restoreTo = async (at: number): Promise<void> => {
      const missing = new Map(files)
      missing.delete(names[at] as string)
      await expect(restoreFrom(datadir, missing)).rejects.toMatchObject({ code: 'CHUNK_UNAVAILABLE' })
      expect(needsRestore(datadir)).toBe(true)
      await expect(execute(datadir, async () => {})).rejects.toMatchObject({ code: 'STATE_UNFINISHED', data: { command: 'again' } })
    }
    await restoreTo(3)
    cpSync(walk, kept, { recursive: true })
    const saved = readFileSync(join(datadir, 'snapshot-manifest.json'))
    await restoreTo(6)
    // a kill after the changes of a step were written, and before its rows were
    rmSync(walk, { recursive: true })
    cpSync(kept, walk, { recursive: true })
    await restoreTo(8)
    // a power loss that took the last changes
    {
      await using kv = openChainKv(join(datadir, 'chain'))
      kv.write((tx) => {
        const lowest = firstChanges(tx)
        for (const key of [...tx.keys(tables.changes.id, { to: u64Bytes(lowest + 10) })]) tx.delete(tables.changes.id, key)
      })
    }
    const asked: string[] = []
    let shown: RestoreProgress | undefined
    const onProgress = (progress: RestoreProgress): void => {
      shown = progress
    }
    await restoreFrom(datadir, files, (file) => void asked.push(file), { onProgress })
    const ownBytes = valuesOf(made.archive).reduce((sum, entry) => sum + (asked.includes(fileOf(entry)) ? entry.size : 0), 0)
    expect(shown).toMatchObject({ bytes: shown?.ofBytes, bytesBefore: (shown?.ofBytes ?? 0) - ownBytes })
    expect(asked.filter((file) => !names.includes(file))).toEqual([])
    expect([needsRestore(datadir), existsSync(walk)]).toEqual([false, false])
    // a kill after the last transaction
    writeFileSync(join(datadir, 'snapshot-manifest.json'), saved)
    asked.length = 0
    await expect(restoreFrom(datadir, files, (file) => void asked.push(file))).resolves.toMatchObject({ block: base, oldestState: 0 })
    expect([asked, needsRestore(datadir)]).toEqual([[], false])
    const undisturbed = folders.make()
    await restoreFrom(undisturbed, files)
    const historyOf = (dir: string): Promise<readonly string[][]> =>
      readChain(dir, (reader) => [
        ...[rowsOf(reader, tables.changes.id), metaRows(reader)],
        ...[runsIn(reader, tables.historyIndex), deletionsIn(reader, tables.historyIndex)],
      ])
    expect(await historyOf(datadir)).toEqual(await historyOf(undisturbed))
  }, 300_000)

  it('snapshot/older values: a source that lacks older values, or proofs of the block, is a fault with the remedy', async () => {
    const [datadir, minimal] = [folders.make(), folders.make()]
    await create('minimal', minimal, source)
    await restoreSnapshot(deps, { ...options(minimal), datadir })
    await expect(create('archive', folders.make(), datadir)).rejects.toMatchObject({ code: 'VALUES_MISSING' })
    await expect(create('proofs', folders.make(), datadir)).rejects.toMatchObject({ code: 'PROOFS_MISSING' })
    cpSync(join(source, 'proofs'), join(datadir, 'proofs'), { recursive: true })
    {
      await using proofs = openProofs(join(datadir, 'proofs'))
      while (!proofs.write((tx) => pruneBlocks(tx, base + 2, () => true)).isDone);
    }
    await expect(create('proofs', folders.make(), datadir)).rejects.toMatchObject({
      code: 'PROOFS_NOT_AT_BLOCK',
      data: { number: base, first: base + 3, last: base + 5 },
    })
    // proofs of something else instead of those to restore
    const [into, from] = [folders.make(), folders.make()]
    await create('proofs', from, source)
    cpSync(join(source, 'proofs'), join(into, 'proofs'), { recursive: true })
    await expect(restoreSnapshot(deps, { ...options(from), datadir: into })).rejects.toMatchObject({ code: 'LOAD_INTO_PROOFS' })
    rmSync(join(into, 'proofs'), { recursive: true })
    await restoreSnapshot(deps, { ...options(from), datadir: into })
    await expect(restoreSnapshot(deps, { ...options(from), datadir: into })).rejects.toMatchObject({ code: 'LOAD_INTO_CHAIN' })
  }, 300_000)
})
