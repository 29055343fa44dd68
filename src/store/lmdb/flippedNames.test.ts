import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isFault } from '#lib/fault'
import { openLmdbKv } from '../lmdbKv.ts'
import { openLmdbReader } from '../lmdbReader.ts'
import { tables } from '../tables.ts'
import { openTables } from './environment.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-names-'))
const template = join(base, 'template')
afterAll(() => rmSync(base, { recursive: true, force: true }))
const specs = Object.values(tables)
const key = Uint8Array.of(1, 2)

beforeAll(async () => {
  await using kv = openLmdbKv(template, specs)
  for (let at = 0; at < 2; at++)
    kv.write((tx) => {
      for (const { id } of specs) tx.put(id, key, Uint8Array.of(7))
    })
})

/** Position of the newest root page of the main tree, which has the names. */
function rootOf(file: Buffer): number {
  const meta = file.readBigUInt64LE(152) > file.readBigUInt64LE(4_096 + 152) ? 0 : 4_096
  return Number(file.readBigUInt64LE(meta + 96 + 40)) * 4_096
}

/** Positions in the file of the names in the newest root page of the main tree, with the zero byte at their end. */
function namesIn(file: Buffer): { name: string; at: number }[] {
  const root = rootOf(file)
  const count = file.readUInt16LE(root + 20) >> 1
  return Array.from({ length: count }, (_, i) => {
    const node = root + 24 + file.readUInt16LE(root + 24 + 2 * i)
    const length = file.readUInt16LE(node + 6)
    return { name: file.subarray(node + 8, node + 8 + length).toString('latin1'), at: node + 8 }
  })
}

/** Tables whose row is neither read nor a fault after the flip of one bit. */
async function lostTables(byte: number, bit: number): Promise<string[]> {
  const dir = join(base, 'copy')
  rmSync(dir, { recursive: true, force: true })
  cpSync(template, dir, { recursive: true })
  const path = join(dir, 'data.mdb')
  const file = readFileSync(path)
  file[byte] = (file[byte] as number) ^ (1 << bit)
  writeFileSync(path, file)
  try {
    await using kv = openLmdbKv(dir, specs)
    using reader = kv.snapshot()
    return specs.filter(({ id }) => reader.get(id, key) === undefined).map(({ name }) => name)
  } catch (error) {
    if (isFault(error)) return []
    throw error
  }
}

it('store/lmdb: a flipped bit in the name of a table, or in the zero byte after it, is a fault, never an empty table', async () => {
  const names = namesIn(readFileSync(join(template, 'data.mdb')))
  expect(names.map(({ name }) => name)).toContain('meta\0')
  const lost: string[] = []
  for (const { name, at } of names) {
    for (let i = 0; i < name.length; i++) {
      // all bits of the end, two of each letter
      for (const bit of i === name.length - 1 ? [0, 1, 2, 3, 4, 5, 6, 7] : [0, 4]) {
        const found = await lostTables(at + i, bit)
        if (found.length > 0) lost.push(`${JSON.stringify(name)} byte ${i} bit ${bit}: ${found.join(' ')}`)
      }
    }
  }
  expect(lost).toEqual([])
}, 120_000)

it('store/lmdb: a flipped bit in the head of the page of names, or in the places of its nodes, is a fault, never an empty table', async () => {
  const file = readFileSync(join(template, 'data.mdb'))
  const page = rootOf(file)
  const lost: string[] = []
  for (let byte = 18; byte < 24 + (file.readUInt16LE(page + 20) & ~1); byte++) {
    for (const bit of [0, 1, 3, 5, 7]) {
      const found = await lostTables(page + byte, bit)
      if (found.length > 0) lost.push(`byte ${byte} bit ${bit}: ${found.join(' ')}`)
    }
  }
  expect(lost).toEqual([])
}, 120_000)

it('store/lmdb: a table that is missing beside others is a fault for a reader too', async () => {
  const dir = join(base, 'missing')
  cpSync(template, dir, { recursive: true })
  {
    const { root } = openTables(dir, [], 'writer')
    root.openDB({ name: 'receipts.sums', encoding: 'binary', keyEncoding: 'binary' }).dropSync()
    await root.close()
  }
  expect(() => openLmdbReader(dir, specs)).toThrow(
    expect.objectContaining({ code: 'DATADIR_DAMAGED', message: expect.stringContaining('receipts.sums') }),
  )
})
