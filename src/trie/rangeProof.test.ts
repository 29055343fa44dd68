import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bigintFromBytes, bytesFromBigint, compareBytes } from '#lib/bytes'
import { fromHex, type Hex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { buildTrie } from '#test/harness/chain/buildTrie'
import { emptyRoot, type Hash } from '#types/ids'
import type { LeafRange } from '#types/worldReads'
import type { TrieLeaf } from './leavesFrom.ts'
import type { NodeSource } from './ports.ts'
import { verifyProof } from './proof.ts'
import { createRangeProof, verifyRange } from './rangeProof.ts'

const unlimited = { leaves: 1e6, bytes: 1e9 }
const lowest = new Uint8Array(32)
const highest = new Uint8Array(32).fill(255)
const all: LeafRange = { first: lowest, last: highest }

type Built = { readonly root: Hash; readonly nodes: NodeSource; readonly leaves: readonly TrieLeaf[] }

function trieOf(leaves: readonly TrieLeaf[]): Built {
  const { root, changes } = buildTrie(leaves)
  const byHash = new Map(changes.flatMap(({ node }) => (node ? [[toHex(keccak256(node)), node] as const] : [])))
  return { root, nodes: { get: (_owner, _path, hash) => byHash.get(toHex(hash)) }, leaves }
}

const sorted = (leaves: readonly TrieLeaf[]): TrieLeaf[] => leaves.toSorted((a, b) => compareBytes(a.key, b.key))
/** Trie of hashed keys; short values make nodes that are embedded in their parent. */
const hashed = (count: number, valueBytes = 20): Built =>
  trieOf(
    sorted(
      Array.from({ length: count }, (_, i) => {
        const key = keccak256(Uint8Array.of(i >> 8, i & 255))
        return { key, value: key.subarray(0, valueBytes) }
      }),
    ),
  )
/** Trie of keys that differ in their last bytes only, below a long extension. */
const dense = (...ends: readonly number[]): Built =>
  trieOf(ends.map((end) => ({ key: new Uint8Array(32).fill(7).with(31, end), value: Uint8Array.of(1, end) })))

const within = ({ first, last }: LeafRange, { key }: TrieLeaf): boolean => compareBytes(key, first) >= 0 && compareBytes(key, last) <= 0
const range = ({ root, nodes }: Built, of: LeafRange, limits = unlimited) => createRangeProof(nodes, undefined, root, of, limits)
const flip = (bytes: Uint8Array, bit: number): Uint8Array => bytes.with(bit >> 3, (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7)))

/** Returns the next key in the order of keys. */
const after = (key: Uint8Array): Uint8Array => bytesFromBigint(bigintFromBytes(key) + 1n, 32)

describe('trie/rangeProof', () => {
  it('trie/rangeProof: proves a whole trie by its leaves alone, and an empty trie', () => {
    for (const built of [hashed(1), hashed(2), hashed(300), dense(1), dense(1, 2), dense(0, 16, 255)]) {
      expect(range(built, all).leaves).toEqual(built.leaves)
      expect(verifyRange(built.root, all, built.leaves, [])).toEqual({ kind: 'valid' })
    }
    expect(range(trieOf([]), all)).toEqual({ root: emptyRoot, leaves: [], proof: [], isWhole: true })
    expect(verifyRange(emptyRoot, all, [], [])).toEqual({ kind: 'valid' })
    expect(verifyRange(hashed(3).root, all, [], []).kind).toBe('invalid')
  })

  it('trie/rangeProof: proves every range of a trie, also one without leaves; each leaf left out is noticed', () => {
    const key = fc.oneof(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.integer({ min: 0, max: 299 }).map((i) => keccak256(Uint8Array.of(i >> 8, i & 255))),
      fc.constantFrom(lowest, highest),
    )
    const tries = [hashed(300), hashed(40, 1), hashed(2)]
    fc.assert(
      fc.property(fc.constantFrom(...tries), key, key, fc.nat(), (built, a, b, at) => {
        const of = compareBytes(a, b) <= 0 ? { first: a, last: b } : { first: b, last: a }
        const { leaves, proof, isWhole } = range(built, of)
        expect(leaves).toEqual(built.leaves.filter((leaf) => within(of, leaf)))
        expect([isWhole, verifyRange(built.root, of, leaves, proof)]).toEqual([true, { kind: 'valid' }])
        if (leaves.length > 0) expect(verifyRange(built.root, of, leaves.toSpliced(at % leaves.length, 1), proof).kind).toBe('invalid')
      }),
      { numRuns: 150 },
    )
  })

  it('trie/rangeProof: walks a trie in pieces of a few leaves or bytes', () => {
    const built = hashed(300)
    for (const limits of [
      { ...unlimited, leaves: 37 },
      { ...unlimited, bytes: 500 },
      { leaves: 1, bytes: 1 },
    ]) {
      const found: TrieLeaf[] = []
      for (let first: Uint8Array = lowest; ; ) {
        const { leaves, proof, isWhole } = range(built, { first, last: highest }, limits)
        const last = isWhole ? highest : (leaves.at(-1)?.key ?? expect.fail('no leaf'))
        expect(verifyRange(built.root, { first, last }, leaves, proof)).toEqual({ kind: 'valid' })
        found.push(...leaves)
        if (isWhole) break
        first = after(last)
      }
      expect(found).toEqual(built.leaves)
    }
  })

  it('trie/rangeProof: notices every changed bit of a leaf or of a needed node', () => {
    const built = hashed(60)
    const of = { first: built.leaves[20]?.key ?? lowest, last: built.leaves[25]?.key ?? highest }
    const { leaves, proof } = range(built, of)
    for (const [i, { key, value }] of leaves.entries()) {
      for (let bit = 0; bit < 8 * value.length; bit += 7) {
        expect(verifyRange(built.root, of, leaves.with(i, { key, value: flip(value, bit) }), proof).kind).toBe('invalid')
      }
      for (let bit = 0; bit < 256; bit += 11) {
        expect(verifyRange(built.root, of, leaves.with(i, { key: flip(key, bit), value }), proof).kind).toBe('invalid')
      }
    }
    for (const [i, node] of proof.entries()) {
      for (let bit = 0; bit < 8 * node.length; bit += 97) {
        expect(verifyRange(built.root, of, leaves, proof.with(i, flip(node, bit))).kind).toBe('invalid')
      }
    }
  })

  it.each<[string, (leaves: readonly TrieLeaf[], proof: readonly Uint8Array[]) => [readonly TrieLeaf[], readonly Uint8Array[]]]>([
    ['no proof', (leaves) => [leaves, []]],
    ['the root alone', (leaves, proof) => [leaves, proof.slice(0, 1)]],
    ['leaves in another order', (leaves, proof) => [leaves.toReversed(), proof]],
    ['a leaf twice', (leaves, proof) => [leaves.flatMap((leaf) => [leaf, leaf]), proof]],
    ['a leaf without a value', (leaves, proof) => [leaves.map(({ key }) => ({ key, value: new Uint8Array() })), proof]],
    ['a short key', (leaves, proof) => [leaves.map(({ key, value }) => ({ key: key.subarray(1), value })), proof]],
    ['a leaf after the end', (leaves, proof) => [[...leaves, { key: highest, value: Uint8Array.of(1) }], proof]],
    ['endless nodes', (leaves, proof) => [leaves, Array.from({ length: 131 }, () => proof[0] ?? new Uint8Array())]],
  ])('trie/rangeProof: refuses %s', (_title, change) => {
    const built = hashed(60)
    const of = { first: built.leaves[20]?.key ?? lowest, last: built.leaves[25]?.key ?? highest }
    const { leaves, proof } = range(built, of)
    expect(verifyRange(built.root, of, ...change(leaves, proof)).kind).toBe('invalid')
  })

  it('trie/rangeProof: refuses a second leaf below an extension, and nodes of another trie', () => {
    const built = dense(1, 2)
    const of = { first: new Uint8Array(32).fill(6), last: new Uint8Array(32).fill(7).with(31, 1) }
    const { leaves, proof } = range(built, of)
    expect(verifyRange(built.root, of, leaves, proof)).toEqual({ kind: 'valid' })
    const added = { key: new Uint8Array(32).fill(6).with(31, 9), value: Uint8Array.of(1) }
    expect(verifyRange(built.root, of, [added, ...leaves], proof).kind).toBe('invalid')
    expect(verifyRange(built.root, of, leaves, range(dense(1, 3), of).proof).kind).toBe('invalid')
  })

  it("trie/rangeProof: accepts another client's proof of an account as the range of its key", () => {
    const { stateRoot, proofs } = JSON.parse(readFileSync('test/fixtures/trie.json', 'utf8')) as {
      stateRoot: Hash
      proofs: { address: Hex; accountProof: Hex[] }[]
    }
    for (const { address, accountProof } of proofs) {
      const key = keccak256(fromHex(address))
      const proof = accountProof.map(fromHex)
      const proved = verifyProof(stateRoot, key, proof)
      const leaves = proved.kind === 'present' ? [{ key, value: proved.value }] : []
      expect(verifyRange(stateRoot, { first: key, last: key }, leaves, proof)).toEqual({ kind: 'valid' })
      expect(verifyRange(stateRoot, { first: key, last: key }, [{ key, value: Uint8Array.of(1) }], proof).kind).toBe('invalid')
    }
  })
})
