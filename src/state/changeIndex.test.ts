import { describe, expect, it } from 'vitest'
import { concatBytes, u64Bytes } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import type { Kv, KvReader } from '#store/ports'
import { tables } from '#store/tables'
import { dice } from '#test/harness/dice'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { ChangedRows, deletedKeys, dropChangedRows, firstChangeFrom, pruneRuns } from './changeIndex.ts'
import { type Digest, Digests, digestWith } from './digests/digests.ts'
import { accountsTable, changeKey, changesTable, storageTable } from './rows.ts'

const plain = new Digests([])
const keyed = [1, 2].map((byte) => digestWith(new Uint8Array(8).fill(byte)))
/** with a key from block 70 on, and another from block 1,500 on, in runs of several levels */
const changing = new Digests([]).from(70, keyed[0] as Digest).from(1_500, keyed[1] as Digest)

type RowPlace = { readonly table: number; readonly key: Uint8Array }

const hash = (index: number): Uint8Array => keccak256(u64Bytes(index))
const rows: readonly RowPlace[] = Array.from({ length: 60 }, (_, index) =>
  index % 3 === 0
    ? { table: accountsTable, key: hash(index) }
    : { table: storageTable, key: concatBytes(hash(index % 7), index < 30 ? hash(index) : hash(index % 5)) },
).filter(({ key }, index, all) => all.findIndex((other) => Buffer.compare(other.key, key) === 0) === index)

/** Blocks that each change some rows; row i changes in about one block of i². */
class Blocks {
  readonly kv: Kv = createMemoryKv()
  /** rows that each block changed, from block 1 on */
  readonly changed: number[][] = [[]]
  readonly #digests: Digests
  readonly #roll = dice(5)

  constructor(digests: Digests = plain) {
    this.#digests = digests
  }

  append(count: number): void {
    this.kv.write((tx) => {
      for (let i = 0; i < count; i++) {
        const number = this.changed.length
        const changed = rows.map((_, row) => row).filter((row) => this.#roll(1 + row * row) === 0)
        const collected = new ChangedRows(number, this.#digests.at(number))
        for (const row of changed) {
          const place = rows[row] as RowPlace
          tx.put(changesTable, changeKey(number, place.table, place.key), u64Bytes(number))
          collected.add(tx, place, (number + row) % 9 === 0)
        }
        collected.writeTo(tx)
        this.changed.push(changed)
      }
    })
  }

  unwind(count: number): void {
    this.kv.write((tx) => {
      for (let i = 0; i < count; i++) {
        const places = (this.changed.pop() ?? []).map((row) => rows[row] as RowPlace)
        for (const { table, key } of places) tx.delete(changesTable, changeKey(this.changed.length, table, key))
        dropChangedRows(tx, this.changed.length, places)
      }
    })
  }

  /** Compares the first change of each row from a block on with the model. */
  check(from: number): void {
    using reader = this.kv.snapshot()
    const head = this.changed.length - 1
    for (const [row, place] of rows.entries()) {
      const first = this.changed.findIndex((changed, number) => number >= from && changed.includes(row))
      expect(firstChangeFrom(reader, this.#digests, place, { from, head })?.number, `row ${row} from ${from} to ${head}`).toEqual(
        first < 0 ? undefined : first,
      )
    }
  }

  get indexRows(): number {
    using reader = this.kv.snapshot()
    return [...reader.keys(tables.historyIndex.id, {})].length
  }
}

describe('state/changeIndex', () => {
  it('state/changeIndex: finds the first change of a row after many blocks that changed a row with the same digest', () => {
    const twins = [1, 2].map((end) => ({ table: accountsTable, key: concatBytes(hash(1).subarray(0, 31), Uint8Array.of(end)) }))
    const [row, twin] = [twins[0] as RowPlace, twins[1] as RowPlace]
    const kv = createMemoryKv()
    kv.write((tx) => {
      for (let number = 1; number <= 300; number++) {
        const collected = new ChangedRows(number, plain.at(number))
        for (const place of number % 100 === 0 ? [row, twin] : [twin]) {
          tx.put(changesTable, changeKey(number, place.table, place.key), u64Bytes(number))
          collected.add(tx, place, false)
        }
        collected.writeTo(tx)
      }
    })
    using reader = kv.snapshot()
    const firsts = [1, 99, 100, 101, 299, 300].map((from) => firstChangeFrom(reader, plain, row, { from, head: 300 })?.number)
    expect(firsts).toEqual([100, 100, 100, 200, 300, 300])
    expect(firstChangeFrom(reader, plain, row, { from: 1, head: 99 })).toBeUndefined()
    expect(firstChangeFrom(reader, plain, twin, { from: 57, head: 300 })).toEqual({ number: 57, change: u64Bytes(57) })
  })

  it.each([
    ['without a key', plain],
    ['with keys that change', changing],
  ])(
    'state/changeIndex: finds the first change of each row while runs of six levels are merged, and after a reorg into them, by digests %s',
    (_, digests) => {
      const blocks = new Blocks(digests)
      const froms = (): number[] => [1, 2, 63, 64, 65, 1_000, 1_024, 4_095, 4_096, 4_097].filter((from) => from < blocks.changed.length)
      for (const count of [1, 2, 1, 11, 1, 1, 46, 1, 1, 2, 253, 700, 3_075, 1, 1, 60, 140, 60, 200]) {
        blocks.append(count)
        for (const from of froms()) blocks.check(from)
      }
      blocks.unwind(480)
      for (const from of froms()) blocks.check(from)
      blocks.append(520)
      for (const from of [...froms(), 4_590, 4_600]) blocks.check(from)
      blocks.unwind(blocks.changed.length - 1)
      expect(blocks.indexRows).toBe(0)
    },
    60_000,
  )

  it('state/changeIndex: finds rows that later blocks deleted by a range of keys', () => {
    const blocks = new Blocks()
    blocks.append(100)
    using reader = blocks.kv.snapshot()
    const deleted = (number: number): Set<string> => {
      const keys = deletedKeys(reader, storageTable, { from: Uint8Array.of(0x80), to: undefined }, number)
      return new Set(Array.from(keys, (key) => Buffer.from(key).toString('hex')))
    }
    const expected = (after: number): Set<string> =>
      new Set(
        blocks.changed.flatMap((changed, number) =>
          changed
            .filter((row) => number > after && (number + row) % 9 === 0)
            .map((row) => rows[row] as RowPlace)
            .filter(({ table, key }) => table === storageTable && (key[0] ?? 0) >= 0x80)
            .map(({ key }) => Buffer.from(key).toString('hex')),
        ),
      )
    for (const number of [0, 50, 90]) expect(deleted(number)).toEqual(expected(number))
    expect(expected(0).size).toBeGreaterThan(2)
  })

  it('state/changeIndex: finds a row that thousands of blocks deleted with a few reads', () => {
    const kv = createMemoryKv()
    const key = new Uint8Array(64).fill(0x77)
    kv.write((tx) => {
      for (let number = 1; number <= 2_000; number++) new ChangedRows(number, plain.at(number)).add(tx, { table: storageTable, key }, true)
    })
    using reader = kv.snapshot()
    let reads = 0
    const counting: KvReader = {
      get: (table, at) => reader.get(table, at),
      look: (table, at, use) => reader.look(table, at, use),
      peek: (table, at, use) => reader.peek(table, at, use),
      range: (table, range) => reader.range(table, range),
      *keys(table, range) {
        for (const found of reader.keys(table, range)) {
          reads++
          yield found
        }
      },
    }
    for (const number of [0, 1_000, 1_999]) {
      expect([...deletedKeys(counting, storageTable, { from: Uint8Array.of(0), to: undefined }, number)]).toEqual([key])
    }
    expect([...deletedKeys(counting, storageTable, { from: Uint8Array.of(0), to: undefined }, 2_000)]).toEqual([])
    expect(reads).toBeLessThan(10)
  })

  it('state/changeIndex: reads blocks above a pruned one, whose runs are removed in steps', () => {
    const blocks = new Blocks()
    blocks.append(1_100)
    const before = blocks.indexRows
    let calls = 1
    while (!blocks.kv.write((tx) => pruneRuns(tx, 1_030, () => false))) calls++
    expect(calls).toBeGreaterThan(10)
    expect(blocks.indexRows).toBeLessThan(before / 5)
    for (const from of [1_031, 1_050, 1_100]) blocks.check(from)
    blocks.append(200)
    for (const from of [1_031, 1_050, 1_100, 1_200]) blocks.check(from)
  })
})
