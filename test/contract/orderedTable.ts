import { expect, it } from 'vitest'
import type { OrderedTable, SafeHeadEntry } from '#consensus/ports'
import { createSafeHeadStore } from '#consensus/safeHeadStore'
import { hashOf } from '#test/harness/chain/blocks'

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)
const rows = (...keys: number[][]) => keys.map((key) => ({ key: bytes(...key), value: bytes(0xff, ...key) }))

/** Tests of an OrderedTable, and of the safe head store on it. */
export function orderedTableContract(adapter: string, open: () => Promise<{ readonly table: OrderedTable } & AsyncDisposable>): void {
  it(`consensus/ports OrderedTable ${adapter}: finds the greatest key at or below a key`, async () => {
    await using opened = await open()
    const { table } = opened
    expect(table.floor(bytes(255))).toBeUndefined()
    table.write({ puts: rows([7, 0, 1], [3], [7], [7, 0]) })
    const floors = [[2, 255], [3], [3, 0], [6, 255], [7], [7, 0, 0], [7, 0, 1], [7, 0, 1, 0], [255, 255]].map((key) => {
      const row = table.floor(bytes(...key))
      return row && [[...row.key], [...row.value]]
    })
    const [three, seven, short, long] = [[3], [7], [7, 0], [7, 0, 1]].map((key) => [key, [0xff, ...key]])
    expect(floors).toEqual([undefined, three, three, three, seven, short, long, long, long])
  })

  it(`consensus/ports OrderedTable ${adapter}: removes the keys above a key, then writes`, async () => {
    await using opened = await open()
    const { table } = opened
    table.write({ puts: rows([1], [2], [2, 0], [3], [4]) })
    table.write({ deleteAfter: bytes(2), puts: rows([9]) })
    const below = (key: number[]) => [...(table.floor(bytes(...key))?.key ?? [])]
    expect([below([255]), below([8]), below([1, 5])]).toEqual([[9], [2], [1]])
    table.write({ deleteAfter: bytes(), puts: rows([6]) })
    expect([below([255]), below([5])]).toEqual([[6], []])
  })

  it(`consensus/ports OrderedTable ${adapter}: changes nothing when a write fails halfway`, async () => {
    await using opened = await open()
    const { table } = opened
    table.write({ puts: rows([1], [5]) })
    const puts = {
      *[Symbol.iterator]() {
        yield* rows([2])
        throw new Error('killed')
      },
    } as unknown as ReturnType<typeof rows>
    expect(() => table.write({ deleteAfter: bytes(1), puts })).toThrow('killed')
    expect([...(table.floor(bytes(255))?.key ?? [])]).toEqual([5])
    expect([...(table.floor(bytes(4))?.key ?? [])]).toEqual([1])
  })

  it(`consensus/safeHeadStore ${adapter}: finds, iterates, drops and adds entries`, async () => {
    await using opened = await open()
    const store = createSafeHeadStore(opened.table)
    const entry = (l1: number, safe: number, branch = ''): SafeHeadEntry => ({
      l1: { number: l1, hash: hashOf(`L1 ${l1} ${branch}`) },
      safe: { number: safe, hash: hashOf(`L2 ${safe} ${branch}`) },
    })
    const entries = [entry(2, 0), entry(255, 3), entry(256, 255), entry(256, 256), entry(2 ** 33, 2 ** 35)]
    expect(store.last()).toBeUndefined()
    for (const some of [entries.slice(0, 2), entries.slice(2)]) store.append(some)
    const walked: SafeHeadEntry[] = []
    for (let at = store.last(); at; at = store.before(at)) walked.unshift(at)
    expect(walked).toEqual(entries)
    expect([1, 2, 254, 255, 256, 2 ** 33 - 1, 2 ** 40].map((l1) => store.atOrBelow(l1)?.safe.number)).toEqual([
      ...[undefined, 0, 0, 3, 256, 256],
      2 ** 35,
    ])
    store.dropAfter(entry(256, 255))
    expect(store.last()).toEqual(entry(256, 255))
    store.append([entry(256, 256, 'b')])
    expect(store.atOrBelow(300)).toEqual(entry(256, 256, 'b'))
    store.dropAfter(undefined)
    expect(store.last()).toBeUndefined()
  })
}
