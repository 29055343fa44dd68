import { generateKeyPairSync } from 'node:crypto'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { GivenBlock } from '#blockchain/base/baseBlocks'
import type { RecordedChain } from '#devnet/recordedChain'
import { systemClock } from '#lib/clock'
import { isFault } from '#lib/fault'
import { encodeRlpList } from '#lib/rlp'
import { unzstd, zstd } from '#lib/zstd'
import { openChainKv } from '#store/chainTables'
import { dice } from '#test/harness/dice'
import { sampleOf } from '#test/harness/sample'
import { executeRecorded, rowsOf, stateTables } from '#test/harness/snapshot/loadRecorded'
import { type Files, fetchFrom, filesIn, hastyClock } from '#test/harness/snapshot/memoryPlace'
import { executeInto, Folders, smallSizes } from '#test/harness/snapshot/recordedDatadir'
import { damageOf, onTheWay, refusals, type SoundSnapshot } from '#test/harness/snapshot/snapshotDamage'
import { type Created, createSnapshot } from './create/createSnapshot.ts'
import { decodeBlocks, encodeBlocks } from './format/chunks.ts'
import { bounds, type ChunkEntry, fileOf, manifestName, sha256, signManifest } from './format/manifest.ts'
import { needsRestore, type RestoreProgress, restoreSnapshot, verifySnapshot } from './restore/restoreSnapshot.ts'

const name = 'op-ecotone-to-jovian'
const folders = new Folders()
const base = 12
let chain: RecordedChain
let made: Created
let files: Files
let older: Files
let sound: SoundSnapshot
const { signal } = new AbortController()

async function create(blocks: number, finalized: number, out: string): Promise<Created> {
  const datadir = folders.make()
  chain = await executeInto(datadir, name, blocks, finalized)
  const options = {
    chainDir: join(datadir, 'chain'),
    out,
    config: chain.config,
    flavour: 'minimal' as const,
    key: folders.key,
    sizes: smallSizes,
  }
  const created = await createSnapshot({ signal, onProgress: () => {} }, options)
  rmSync(datadir, { recursive: true })
  return created as Created
}

beforeAll(async () => {
  const [first, second] = [folders.make(), folders.make()]
  await create(base - 4, base - 4, first)
  made = await create(base + 2, base, second)
  older = filesIn(first)
  files = filesIn(second)
  sound = { manifest: made.manifest, files, older, key: folders.key }
}, 300_000)
afterAll(() => folders[Symbol.dispose]())

const options = () => ({ from: 'http://mirror.example/snapshot', config: chain.config, given: made.manifest.block.hash })
const depsOf = (served: Files) => ({ clock: hastyClock(systemClock), fetch: fetchFrom(served), signal, onProgress: () => {} })

it(`snapshot: ${sampleOf(24, 2_000)} damaged snapshots are refused, or have the same state`, async () => {
  const whole = await verifySnapshot(depsOf(files), options())
  const found = new Map<string, number>()
  for (let seed = 1; seed <= sampleOf(24, 2_000); seed++) {
    const damage = await damageOf(sound, seed)
    const outcome: unknown = await verifySnapshot(depsOf(damage.files), options()).catch((error: unknown) => error)
    if (!isFault(outcome)) {
      // for example a code that no account has, or a chunk in another order that changes nothing
      expect(outcome, `seed ${seed}: ${damage.what}`).toEqual(whole)
      continue
    }
    expect(refusals, `seed ${seed}: ${damage.what}: ${outcome.message}`).toContain(outcome.code)
    found.set(outcome.code, (found.get(outcome.code) ?? 0) + 1)
  }
  expect(found.get('CHUNK_DAMAGED')).toBeGreaterThan(5)
  expect(found.get('MANIFEST_BAD')).toBeGreaterThan(2)
}, 1_200_000)

it(`snapshot: a restore that was refused continues from a good mirror, with the rows of the executed state`, async () => {
  const executed = await executeRecorded(name, base)
  using expected = executed.kv.snapshot()
  for (let seed = 0; seed < sampleOf(3, 90); seed += 3) {
    const datadir = folders.make()
    const damage = onTheWay(sound, dice(seed))
    const restore = (served: Files) => restoreSnapshot(depsOf(served), { ...options(), datadir, command: 'again' })
    await restore(damage.files).catch((error: unknown) => expect(isFault(error) ? error.code : error).toBeOneOf(refusals))
    await restore(files).catch((error: unknown) => expect(error).toMatchObject({ code: 'LOAD_INTO_CHAIN' }))
    await using kv = openChainKv(join(datadir, 'chain'))
    using reader = kv.snapshot()
    for (const table of stateTables.filter((id) => id !== 10)) expect(rowsOf(reader, table)).toEqual(rowsOf(expected, table))
    await kv[Symbol.asyncDispose]()
    rmSync(datadir, { recursive: true })
  }
}, 600_000)

it('snapshot: after a state with another root, and after a kill before its manifest is removed, another snapshot is restored (STATE_ROOT_WRONG)', async () => {
  const { manifest } = made
  const isLast = ({ kind }: ChunkEntry, at: number): boolean => kind === 'accounts' && manifest.chunks[at + 1]?.kind !== 'slots'
  const without = manifest.chunks.findLastIndex(isLast)
  const { file } = signManifest({ ...manifest, chunks: manifest.chunks.filter((_, at) => at !== without) }, folders.key)
  const [datadir, killed] = [folders.make(), folders.make()]
  const restore = (dir: string, from: string, served: Files) =>
    restoreSnapshot(depsOf(served), { ...options(), from, datadir: dir, command: 'again' })
  const hostile = new Map(files).set(manifestName, Buffer.from(file))
  await expect(restore(datadir, 'http://hostile.example', hostile)).rejects.toMatchObject({ code: 'STATE_ROOT_WRONG' })
  expect(readdirSync(datadir, { recursive: true })).not.toContain('snapshot-manifest.json')
  writeFileSync(join(killed, 'snapshot-manifest.json'), file)
  for (const dir of [datadir, killed]) {
    expect(needsRestore(dir)).toBe(true)
    const { accounts, slots } = manifest
    await expect(restore(dir, 'http://sound.example', files)).resolves.toMatchObject({ block: base, accounts, slots })
    expect(needsRestore(dir)).toBe(false)
  }
}, 300_000)

/** Files of a snapshot whose signer gives other chunks of a kind. */
async function withContents(kind: 'blocks' | 'top', contents: readonly Uint8Array[]): Promise<Files> {
  const served = new Map(files)
  const entries: ChunkEntry[] = []
  for (const raw of contents) {
    const bytes = await zstd(raw)
    const entry: ChunkEntry = { kind, name: sha256(bytes), size: bytes.length, rawSize: raw.length }
    served.set(fileOf(entry), bytes)
    entries.push(entry)
  }
  const chunks = [...entries, ...made.manifest.chunks.filter((entry) => entry.kind !== kind)]
  return served.set(manifestName, Buffer.from(signManifest({ ...made.manifest, chunks }, folders.key).file))
}

it('snapshot: the last block is trusted before other blocks are decoded, and each of them is linked to it (CHUNK_DAMAGED)', async () => {
  const { manifest } = made
  const entry = manifest.chunks.find(({ kind }) => kind === 'blocks') as ChunkEntry
  const blocks = decodeBlocks(unzstd(files.get(fileOf(entry)) as Uint8Array, bounds.chunkBytes) as Uint8Array)
  const [lower, upper] = [blocks.slice(0, 6), blocks.slice(6)]
  const chunksOf = (...lists: readonly (typeof blocks)[]) => withContents('blocks', lists.map(encodeBlocks))
  const verify = async (served: Promise<Files>, given = manifest.block.hash) =>
    verifySnapshot(depsOf(await served), { ...options(), given })
  await expect(verify(chunksOf(lower, upper))).resolves.toMatchObject({ block: base })

  const bomb = new Uint8Array(2 ** 20).fill(0xc0)
  const withBomb = withContents('blocks', [encodeRlpList([bomb]), encodeBlocks(upper)])
  await expect(verify(withBomb, manifest.genesis)).rejects.toMatchObject({ code: 'SNAPSHOT_UNTRUSTED' })
  await expect(verify(withBomb)).rejects.toMatchObject({ code: 'CHUNK_DAMAGED' })

  const refused = (reason: string) => ({ code: 'CHUNK_DAMAGED', message: expect.stringContaining(reason) })
  const changed = (change: Partial<GivenBlock>) => lower.map((block, at) => (at === 3 ? { ...block, ...change } : block))
  await expect(verify(chunksOf(lower.slice(0, -1), upper))).rejects.toMatchObject(refused('block 4 in it is not the parent'))
  await expect(verify(chunksOf(changed({ transactions: upper[0]?.transactions }), upper))).rejects.toMatchObject(
    refused('block 3 in it has other transactions'),
  )
  await expect(verify(chunksOf(changed({ receipts: [] }), upper))).rejects.toMatchObject(refused('block 3 in it has 0 receipts'))
  await expect(verify(chunksOf(lower))).rejects.toMatchObject({ code: 'MANIFEST_BAD' })
}, 120_000)

it('snapshot: trie nodes that are too short to have a hash are refused (CHUNK_DAMAGED)', async () => {
  const many = await withContents('top', [new Uint8Array(2 ** 20)])
  await expect(verifySnapshot(depsOf(many), options())).rejects.toMatchObject({
    code: 'CHUNK_DAMAGED',
    message: expect.stringContaining('it has a trie node of 0 bytes'),
  })
}, 120_000)

it('snapshot: downloads continue on another mirror where one broke off, and a replaced snapshot is named (SNAPSHOT_REPLACED)', async () => {
  let requests = 0
  const cut = fetchFrom(files, (file, url) => {
    requests++
    const bytes = files.get(file)
    if (url.host !== 'bad.example' || bytes === undefined || file === manifestName) return undefined
    return new Response(bytes.slice(0, bytes.length >> 1))
  })
  const from = 'http://bad.example,http://good.example'
  await expect(verifySnapshot({ ...depsOf(files), fetch: cut }, { ...options(), from })).resolves.toMatchObject({ block: base })
  expect(requests).toBeGreaterThan(made.manifest.chunks.length)
  let read = 0
  const gone = made.manifest.chunks.find(({ kind }) => kind === 'accounts') as ChunkEntry
  const replaced = fetchFrom(files, (file) => {
    if (file === fileOf(gone)) return new Response(null, { status: 404 })
    return file === manifestName && read++ > 0 ? new Response(older.get(manifestName)?.slice()) : undefined
  })
  await expect(verifySnapshot({ ...depsOf(files), fetch: replaced }, options())).rejects.toMatchObject({
    code: 'SNAPSHOT_REPLACED',
    message: expect.stringContaining(`has another snapshot, of block ${base - 4}, without chunk ${gone.name}`),
  })
}, 120_000)

it('snapshot: a refused chunk ends the downloads of the chunks after it (CHUNK_DAMAGED)', async () => {
  const [first, ...later] = made.manifest.chunks.filter(({ kind }) => kind === 'accounts')
  const served = new Map(files).set(fileOf(first as ChunkEntry), new Uint8Array((first as ChunkEntry).size))
  const isSilent = new Set(later.map(fileOf))
  const [running, ended] = [new Set<string>(), new Set<string>()]
  const serve = fetchFrom(served)
  const fetch: typeof globalThis.fetch = (input, init) => {
    const { pathname } = new URL(String(input))
    if (!isSilent.has(pathname.slice(pathname.lastIndexOf('/') + 1))) return serve(input, init)
    running.add(pathname)
    return new Promise((_, reject) => {
      init?.signal?.addEventListener('abort', () => {
        ended.add(pathname)
        reject(init.signal?.reason)
      })
    })
  }
  await expect(verifySnapshot({ ...depsOf(served), fetch }, options())).rejects.toMatchObject({ code: 'CHUNK_DAMAGED' })
  expect(running.size).toBeGreaterThan(2)
  expect(ended).toEqual(running)
}, 120_000)

it('snapshot: a mirror with other pages, or with the manifest of another signer, does not hide the next one', async () => {
  const { file, signer } = signManifest(made.manifest, generateKeyPairSync('ed25519').privateKey)
  const from = 'http://bad.example,http://good.example'
  for (const page of ['<html>welcome</html>', file]) {
    const fetch = fetchFrom(files, (_name, { host }) => (host === 'bad.example' ? new Response(page) : undefined))
    const verified = verifySnapshot({ ...depsOf(files), fetch }, { ...options(), from, signer: made.signer })
    await expect(verified).resolves.toMatchObject({ block: base, signer: made.signer })
  }
  const alone = verifySnapshot(depsOf(new Map(files).set(manifestName, Buffer.from(file))), { ...options(), signer: made.signer })
  await expect(alone).rejects.toMatchObject({ code: 'MANIFEST_BAD', message: expect.stringContaining(`${signer} signed it`) })
}, 120_000)

it('snapshot: blocks with which no chain begins are refused before the state is read, and nothing is left (BASE_BLOCK_REFUSED)', async () => {
  const entry = made.manifest.chunks.find(({ kind }) => kind === 'blocks') as ChunkEntry
  const blocks = decodeBlocks(unzstd(files.get(fileOf(entry)) as Uint8Array, bounds.chunkBytes) as Uint8Array)
  const served = await withContents('blocks', [encodeBlocks(blocks.slice(-1))])
  const state = new Set(made.manifest.chunks.filter(({ kind }) => kind === 'accounts' || kind === 'slots').map(fileOf))
  const [datadir, asked] = [folders.make(), [] as string[]]
  const fetch = fetchFrom(served, (file) => void asked.push(file))
  const restored = restoreSnapshot({ ...depsOf(served), fetch }, { ...options(), datadir, command: 'again' })
  await expect(restored).rejects.toMatchObject({ code: 'BASE_BLOCK_REFUSED' })
  expect(asked.filter((file) => state.has(file))).toEqual([])
  expect(readdirSync(datadir)).toEqual([])
}, 120_000)

it('snapshot: a restore that continues shows the bytes that it has already, apart from its own', async () => {
  const datadir = folders.make()
  const sizeOf = (isMeant: (entry: ChunkEntry) => boolean) =>
    made.manifest.chunks.reduce((sum, entry) => sum + (isMeant(entry) ? entry.size : 0), 0)
  const restore = async (served: Files): Promise<readonly RestoreProgress[]> => {
    const shown: RestoreProgress[] = []
    const deps = { ...depsOf(served), onProgress: (progress: RestoreProgress) => void shown.push(progress) }
    await restoreSnapshot(deps, { ...options(), datadir, command: 'again' }).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'CHUNK_DAMAGED' })
    })
    return shown
  }
  const first = made.manifest.chunks.find(({ kind }) => kind === 'accounts') as ChunkEntry
  const begun = await restore(new Map(files).set(fileOf(first), new Uint8Array(first.size)))
  // codes are written at once
  const codes = sizeOf(({ kind }) => kind === 'codes')
  expect([codes > 0, begun[0]?.bytes, begun.at(-1)?.bytes]).toEqual([true, 0, codes])
  const continued = await restore(files)
  const ofBytes = sizeOf(({ kind }) => kind === 'codes' || kind === 'accounts' || kind === 'slots')
  expect(continued[0]).toMatchObject({ bytes: codes, bytesBefore: codes, ofBytes })
  expect(continued.at(-1)).toMatchObject({ bytes: ofBytes, bytesBefore: codes })
}, 120_000)
