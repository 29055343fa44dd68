import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { isFault } from '#lib/fault'
import { type Hex, toHex } from '#lib/hex'
import { parseManifest } from '#snapshot/reth/archives/manifest'
import { openSnapshotFiles } from '#snapshot/reth/archives/snapshotFiles'
import { unpackArchive } from '#snapshot/reth/archives/unpack'
import { Database } from '#snapshot/reth/mdbx/database'
import { readHeaders } from '#snapshot/reth/staticFiles/headers'
import { readHeadNumber, requireHeaderNumber } from '#snapshot/reth/tables/headTables'
import { codesAfter, StateCursor } from '#snapshot/reth/tables/stateCursor'
import { dice } from '#test/harness/dice'
import { readShared, readSharedJson, sharedDataDir } from '#test/harness/sharedData'
import { judgeDamages, type Roll } from '#test/harness/snapshot/rethDamage'
import { decodeBlock } from '#types/block'
import { encodeHeader } from '#types/header'
import { emptyCodeHash, type Hash, hashFromBytes } from '#types/ids'

type ExpectedAccount = {
  readonly hash: Hex
  readonly nonce: number
  readonly balance: Hex
  readonly codeHash: Hash
  readonly storage: Record<Hex, Hex>
}
type Expected = {
  readonly number: number
  readonly hash: Hash
  readonly stateRoot: Hash
  readonly accounts: readonly ExpectedAccount[]
  readonly codes: Record<Hex, Hex>
}

const folders = ['ecotone-to-jovian', 'bench-20'] as const
const opened: string[] = []
afterAll(() => {
  for (const dir of opened) rmSync(dir, { recursive: true })
})
function newDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'basalt-reth-data-'))
  opened.push(dir)
  return dir
}

const folderOf = (name: string): string => resolve(sharedDataDir, 'reth', name)
const unpacked = new Map(folders.map((name) => [name, unpack(name)]))
async function unpack(name: string): Promise<string> {
  const workDir = newDir()
  const deps = { fetch, clock: systemClock, random: () => 0, signal: new AbortController().signal, onProgress: () => {} }
  const files = await openSnapshotFiles(deps, { source: folderOf(name), workDir, ancestors: 255 })
  await files.headersDir()
  await files.databasePath()
  return workDir
}

/** Cuts an archive, or changes some of its bytes. */
function damageArchive(bytes: Buffer, roll: Roll): Buffer {
  if (roll(3) === 0) return bytes.subarray(0, roll(bytes.length))
  for (let flips = roll(4); flips >= 0; flips--) bytes[roll(bytes.length)] = roll(256)
  return bytes
}

/** Reads the whole state in the form of op-geth's dump. */
function readState(database: Database): ExpectedAccount[] {
  const accounts: ExpectedAccount[] = []
  const state = new StateCursor(database)
  for (let kind = state.next(); kind !== undefined; kind = state.next()) {
    if (kind === 'slot') {
      const value = new Uint8Array(32)
      value.set(state.slotValue, 32 - state.slotValue.length)
      const { storage } = accounts.at(-1) as ExpectedAccount
      storage[toHex(state.slotKey)] = toHex(value)
      continue
    }
    const { nonce, balance, codeHash } = state.accountValue()
    accounts.push({
      hash: toHex(state.accountKey),
      nonce: Number(nonce),
      balance: `0x${balance.toString(16)}`,
      codeHash: codeHash ? hashFromBytes(codeHash) : emptyCodeHash,
      storage: {},
    })
  }
  return accounts
}

describe.each(folders)('reth snapshot %s', (name) => {
  const expected = readSharedJson<Expected>(`reth/${name}/expected.json.zst`)

  it('has every account, slot and code that op-geth dumped', async () => {
    using database = new Database(join((await unpacked.get(name)) ?? '', 'db/mdbx.dat'))
    expect(readHeadNumber(database)).toBe(expected.number)
    requireHeaderNumber(database, expected.hash, expected.number)
    const wanted = expected.accounts.map(({ hash, nonce, balance, codeHash, storage }) => ({ hash, nonce, balance, codeHash, storage }))
    expect(JSON.stringify(readState(database))).toBe(JSON.stringify(wanted))
    const codes = new Map(Array.from(codesAfter(database), ({ hash, code }) => [toHex(hash), toHex(code)]))
    for (const [hash, code] of Object.entries(expected.codes)) expect(codes.get(hash as Hex)).toBe(code)
  })

  it('has headers that encode to the recorded bytes', async () => {
    const headers = readHeaders(join((await unpacked.get(name)) ?? '', 'static_files'), expected.number, 255)
    const { header: raw } = readSharedJson<{ header: Hex }>(`reth/${name}/head.json`)
    const last = headers.at(-1)
    expect([headers.length, last?.hash, last && toHex(encodeHeader(last.header))]).toEqual([expected.number + 1, expected.hash, raw])
    if (name === 'bench-20') return
    const { blocks } = readSharedJson<{ blocks: { raw: Hex }[] }>('chains/op-ecotone-to-jovian/l2.json.zst')
    const recorded = blocks.map((block) => toHex(encodeHeader(decodeBlock(Buffer.from(block.raw.slice(2), 'hex')).header)))
    expect(headers.slice(-recorded.length).map(({ header }) => toHex(encodeHeader(header)))).toEqual(recorded.slice(-headers.length))
  })

  it('is refused or has the same state after each of 1,000 damages', async () => {
    const dir = (await unpacked.get(name)) ?? ''
    const paths = ['db/mdbx.dat', ...['', '.conf', '.off'].map((ending) => `static_files/static_file_headers_0_499999${ending}`)]
    const sound = paths.map((path) => [path, readFileSync(join(dir, path))] as const)
    let slowest = { what: '', ms: 0 }
    const onSlow = (what: string, ms: number): void => {
      if (ms > slowest.ms) slowest = { what, ms }
    }
    const counts = judgeDamages(dir, sound, expected, { count: 1_000, roll: dice(name.length), onSlow })
    expect(counts.refused).toBeGreaterThan(200)
    expect(counts['root differs'] + counts['hash differs']).toBeGreaterThan(10)
    expect(slowest.ms).toBeLessThan(30_000)
  })

  it('is refused after each of 500 damages to its archives, and no file of another content gets its name', async () => {
    const folder = folderOf(name)
    const manifest = parseManifest(readFileSync(join(folder, 'manifest.json'), 'utf8'), 'manifest.json')
    const roll = dice(7)
    let refused = 0
    for (let index = 0; index < 500; index++) {
      const [archive] = manifest.headers
      if (!archive) throw new Error('no headers')
      const damaged = damageArchive(readFileSync(join(folder, archive.path)), roll)
      const dir = newDir()
      const chunks = (async function* (): AsyncGenerator<Uint8Array> {
        yield damaged
      })()
      try {
        await unpackArchive({ chunks, onBytes: () => {}, signal: new AbortController().signal }, archive, dir)
        expect(readHeaders(join(dir, 'static_files'), expected.number, 255).at(-1)?.hash).toBe(expected.hash)
      } catch (error) {
        if (!isFault(error, 'SNAPSHOT_FILE_DAMAGED')) throw error
        refused++
      }
    }
    expect(refused).toBeGreaterThan(450)
  })
})

it('the committed snapshot is the recorded one', () => {
  for (const file of ['manifest.json', 'head.json', 'state.tar.zst', 'headers-0-499999.tar.zst']) {
    const committed = readFileSync(resolve(import.meta.dirname, '../fixtures/reth', file))
    const bytes = file.endsWith('.zst') ? zstdDecompressSync(committed) : committed
    expect(Buffer.compare(bytes, readShared(`reth/ecotone-to-jovian/${file}`))).toBe(0)
  }
})
