import { expect, it } from 'vitest'
import { concatBytes, u64Bytes } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { accountNodesTable, storageNodesTable } from '../rows.ts'
import { beginDigests, Digests, digestWith, readDigests, writeDigests } from './digests.ts'

const key = (byte: number): Uint8Array => new Uint8Array(8).fill(byte)
const [first, second] = [digestWith(key(1)), digestWith(key(2))]
const plain = digestWith(key(0))

it('state/digests: divides blocks by their keys; blocks before the first one have none', () => {
  const digests = new Digests([]).from(10, first).from(20, second)
  expect([0, 9, 10, 19, 20, 1_000].map((number) => digests.at(number))).toEqual([plain, plain, first, first, second, second])
  expect(digests.spans(5, 25)).toEqual([
    { from: 5, to: 9, digest: plain },
    { from: 10, to: 19, digest: first },
    { from: 20, to: 25, digest: second },
  ])
  expect(digests.spans(10, 19)).toEqual([{ from: 10, to: 19, digest: first }])
  expect(digests.spans(20, 19)).toEqual([])
  expect(digests.from(15, second).spans(12, 30)).toEqual([
    { from: 12, to: 14, digest: first },
    { from: 15, to: 30, digest: second },
  ])
})

it('state/digests: reads stored keys back, and begins with a random one once', () => {
  const kv = createMemoryKv()
  const read = (): Digests => {
    using reader = kv.snapshot()
    return readDigests(reader)
  }
  expect(read().spans(0, 9)).toEqual([{ from: 0, to: 9, digest: plain }])
  kv.write((tx) => writeDigests(tx, new Digests([]).from(3, first).from(4, plain).from(5, second)))
  expect(
    read()
      .spans(0, 9)
      .map(({ from, digest }) => [from, digest]),
  ).toEqual([
    [0, plain],
    [3, first],
    [4, plain],
    [5, second],
  ])
  kv.write((tx) => beginDigests(tx, 0))
  expect(read().at(5)).toEqual(second)
  const begun = [0, 1].map(() => {
    const other = createMemoryKv()
    other.write((tx) => beginDigests(tx, 7))
    using reader = other.snapshot()
    expect(readDigests(reader).at(6)).toBe(plain)
    return Buffer.from(readDigests(reader).at(7).key).toString('hex')
  })
  expect(begun[0]).not.toBe(begun[1])
  expect(begun).not.toContain('0000000000000000')
})

it('state/digests: spreads rows and nodes, also those that have equal digests without a key or by another key', () => {
  const places = Array.from({ length: 4_000 }, (_, i) => concatBytes(keccak256(u64Bytes(1)), keccak256(u64Bytes(i))))
  // equal in the bytes that digests without a key have
  const twins = places.map((place, i) =>
    concatBytes(place.subarray(0, 4), u64Bytes(i), place.subarray(12, 32), u64Bytes(0), place.subarray(40)),
  )
  expect(new Set(twins.map((place) => plain.row(concatBytes(keccak256(u64Bytes(1)), place.subarray(32))))).size).toBe(1)
  for (const digest of [first, second]) {
    const buckets = new Uint32Array(16)
    for (const place of twins) buckets[digest.row(place) >>> 28] = (buckets[digest.row(place) >>> 28] ?? 0) + 1
    expect(Math.min(...buckets)).toBeGreaterThan(180)
    expect(Math.max(...buckets)).toBeLessThan(330)
    expect(new Set(twins.map((place) => digest.node(storageNodesTable, place))).size).toBe(twins.length)
  }
  const place = places[0] as Uint8Array
  expect(first.row(place)).not.toBe(second.row(place))
  expect(first.node(storageNodesTable, place)).not.toBe(first.node(accountNodesTable, place))
  expect(first.node(storageNodesTable, place)).toBeLessThan(2 ** 48)
})
