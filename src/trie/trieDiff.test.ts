import { expect, it } from 'vitest'
import { keccak256 } from '#lib/keccak'
import { NodesByHash, TrieDiff } from './trieDiff.ts'

/** A diff that stores nodes of one byte with these hashes in the account trie. */
function diffOf(hashes: readonly Uint8Array[]): TrieDiff {
  const [headerBytes, changeBytes] = [20, 1 + 4 + 32 + 1]
  const total = headerBytes + changeBytes * hashes.length
  const bytes = new Uint8Array(new SharedArrayBuffer(total))
  const view = new DataView(bytes.buffer)
  for (const [i, value] of [0, hashes.length, total, headerBytes, total].entries()) view.setUint32(4 * i, value, true)
  for (const [i, hash] of hashes.entries()) {
    const at = headerBytes + changeBytes * i
    view.setUint32(at + 1, 1, true)
    bytes.set(hash, at + 5)
    bytes[at + 37] = i & 255
  }
  return new TrieDiff(bytes.buffer)
}

it('trie/trieDiff: finds nodes by hash, and no others, in bounded time while the beginning of all hashes is the same', () => {
  const many = 40_000
  /** Makes a table and searches in it. @returns the time in milliseconds */
  function search(hashOf: (n: number) => Uint8Array): number {
    const hashes = Array.from({ length: many }, (_, n) => hashOf(n))
    const absent = Array.from({ length: many }, (_, n) => hashOf(many + n))
    const startMs = performance.now()
    const made = new NodesByHash([diffOf(hashes.slice(0, many / 4)), diffOf(hashes.slice(many / 4))])
    const { diffs, table } = made.shared
    const known = new NodesByHash(
      diffs.map((buffer) => new TrieDiff(buffer)),
      table,
    )
    const found = hashes.map((hash) => known.get(hash)?.[0])
    const others = absent.filter((hash) => known.get(hash) !== undefined)
    const ms = performance.now() - startMs
    expect(found).toEqual(hashes.map((_, n) => (n < many / 4 ? n : n - many / 4) & 255))
    expect(others).toEqual([])
    return ms
  }
  const usualHash = (n: number): Uint8Array => keccak256(Uint8Array.of(n >> 16, n >> 8, n & 255))
  function collidingHash(n: number): Uint8Array {
    const hash = usualHash(n)
    hash.set([1, 2, 3])
    return hash
  }
  search(usualHash)
  const usualMs = search(usualHash)
  // without the factors some hundred times as long
  expect(search(collidingHash) / usualMs).toBeLessThan(15)
})

it('trie/trieDiff: a table without nodes finds none', () => {
  expect(new NodesByHash([]).get(keccak256(Uint8Array.of(1)))).toBeUndefined()
  expect(new NodesByHash([diffOf([])]).get(keccak256(Uint8Array.of(1)))).toBeUndefined()
})
