import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareBytes } from '#lib/bytes'
import type { Kv, KvRange, KvReader, KvWriter } from '#store/ports'

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)
const one = 8
const other = 9

const keysOf = (reader: KvReader, range: KvRange, table = one): number[][] => [...reader.range(table, range)].map(({ key }) => [...key])

function readNow<T>(kv: Kv, read: (reader: KvReader) => T): T {
  using snapshot = kv.snapshot()
  return read(snapshot)
}

const put = (kv: Kv, ...keys: Uint8Array[]): void =>
  kv.write((tx) => {
    for (const key of keys) tx.put(one, key, key)
  })

type Command =
  | { readonly kind: 'put'; readonly table: number; readonly key: Uint8Array; readonly value: Uint8Array }
  | { readonly kind: 'delete'; readonly table: number; readonly key: Uint8Array }
  | { readonly kind: 'wipe'; readonly table: number; readonly key: Uint8Array }

const anyKey = fc.uint8Array({ minLength: 1, maxLength: 4, max: 3 }).chain((key) =>
  fc.constantFrom(
    key,
    key.map((byte) => byte * 85),
  ),
)
const anyTable = fc.constantFrom(one, other)
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), table: anyTable, key: anyKey, value: fc.uint8Array({ maxLength: 60 }) }),
  fc.record({ kind: fc.constant('delete' as const), table: anyTable, key: anyKey }),
  fc.record({ kind: fc.constant('wipe' as const), table: anyTable, key: anyKey }),
)
const anyRange: fc.Arbitrary<KvRange> = fc.record(
  { from: anyKey, to: anyKey, reverse: fc.boolean(), limit: fc.nat(5) },
  { requiredKeys: [] },
)

type Rows = { key: Uint8Array; value: Uint8Array }[]

/** Model of the tables: sorted lists. */
class Model {
  readonly tables = new Map<number, Rows>([
    [one, []],
    [other, []],
  ])

  copy(): Model {
    const copy = new Model()
    for (const [table, rows] of this.tables) copy.tables.set(table, [...rows])
    return copy
  }

  rows(table: number, { from, to, reverse = false, limit = Number.POSITIVE_INFINITY }: KvRange = {}): Rows {
    const inside = (this.tables.get(table) ?? []).filter(
      ({ key }) => (!from || compareBytes(from, key) <= 0) && (!to || compareBytes(key, to) < 0),
    )
    return (reverse ? inside.reverse() : inside).slice(0, limit)
  }

  run(command: Command): void {
    const rest = (this.tables.get(command.table) ?? []).filter(({ key }) => {
      if (command.kind === 'wipe') return compareBytes(key.subarray(0, command.key.length), command.key) !== 0
      return compareBytes(key, command.key) !== 0
    })
    if (command.kind === 'put') rest.push({ key: command.key, value: command.value })
    this.tables.set(
      command.table,
      rest.sort((a, b) => compareBytes(a.key, b.key)),
    )
  }
}

function runOn(tx: KvWriter, command: Command): void {
  if (command.kind === 'put') tx.put(command.table, command.key, command.value)
  if (command.kind === 'delete') tx.delete(command.table, command.key)
  if (command.kind !== 'wipe') return
  const { length } = command.key
  for (const { key } of tx.range(command.table, { from: command.key })) {
    if (compareBytes(key.subarray(0, length), command.key) !== 0) break
    tx.delete(command.table, key)
  }
}

function expectSame(reader: KvReader, model: Model, ranges: readonly KvRange[]): void {
  for (const table of [one, other]) {
    expect([...reader.range(table, {})]).toEqual(model.rows(table))
    for (const range of ranges) {
      expect([...reader.range(table, range)]).toEqual(model.rows(table, range))
      expect([...reader.keys(table, range)]).toEqual(model.rows(table, range).map(({ key }) => key))
    }
    for (const { key, value } of model.rows(table)) expect(reader.get(table, key)).toEqual(value)
  }
}

const everything = fc.tuple(
  fc.array(fc.array(command, { maxLength: 30 }), { maxLength: 5 }),
  fc.array(anyRange, { minLength: 4, maxLength: 4 }),
)

/** Tests that every adapter of `Kv` must pass. */
export function kvContract(adapter: string, open: () => Kv): void {
  describe(`store/ports Kv ${adapter}`, () => {
    it(`store/ports Kv ${adapter}: snapshot: does not see a later write`, async () => {
      await using kv = open()
      put(kv, bytes(1))
      using before = kv.snapshot()
      kv.write((tx) => {
        tx.put(one, bytes(1), bytes(9))
        tx.put(one, bytes(2), bytes(9))
      })
      using after = kv.snapshot()
      expect(before.get(one, bytes(1))).toEqual(bytes(1))
      expect(keysOf(before, {})).toEqual([[1]])
      expect(after.get(one, bytes(1))).toEqual(bytes(9))
      expect(keysOf(after, {})).toEqual([[1], [2]])
    })

    it(`store/ports Kv ${adapter}: write: changes nothing when the callback throws, and passes the error on`, async () => {
      await using kv = open()
      put(kv, bytes(1))
      const error = new Error('stop')
      const run = (): void =>
        kv.write((tx) => {
          tx.delete(one, bytes(1))
          tx.put(other, bytes(2), bytes(2))
          throw error
        })
      expect(run).toThrow(error)
      expect(readNow(kv, (reader) => [keysOf(reader, {}), keysOf(reader, {}, other)])).toEqual([[[1]], []])
      put(kv, bytes(3))
      expect(readNow(kv, (reader) => keysOf(reader, {}))).toEqual([[1], [3]])
    })

    it(`store/ports Kv ${adapter}: write: sees its own changes and returns the callback's result`, async () => {
      await using kv = open()
      put(kv, bytes(1), bytes(2))
      const seen = kv.write((tx) => {
        tx.put(one, bytes(1, 5), bytes(7))
        tx.delete(one, bytes(2))
        return [tx.get(one, bytes(1, 5)), tx.get(one, bytes(2)), keysOf(tx, { reverse: true })]
      })
      expect(seen).toEqual([bytes(7), undefined, [[1, 5], [1]]])
    })

    it(`store/ports Kv ${adapter}: range: includes the first key and excludes the last, in both directions`, async () => {
      await using kv = open()
      put(kv, bytes(0), bytes(1), bytes(1, 0), bytes(2), bytes(255), bytes(255, 255))
      readNow(kv, (reader) => {
        expect(keysOf(reader, { from: bytes(1), to: bytes(2) })).toEqual([[1], [1, 0]])
        expect(keysOf(reader, { from: bytes(1), to: bytes(2), reverse: true })).toEqual([[1, 0], [1]])
        expect(keysOf(reader, { from: bytes(1, 1), limit: 1 })).toEqual([[2]])
        expect(keysOf(reader, { to: bytes(1, 1), reverse: true, limit: 1 })).toEqual([[1, 0]])
        expect(keysOf(reader, { reverse: true, limit: 2 })).toEqual([[255, 255], [255]])
        expect(keysOf(reader, { limit: 0 })).toEqual([])
        expect(keysOf(reader, { from: bytes(3), to: bytes(2) })).toEqual([])
        expect(keysOf(reader, {})).toHaveLength(6)
      })
    })

    it(`store/ports Kv ${adapter}: copies keys and values on write and read`, async () => {
      await using kv = open()
      const value = bytes(1, 2, 3)
      const shared = new Uint8Array(new SharedArrayBuffer(3))
      shared.set(value)
      kv.write((tx) => {
        tx.put(one, bytes(1), value)
        tx.put(one, bytes(2), shared)
        value.fill(9)
        shared.fill(9)
        expect(tx.get(one, bytes(1))).toEqual(bytes(1, 2, 3))
      })
      readNow(kv, (reader) => {
        const first = reader.get(one, bytes(1))
        first?.fill(9)
        const [row] = reader.range(one, {})
        row?.value.fill(8)
        expect([...reader.range(one, {})].map((each) => each.value)).toEqual([bytes(1, 2, 3), bytes(1, 2, 3)])
      })
    })

    it(`store/ports Kv ${adapter}: stores values of any size`, async () => {
      await using kv = open()
      const sizes = [0, 1, 100, 2_000, 5_000, 40_000, 300_000, 3_000_000]
      kv.write((tx) => {
        for (const size of sizes) tx.put(one, bytes(1, size & 255, size >> 8), new Uint8Array(size).fill(size % 251))
      })
      readNow(kv, (reader) => {
        for (const size of sizes) {
          const value = reader.get(one, bytes(1, size & 255, size >> 8))
          expect(value?.length).toBe(size)
          expect(value?.every((byte) => byte === size % 251)).toBe(true)
        }
        const lengths = [...reader.range(one, {})].map(({ value }) => value.length).sort((a, b) => a - b)
        expect(lengths).toEqual(sizes)
      })
    })

    it(`store/ports Kv ${adapter}: read: lends a value without a copy; results made from it remain valid`, async () => {
      await using kv = open()
      kv.write((tx) => {
        for (const size of [1, 5_000, 300_000]) tx.put(one, bytes(size & 255), new Uint8Array(size).fill(size % 251))
        expect(tx.look(one, bytes(1), (value) => [...value])).toEqual([1])
      })
      readNow(kv, (reader) => {
        const sums = [1, 5_000, 300_000].map((size) => reader.look(one, bytes(size & 255), (value) => value.reduce((a, b) => a + b, 0)))
        expect(sums).toEqual([1, 5_000 * (5_000 % 251), 300_000 * (300_000 % 251)])
        expect(reader.look(one, bytes(7, 7), () => 1)).toBeUndefined()
      })
    })

    it(`store/ports Kv ${adapter}: rejects keys of other than 1 to 500 bytes (RangeError)`, async () => {
      await using kv = open()
      put(kv, new Uint8Array(500).fill(255))
      expect(readNow(kv, (reader) => reader.get(one, new Uint8Array(500).fill(255))?.length)).toBe(500)
      expect(readNow(kv, (reader) => keysOf(reader, { reverse: true }).length)).toBe(1)
      for (const size of [0, 501]) {
        expect(() => put(kv, new Uint8Array(size))).toThrow(RangeError)
        expect(() => readNow(kv, (reader) => reader.get(one, new Uint8Array(size)))).toThrow(RangeError)
      }
    })

    it(`store/ports Kv ${adapter}: rejects other reads and writes during a write`, async () => {
      await using kv = open()
      using snapshot = kv.snapshot()
      const inside = (use: () => unknown) => (): unknown => kv.write(use)
      expect(inside(() => kv.snapshot())).toThrow('during a write')
      expect(inside(() => snapshot.get(one, bytes(1)))).toThrow('during a write')
      expect(inside(() => kv.write(() => 1))).toThrow('during a write')
    })

    it(`store/ports Kv ${adapter}: ends snapshots when the store is closed`, async () => {
      const kv = open()
      put(kv, bytes(1))
      const snapshot = kv.snapshot()
      await kv[Symbol.asyncDispose]()
      await kv[Symbol.asyncDispose]()
      expect(() => snapshot.get(one, bytes(1))).toThrow('closed')
      expect(() => [...snapshot.range(one, {})]).toThrow('closed')
      expect(() => kv.write(() => 1)).toThrow('closed')
      expect(() => kv.snapshot()).toThrow('closed')
      snapshot[Symbol.dispose]()
    })

    it(`store/ports Kv ${adapter}: reaches every row of a long range while deleting`, async () => {
      await using kv = open()
      kv.write((tx) => {
        for (let i = 0; i < 1_500; i++) tx.put(one, bytes(i >> 8, i & 255), bytes(1))
      })
      const walked = kv.write((tx) => {
        let count = 0
        for (const { key } of tx.range(one, {})) {
          tx.delete(one, key)
          count++
        }
        return count
      })
      expect(walked).toBe(1_500)
      expect(readNow(kv, (reader) => keysOf(reader, {}))).toEqual([])
    })

    it(`store/ports Kv ${adapter}: behaves as sorted lists do, and keeps old snapshots unchanged`, async () => {
      await fc.assert(
        fc.asyncProperty(everything, async ([batches, ranges]) => {
          await using kv = open()
          const model = new Model()
          const snapshots: { reader: KvReader & Disposable; model: Model }[] = []
          for (const batch of batches) {
            snapshots.push({ reader: kv.snapshot(), model: model.copy() })
            kv.write((tx) => {
              for (const each of batch) {
                runOn(tx, each)
                model.run(each)
              }
              expectSame(tx, model, ranges)
            })
          }
          snapshots.push({ reader: kv.snapshot(), model })
          for (const { reader, model: then } of snapshots) {
            expectSame(reader, then, ranges)
            reader[Symbol.dispose]()
          }
        }),
        { numRuns: 20 },
      )
    })
  })
}
