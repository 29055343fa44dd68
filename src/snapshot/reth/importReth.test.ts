import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { decodeAccountRow } from '#state/account'
import { openChainKv } from '#store/chainTables'
import { tables } from '#store/tables'
import { compareExchanges, type Exchange, readExchanges } from '#test/harness/rpc/exchanges'
import { serveRecordedChain } from '#test/harness/rpc/recordedNode'
import { executeRecorded, givenBlocks, rowsOf, stateTables } from '#test/harness/snapshot/loadRecorded'
import { hashHeader } from '#types/header'
import type { TrustPort } from '../trustPort.ts'
import { openSnapshotFiles } from './archives/snapshotFiles.ts'
import { type ImportDeps, type ImportOptions, type ImportProgress, importReth } from './importReth.ts'

const name = 'op-ecotone-to-jovian'
const head = 171
const snapshot = resolve(import.meta.dirname, '../../../test/fixtures/reth')
const executed = executeRecorded(name, head)

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})
function newDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-reth-'))
  folders.push(folder)
  return folder
}

type Changes = Partial<ImportDeps> & Partial<ImportOptions>

async function importInto(datadir: string, changes: Changes = {}): ReturnType<typeof importReth> {
  const { chain } = await executed
  const deps: ImportDeps = {
    fetch: () => Promise.reject(new Error('no network')),
    clock: systemClock,
    random: () => 0,
    signal: new AbortController().signal,
    onProgress: () => {},
    fetchTransactions: async ({ number }) => givenBlocks(chain, number, number)[0]?.transactions ?? [],
    ...changes,
  }
  const options: ImportOptions = {
    source: snapshot,
    dir: join(datadir, 'chain'),
    workDir: join(datadir, 'reth-import'),
    command: 'basalt snapshot import',
    chainId: chain.config.l2ChainId,
    genesis: chain.config.genesis.l2,
    given: chain.blocks[head]?.hash,
    ...changes,
  }
  return importReth(deps, options)
}

/** Compares all state rows with those of a node that executed the chain. Codes that no account uses any more may be there too. */
async function expectExecutedState(datadir: string): Promise<void> {
  const { kv } = await executed
  await using imported = openChainKv(join(datadir, 'chain'))
  using found = imported.snapshot()
  using expected = kv.snapshot()
  for (const table of stateTables) {
    const rows = new Set(rowsOf(found, table))
    const wanted = rowsOf(expected, table)
    expect(
      wanted.filter((row) => !rows.has(row)),
      `rows of table ${table}`,
    ).toEqual([])
    if (table !== tables.code.id) expect(rows.size).toBe(wanted.length)
  }
}

const stateMethods = ['eth_getBalance', 'eth_getProof', 'eth_getStorageAt', 'eth_getCode', 'eth_getTransactionCount', 'eth_call']
const isAtHead = ({ method, params }: Exchange): boolean =>
  stateMethods.includes(method) && params.some((param) => param === 'latest' || param === `0x${head.toString(16)}`)

describe('snapshot/reth/importReth', () => {
  it('imports the state that executing the chain gives, row for row, derives on from it, and answers as the recorded node', async () => {
    const datadir = newDir()
    const { chain } = await executed
    const phases = new Set<ImportProgress['phase']>()
    const imported = await importInto(datadir, { onProgress: ({ phase }) => void phases.add(phase) })
    const { header } = givenBlocks(chain, head, head)[0] ?? {}
    expect(imported).toEqual({
      number: head,
      hash: chain.blocks[head]?.hash,
      stateRoot: header?.stateRoot,
      accounts: 2_159,
      slots: 2_830,
      codes: 32,
      trust: 'given',
    })
    expect([...phases]).toEqual(['unpack', 'load'])
    expect(existsSync(join(datadir, 'reth-import'))).toBe(false)
    await expectExecutedState(datadir)
    await using restored = openChainKv(join(datadir, 'chain'))
    await using served = await serveRecordedChain(name, restored)
    expect((await served.session.engine.heads()).safe.hash).toBe(imported.hash)
    const asked = readExchanges(name).filter(isAtHead)
    expect(asked.length).toBeGreaterThan(20)
    const { equal, different } = await compareExchanges(served.url, served.rollupUrl, asked)
    expect({ equal, different }).toEqual({ equal: asked.length, different: [] })
  })

  it('continues after interruptions at any slice, and counts all rows', async () => {
    const datadir = newDir()
    let lives = 0
    for (;;) {
      const stop = new AbortController()
      const onProgress = ({ phase }: ImportProgress): void => {
        // the first two lives end while files are unpacked and while rows are loaded
        if (lives === 1 ? phase === 'unpack' : lives === 2 && phase === 'load') stop.abort(new Error('killed'))
      }
      lives++
      const result = await importInto(datadir, { signal: stop.signal, onProgress }).catch((error: unknown) => error)
      if (result instanceof Error) expect(result.message).toBe('killed')
      else {
        expect(result).toMatchObject({ number: head, accounts: 2_159, slots: 2_830 })
        break
      }
    }
    expect(lives).toBe(3)
    await expectExecutedState(datadir)
  })

  it('imports an unpacked data directory, and leaves it as it is', async () => {
    const [unpacked, datadir] = [await unpackSnapshot(), newDir()]
    await importInto(datadir, { source: unpacked })
    expect(existsSync(join(unpacked, 'db/mdbx.dat'))).toBe(true)
    await expectExecutedState(datadir)
  })

  it('imports from a URL that breaks off, and continues with what it has', async () => {
    const datadir = newDir()
    const asked: string[] = []
    const fetch = (async (url: string, init?: RequestInit): Promise<Response> => {
      asked.push(url)
      const bytes = readFileSync(join(snapshot, new URL(url).pathname.replace('/base/', '')))
      const from = Number(/\d+/.exec(new Headers(init?.headers).get('range') ?? '0')?.[0])
      const isCut = asked.filter((other) => other === url).length < 3 && url.includes('state')
      const body = bytes.subarray(from, isCut ? from + 50_000 : undefined)
      const headers = { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }
      return new Response(body, from > 0 ? { status: 206, headers } : { status: 200 })
    }) as typeof globalThis.fetch
    const imported = await importInto(datadir, { source: 'https://example.com/base/', fetch })
    expect(imported.number).toBe(head)
    expect(asked.map((url) => url.split('/').at(-1))).toEqual([
      'manifest.json',
      'headers-0-499999.tar.zst',
      ...Array(3).fill('state.tar.zst'),
    ])
    await expectExecutedState(datadir)
  })

  it.each([
    ['the archives of its server get it', undefined, 'https://example.com/base/state.tar.zst?token=secret'],
    [
      'the archives of its server get it, named by the manifest',
      'https://example.com/other',
      'https://example.com/other/state.tar.zst?token=secret',
    ],
    ['those of another server do not', 'https://cdn.example.com/base', 'https://cdn.example.com/base/state.tar.zst'],
  ])('a manifest has a query in its URL: %s', async (_, baseUrl, expected) => {
    const asked: string[] = []
    const fetch = (async (url: string): Promise<Response> => {
      asked.push(url)
      if (!url.includes('manifest')) return new Response('', { status: 404 })
      return Response.json({ ...JSON.parse(readFileSync(join(snapshot, 'manifest.json'), 'utf8')), base_url: baseUrl })
    }) as typeof globalThis.fetch
    const clock = { ...systemClock, delay: async (): Promise<void> => {} }
    const deps = { fetch, clock, random: () => 0, signal: new AbortController().signal, onProgress: () => {} }
    const source = 'https://example.com/base/manifest.json?token=secret'
    const files = await openSnapshotFiles(deps, { source, workDir: newDir(), ancestors: 255 })
    await expect(files.databasePath()).rejects.toMatchObject({ code: 'SNAPSHOT_UNREACHABLE' })
    expect(asked[0]).toBe(source)
    expect(asked.at(-1)).toBe(expected)
  })

  it('asks for trust in the header before it reads the state, and imports nothing without it', async () => {
    const datadir = newDir()
    const refusal = new Error('not trusted')
    const trust: TrustPort = {
      verifyHeader: async (header, hash) => {
        expect([header.number, hash]).toEqual([head, hashHeader(header)])
        expect(existsSync(join(datadir, 'reth-import/db/mdbx.dat'))).toBe(false)
        throw refusal
      },
    }
    await expect(importInto(datadir, { given: undefined, trust })).rejects.toBe(refusal)
    expect(existsSync(join(datadir, 'chain'))).toBe(false)
  })

  it.each<[string, Changes, string]>([
    ['a snapshot of another chain', { chainId: 1 }, 'SNAPSHOT_CHAIN_ID'],
    ['a folder without a snapshot', { source: tmpdir() }, 'SNAPSHOT_FILE_MISSING'],
    ['a block that nothing vouches for', { given: undefined }, 'SNAPSHOT_UNTRUSTED'],
    ['other transactions of the block', { fetchTransactions: async () => [] }, 'BASE_BLOCK_REFUSED'],
    ['a URL that nobody serves', { source: 'https://example.com/base' }, 'SNAPSHOT_UNREACHABLE'],
  ])('refuses %s, and begins no chain', async (_, changes, code) => {
    const datadir = newDir()
    await expect(importInto(datadir, changes)).rejects.toMatchObject({ code })
    expect(existsSync(join(datadir, 'chain'))).toBe(false)
  })

  it('refuses a state that differs in one byte of one value, and begins no chain (STATE_ROOT_WRONG)', async () => {
    const [unpacked, datadir] = [await unpackSnapshot(), newDir()]
    const path = join(unpacked, 'db/mdbx.dat')
    const bytes = readFileSync(path)
    const { accountKey, nonce } = await someAccount()
    // the row of the account: its key, two bytes of flags, its nonce
    for (let at = bytes.indexOf(accountKey); at >= 0; at = bytes.indexOf(accountKey, at + 1)) {
      if (bytes[at + 34] === nonce) bytes[at + 34] = nonce + 1
    }
    writeFileSync(path, bytes)
    await expect(importInto(datadir, { source: unpacked })).rejects.toMatchObject({ code: 'STATE_ROOT_WRONG' })
    await using kv = openChainKv(join(datadir, 'chain'))
    using reader = kv.snapshot()
    expect(rowsOf(reader, tables.canonical.id)).toEqual([])
  })

  it('checks the free space before anything is unpacked (SNAPSHOT_NO_ROOM)', async () => {
    const [folder, datadir] = [newDir(), newDir()]
    cpSync(snapshot, folder, { recursive: true })
    const path = join(folder, 'manifest.json')
    writeFileSync(path, readFileSync(path, 'utf8').replace('"size": 1626112', `"size": ${2 ** 52}`))
    await expect(importInto(datadir, { source: folder })).rejects.toMatchObject({ code: 'SNAPSHOT_NO_ROOM' })
    expect(existsSync(join(datadir, 'reth-import/static_files'))).toBe(false)
  })

  it('refuses a manifest that was replaced during the import (SNAPSHOT_CHANGED)', async () => {
    const [folder, datadir] = [newDir(), newDir()]
    cpSync(snapshot, folder, { recursive: true })
    await importInto(datadir, { source: folder, fetchTransactions: () => Promise.reject(new Error('killed')) }).catch(() => {})
    const path = join(folder, 'manifest.json')
    writeFileSync(path, readFileSync(path, 'utf8').replace('"timestamp": 1', '"timestamp": 2'))
    await expect(importInto(datadir, { source: folder })).rejects.toMatchObject({ code: 'SNAPSHOT_CHANGED' })
  })
})

/** Unpacks the snapshot as a data directory of the other client. */
async function unpackSnapshot(): Promise<string> {
  const workDir = newDir()
  const deps = { fetch, clock: systemClock, random: () => 0, signal: new AbortController().signal, onProgress: () => {} }
  const files = await openSnapshotFiles(deps, { source: snapshot, workDir, ancestors: 255 })
  await files.headersDir()
  await files.databasePath()
  rmSync(join(workDir, 'manifest.json'))
  return workDir
}

/** Returns the key of an account with a nonce of one byte above 10. */
async function someAccount(): Promise<{ readonly accountKey: Buffer; readonly nonce: number }> {
  const { kv } = await executed
  using reader = kv.snapshot()
  for (const { key, value } of reader.range(tables.accounts.id, {})) {
    const { nonce } = decodeAccountRow(value)
    if (nonce > 10n && nonce < 200n) return { accountKey: Buffer.from(key), nonce: Number(nonce) }
  }
  throw new Error('no such account')
}
