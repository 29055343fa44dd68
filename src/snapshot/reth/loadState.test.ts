import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { mdbxFile } from '#test/harness/snapshot/mdbxFile'
import { openStateLoader } from '../load/stateLoader.ts'
import { loadState } from './loadState.ts'
import { Database } from './mdbx/database.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-load-state-'))
afterAll(() => rmSync(dir, { recursive: true }))

const pageSize = 4_096
const [accounts, most, few] = [60, 3_000, 60]
const hash = (value: number): Uint8Array => {
  const bytes = new Uint8Array(32)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}
const slotsOf = (account: number) => Array.from({ length: account === 0 ? most : few }, (_, slot) => Uint8Array.of(...hash(slot), 7))

/** A database with accounts whose slots are in trees of their own: many of the first one, few of the others. */
function databaseFile(): Uint8Array {
  const keys = Array.from({ length: accounts }, (_, account) => hash(account))
  return mdbxFile(pageSize, [
    { name: 'Bytecodes', values: 'one', rows: [] },
    { name: 'HashedAccounts', values: 'one', rows: keys.map((key) => [key, new Uint8Array(2)] as const) },
    {
      name: 'HashedStorages',
      values: 'several',
      rows: keys.flatMap((key, account) => slotsOf(account).map((slot) => [key, slot] as const)),
    },
  ])
}

/** Returns the descriptors of the trees of values of all keys, as views of a file. */
function treesOfValues(file: Uint8Array): readonly DataView[] {
  const view = new DataView(file.buffer)
  const found: DataView[] = []
  for (let page = 3 * pageSize; page < file.length; page += pageSize) {
    const isLeaf = view.getUint16(page + 10, true) === 2
    for (let node = 0; isLeaf && node < view.getUint16(page + 12, true); node += 2) {
      const at = page + 20 + view.getUint16(page + 20 + node, true)
      if (file[at + 4] === 6) found.push(new DataView(file.buffer, at + 8 + view.getUint16(at + 6, true), 48))
    }
  }
  return found
}

async function load(name: string, file: Uint8Array): Promise<{ readonly accounts: number; readonly slots: number }> {
  const path = join(dir, `${name}.dat`)
  writeFileSync(path, file)
  using database = new Database(path)
  await using loader = await openStateLoader({ dir: join(dir, name), source: name, command: 'again' })
  await loadState({ signal: new AbortController().signal, onProgress: () => {} }, database, loader)
  return loader.counts
}

it('snapshot/reth/loadState: refuses accounts that share one tree of slots: more rows than the file holds (SNAPSHOT_FILE_DAMAGED)', async () => {
  const file = databaseFile()
  expect(await load('sound', file)).toMatchObject({ accounts, slots: most + (accounts - 1) * few })
  const trees = treesOfValues(file)
  expect(trees).toHaveLength(accounts)
  const largest = trees.find((tree) => tree.getUint32(32, true) === most) ?? expect.fail('no tree')
  const shared = new Uint8Array(largest.buffer, largest.byteOffset, 48).slice()
  for (const tree of trees) new Uint8Array(tree.buffer, tree.byteOffset, 48).set(shared)
  await expect(load('shared', file)).rejects.toMatchObject({
    code: 'SNAPSHOT_FILE_DAMAGED',
    message: expect.stringContaining(`they have more rows than ${file.length} bytes hold`),
  })
})
