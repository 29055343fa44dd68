import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RecordedChain } from '#devnet/recordedChain'
import { systemClock } from '#lib/clock'
import { isFault } from '#lib/fault'
import { unzstd, zstd } from '#lib/zstd'
import { openChainKv } from '#store/chainTables'
import { dice } from '#test/harness/dice'
import { sampleOf } from '#test/harness/sample'
import { executeRecorded, rowsOf, stateTables } from '#test/harness/snapshot/loadRecorded'
import { type Files, fetchFrom, filesIn, hastyClock } from '#test/harness/snapshot/memoryPlace'
import { executeInto, Folders, smallSizes } from '#test/harness/snapshot/recordedDatadir'
import { type Created, createSnapshot } from './create/createSnapshot.ts'
import { bounds, type ChunkEntry, fileOf, type Manifest, manifestName, sha256, signManifest } from './format/manifest.ts'
import { restoreSnapshot, verifySnapshot } from './restore/restoreSnapshot.ts'

const name = 'op-ecotone-to-jovian'
const folders = new Folders()
const base = 12
let chain: RecordedChain
let made: Created
let files: Files
let older: Files
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
}, 300_000)
afterAll(() => folders[Symbol.dispose]())

const options = () => ({ from: 'http://mirror.example/snapshot', config: chain.config, given: made.manifest.block.hash })
const depsOf = (served: Files) => ({ clock: hastyClock(systemClock), fetch: fetchFrom(served), signal, onProgress: () => {} })

type Roll = (below: number) => number
type Damage = { readonly what: string; readonly files: Files }

function flip(bytes: Uint8Array, roll: Roll): Uint8Array {
  const copy = bytes.slice()
  for (let n = 1 + roll(3); n > 0; n--) {
    const at = roll(copy.length)
    copy[at] = (copy[at] as number) ^ (1 << roll(8))
  }
  return copy
}

/** Changes bytes in one of several ways. */
function damaged(bytes: Uint8Array, other: Uint8Array, roll: Roll): Uint8Array {
  switch (roll(6)) {
    case 0:
      return flip(bytes, roll)
    case 1:
      return bytes.slice(0, roll(bytes.length))
    case 2:
      return Buffer.concat([bytes, bytes.subarray(0, 1 + roll(64))])
    case 3:
      return other.slice()
    case 4: {
      const at = roll(bytes.length)
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + roll(40))])
    }
    default: {
      const copy = bytes.slice()
      copy.fill(roll(256), roll(copy.length))
      return copy
    }
  }
}

const pick = <T>(list: readonly T[], roll: Roll): T => list[roll(list.length)] as T
const signed = (manifest: Manifest): Uint8Array => Buffer.from(signManifest(manifest, folders.key).file)
const entryOf = (chunks: readonly ChunkEntry[], at: number): ChunkEntry => chunks[at] as ChunkEntry

/** A file of the snapshot is damaged on its way. */
function onTheWay(roll: Roll): Damage {
  const names = [...files.keys()].filter((file) => !file.startsWith('manifest-'))
  const file = roll(4) === 0 ? manifestName : pick(names, roll)
  const bytes = files.get(file) as Uint8Array
  const other = roll(2) === 0 ? pick([...older.values()], roll) : pick([...files.values()], roll)
  return { what: `bytes of ${file}`, files: new Map(files).set(file, damaged(bytes, other, roll)) }
}

/** The signer of the manifest lies: a chunk has another content, under the right hash. */
async function bySigner(roll: Roll): Promise<Damage> {
  const chunks = [...made.manifest.chunks]
  const at = roll(chunks.length)
  const entry = entryOf(chunks, at)
  const raw = unzstd(files.get(fileOf(entry)) as Uint8Array, bounds.chunkBytes) as Uint8Array
  const same = chunks.filter(({ kind }) => kind === entry.kind)
  const other = unzstd(files.get(fileOf(pick(same, roll))) as Uint8Array, bounds.chunkBytes) as Uint8Array
  const content = damaged(raw, other, roll)
  const bytes = await zstd(content)
  // a zip bomb: more comes out than the manifest says
  const rawSize = roll(8) === 0 ? roll(content.length + 1) : content.length
  const changed = { ...entry, name: sha256(bytes), size: bytes.length, rawSize }
  // without its prefix only the state root covers a chunk
  if (roll(3) === 0) delete (changed as { prefix?: string }).prefix
  chunks[at] = changed
  const served = new Map(files).set(fileOf(changed), bytes)
  return { what: `content of a chunk of ${entry.kind}`, files: served.set(manifestName, signed({ ...made.manifest, chunks })) }
}

/** The signer of the manifest lies about the chunks. */
function inManifest(roll: Roll): Damage {
  const chunks = [...made.manifest.chunks]
  const [a, b] = [roll(chunks.length), roll(chunks.length)]
  const entry = entryOf(chunks, a)
  const hex = '0123456789abcdef'
  const changes: (() => Partial<Manifest> | undefined)[] = [
    () => void chunks.splice(a, 1),
    () => void chunks.splice(a, 0, entryOf(chunks, b)),
    () => {
      chunks.splice(a, 1, entryOf(chunks, b))
      chunks.splice(b, 1, entry)
      return undefined
    },
    () => void chunks.splice(a, 1, { ...entry, prefix: Array.from({ length: roll(5) }, () => hex[roll(16)]).join('') }),
    () => void chunks.splice(a, 1, { ...entry, name: '../../../../etc/passwd' }),
    () => void chunks.splice(a, 1, { ...entry, rawSize: entry.rawSize + 1 }),
    () => void chunks.splice(a, 1, { ...entry, size: roll(2) === 0 ? entry.size + 1 : 2 ** 40 }),
    () => void chunks.splice(a, 1, { ...entry, kind: pick(['top', 'blocks', 'codes', 'accounts', 'slots'] as const, roll) }),
    () => void chunks.splice(a, 1, { ...entry, account: made.manifest.block.hash.slice(2) }),
    () => ({ block: { ...made.manifest.block, hash: made.manifest.genesis } }),
    () => ({ block: { ...made.manifest.block, stateRoot: made.manifest.genesis } }),
    () => ({ genesis: made.manifest.block.hash }),
    () => ({ accounts: -1 }),
    () => ({ format: 'basalt-snapshot-2' as Manifest['format'] }),
  ]
  const change = pick(changes, roll)()
  return {
    what: `manifest, chunk ${a} of ${entry.kind}`,
    files: new Map(files).set(manifestName, signed({ ...made.manifest, chunks, ...change })),
  }
}

const refusals = [
  'MANIFEST_BAD',
  'CHUNK_DAMAGED',
  'CHUNK_UNAVAILABLE',
  'STATE_ROOT_WRONG',
  'BASE_BLOCK_REFUSED',
  'SNAPSHOT_UNTRUSTED',
  'SNAPSHOT_OF_ANOTHER_CHAIN',
]

/** Returns a damaged snapshot. */
const damageOf = async (seed: number): Promise<Damage> => {
  const roll = dice(seed)
  return seed % 3 === 0 ? onTheWay(roll) : seed % 3 === 1 ? await bySigner(roll) : inManifest(roll)
}

it(`snapshot: ${sampleOf(24, 2_000)} damaged snapshots are refused, or have the same state`, async () => {
  const whole = await verifySnapshot(depsOf(files), options())
  const found = new Map<string, number>()
  for (let seed = 1; seed <= sampleOf(24, 2_000); seed++) {
    const damage = await damageOf(seed)
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
    const damage = onTheWay(dice(seed))
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
  await expect(verifySnapshot({ ...depsOf(files), fetch: replaced }, options())).rejects.toMatchObject({ code: 'SNAPSHOT_REPLACED' })
}, 120_000)
