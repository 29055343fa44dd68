import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { isFault } from '#lib/fault'
import { dice } from '#test/harness/dice'
import { mdbxFile, type TableRows } from '#test/harness/snapshot/mdbxFile'
import { Database } from './database.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-mdbx-'))
afterAll(() => rmSync(dir, { recursive: true }))

type Rows = readonly (readonly [Uint8Array, Uint8Array])[]
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const key = (value: number, length = 8): Uint8Array => {
  const bytes = new Uint8Array(length)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}

const one: Rows = Array.from({ length: 3_000 }, (_, i) => [key(i * 3, 32), new Uint8Array(i % 90).fill(i)] as const)
const large: Rows = [0, 1, 1_500, 4_000, 4_100, 8_200, 70_000].map((size, i) => [key(i), new Uint8Array(size).fill(i + 1)] as const)
const several: Rows = Array.from({ length: 60 }, (_, i) => i).flatMap((i) =>
  Array.from(
    { length: [1, 2, 9, 400, 30][i % 5] ?? 1 },
    (_, j) => [key(i, 32), Uint8Array.from([...key(j, 32), ...key(j + 1, 4 + (j % 29))])] as const,
  ),
)
const fixed: Rows = [1, 5, 700, 3_000].flatMap((count, i) => Array.from({ length: count }, (_, j) => [key(i), key(j, 8)] as const))
const tables: readonly TableRows[] = [
  { name: 'Empty', values: 'one', rows: [] },
  { name: 'Fixed', values: 'several of one size', rows: fixed },
  { name: 'Large', values: 'one', rows: large },
  { name: 'One', values: 'one', rows: one },
  { name: 'Several', values: 'several', rows: several },
]

function fileOf(pageSize: number, change: (bytes: Uint8Array) => Uint8Array = (bytes) => bytes): string {
  const path = join(dir, `${pageSize}.dat`)
  writeFileSync(path, change(mdbxFile(pageSize, tables)))
  return path
}

function rowsOf(
  database: Database,
  name: string,
  start?: { key: Uint8Array; value?: Uint8Array },
  most = Number.POSITIVE_INFINITY,
): string[] {
  const cursor = database.table(name).rows(start)
  const rows: string[] = []
  while (rows.length < most && cursor.next()) rows.push(`${hex(cursor.key)}=${hex(cursor.value)}`)
  return rows
}
const texts = (rows: Rows): string[] => rows.map(([k, v]) => `${hex(k)}=${hex(v)}`)

describe.each([4_096, 8_192, 16_384])('snapshot/reth/mdbx: pages of %i bytes', (pageSize) => {
  it('reads every row of trees of several levels, of large values, of several values, of values of one size', () => {
    using database = new Database(fileOf(pageSize))
    expect(rowsOf(database, 'Empty')).toEqual([])
    expect(rowsOf(database, 'One')).toEqual(texts(one))
    expect(rowsOf(database, 'Large')).toEqual(texts(large))
    expect(rowsOf(database, 'Several')).toEqual(texts(several))
    expect(rowsOf(database, 'Fixed')).toEqual(texts(fixed))
  })

  it('finds values by key, and none of absent keys', () => {
    using database = new Database(fileOf(pageSize))
    const table = database.table('One')
    expect(one.filter(([k, v]) => hex(table.get(k) ?? k) !== hex(v))).toEqual([])
    for (const absent of [1, 3_001, 9_000]) expect(table.get(key(absent, 32))).toBeUndefined()
    expect(database.table('Empty').get(key(0))).toBeUndefined()
  })

  it('starts at a key, at a value of a key, between them, and after all', () => {
    using database = new Database(fileOf(pageSize))
    const roll = dice(pageSize)
    for (let i = 0; i < 100; i++) {
      const from = roll(several.length)
      const [k, v] = several[from] ?? [key(0), key(0)]
      const first = several.findIndex(([other]) => Buffer.compare(other, k) === 0)
      expect(rowsOf(database, 'Several', { key: k, value: v }, 3)).toEqual(texts(several.slice(from, from + 3)))
      expect(rowsOf(database, 'Several', { key: k, value: v.subarray(0, 32) }, 3)).toEqual(texts(several.slice(from, from + 3)))
      expect(rowsOf(database, 'Several', { key: k }, 3)).toEqual(texts(several.slice(first, first + 3)))
    }
    expect(rowsOf(database, 'Several', { key: key(3, 32) })).toEqual(texts(several.slice(12)))
    expect(rowsOf(database, 'One', { key: key(4, 32) })).toEqual(texts(one.slice(2)))
    expect(rowsOf(database, 'One', { key: new Uint8Array(32).fill(255) })).toEqual([])
  })
})

describe('snapshot/reth/mdbx: damaged files', () => {
  const pageSize = 4_096
  const open = (change: (bytes: Uint8Array) => unknown): (() => void) => {
    const path = fileOf(pageSize, (bytes) => {
      const other = change(bytes)
      return other instanceof Uint8Array ? other : bytes
    })
    return () => {
      using database = new Database(path)
      for (const { name } of tables) rowsOf(database, name)
    }
  }
  const damaged = (action: () => void, text: RegExp): void => {
    try {
      action()
    } catch (error) {
      expect(isFault(error, 'SNAPSHOT_FILE_DAMAGED')).toBe(true)
      expect((error as Error).message).toMatch(text)
      return
    }
    expect.unreachable('no fault')
  }
  /** Numbers of the pages with given flags. */
  const pagesOf = (bytes: Uint8Array, flags: number): number[] =>
    Array.from({ length: bytes.length / pageSize }, (_, page) => page).filter(
      (page) => page > 2 && bytes[page * pageSize + 10] === flags && bytes[page * pageSize + 16] === page % 256,
    )
  const copyPage = (bytes: Uint8Array, from: number, to: number): void => {
    bytes.copyWithin(to * pageSize, from * pageSize, (from + 1) * pageSize)
    new DataView(bytes.buffer).setUint32(to * pageSize + 16, to, true)
  }
  const leaf = (bytes: Uint8Array): number => pagesOf(bytes, 2)[2] ?? 0
  const branch = (bytes: Uint8Array): number => pagesOf(bytes, 1)[0] ?? 0

  it.each<[string, (bytes: Uint8Array) => unknown, RegExp]>([
    ['an empty file', () => new Uint8Array(0), /pages 0 to 2/],
    ['no meta page with the magic', (bytes) => bytes.fill(0, 0, 3 * pageSize), /pages 0 to 2/],
    ['a file cut in the middle of a page', (bytes) => bytes.slice(0, bytes.length - 10), /page \d+: the file ends before it/],
    [
      'a leaf of zeros',
      (bytes) => void bytes.fill(0, leaf(bytes) * pageSize, (leaf(bytes) + 1) * pageSize),
      /page \d+: its header has number 0/,
    ],
    [
      'a page of another number',
      (bytes) => void bytes.copyWithin(leaf(bytes) * pageSize, (leaf(bytes) + 1) * pageSize, (leaf(bytes) + 2) * pageSize),
      /its header has number/,
    ],
    ['a leaf reached twice', (bytes) => copyPage(bytes, leaf(bytes), leaf(bytes) + 1), /key \d+ does not ascend/],
    ['a branch instead of a leaf', (bytes) => copyPage(bytes, branch(bytes), leaf(bytes)), /a leaf page is expected/],
    ['a leaf instead of a branch', (bytes) => copyPage(bytes, leaf(bytes), branch(bytes)), /a branch page is expected/],
    [
      'a branch that is its own child',
      (bytes) =>
        void new DataView(bytes.buffer).setUint32(
          branch(bytes) * pageSize + 20 + new DataView(bytes.buffer).getUint16(branch(bytes) * pageSize + 20, true),
          branch(bytes),
          true,
        ),
      /a leaf page is expected/,
    ],
    [
      'a child beyond the file',
      (bytes) =>
        void new DataView(bytes.buffer).setUint32(
          branch(bytes) * pageSize + 20 + new DataView(bytes.buffer).getUint16(branch(bytes) * pageSize + 20, true),
          1e9,
          true,
        ),
      /page 1000000000: a tree refers to it/,
    ],
    ['a page without entries', (bytes) => void bytes.fill(0, leaf(bytes) * pageSize + 12, leaf(bytes) * pageSize + 14), /no entries/],
    [
      'an offset inside the header',
      (bytes) => void bytes.fill(0, leaf(bytes) * pageSize + 20, leaf(bytes) * pageSize + 22),
      /node 0: its offset is 0/,
    ],
    [
      'a page newer than the meta page',
      (bytes) => void bytes.fill(1, leaf(bytes) * pageSize, leaf(bytes) * pageSize + 6),
      /newer than transaction/,
    ],
    [
      'a large value of fewer pages',
      (bytes) => void bytes.fill(0, (pagesOf(bytes, 4).at(-1) ?? 0) * pageSize + 12, (pagesOf(bytes, 4).at(-1) ?? 0) * pageSize + 16),
      /do not fit its 0 pages/,
    ],
  ])('names the place of %s (SNAPSHOT_FILE_DAMAGED)', (_, change, text) => {
    damaged(open(change), text)
  })

  it('uses an older meta page when the newest is not whole', () => {
    const rows = (path: string): unknown => {
      using database = new Database(path)
      return tables.map(({ name }) => rowsOf(database, name))
    }
    const whole = rows(fileOf(pageSize))
    const older = rows(
      fileOf(pageSize, (bytes) => {
        bytes.fill(0, 196, 204)
        return bytes
      }),
    )
    expect(older).toEqual(whole)
  })

  it('refuses pages of another version (SNAPSHOT_FORMAT_UNSUPPORTED)', () => {
    expect(open((bytes) => void bytes.fill(4, 20, 21))).toThrow(/version 4/)
  })

  it('names a missing file and a missing table', () => {
    expect(() => new Database(join(dir, 'absent.dat'))).toThrow(/cannot be read/)
    using database = new Database(fileOf(pageSize))
    expect(() => database.table('Absent')).toThrow(/there is no table Absent/)
  })
})
