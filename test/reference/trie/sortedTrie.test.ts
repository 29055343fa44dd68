import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareBytes, concatBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { childOf, decodeNode, isLeafRlp } from '#trie/node'
import { plainTries } from '#trie/tries'
import { emptyRoot, type Hash } from '#types/ids'
import { SortedTrie } from './sortedTrie.ts'

type Entry = { readonly key: Uint8Array; readonly value: Uint8Array }
type Node = { readonly path: Uint8Array; readonly node: Uint8Array }
type Built = { readonly root: Hash; readonly nodes: readonly Node[] }

function build(entries: readonly Entry[]): Built {
  const nodes: Node[] = []
  const trie = new SortedTrie((path, node) => nodes.push({ path, node }))
  for (const { key, value } of entries) trie.add(key, value)
  return { root: trie.end(), nodes }
}

/** Key of a node in a store. */
const placeOf = ({ path }: Node): Uint8Array => concatBytes(path, Uint8Array.of(0x10))

/** Returns the same trie as built by insertions into an empty trie, nodes in store order. */
function inserted(entries: readonly Entry[]): Built {
  const { root, changes } = plainTries().update({ get: () => undefined }, undefined, emptyRoot, entries)
  const nodes = [...changes].flatMap(({ path, node }) => (node === null || isLeafRlp(node) ? [] : [{ path, node }]))
  return { root, nodes: nodes.sort((a, b) => compareBytes(placeOf(a), placeOf(b))) }
}

const sorted = (entries: readonly Entry[]): Entry[] =>
  [...new Map(entries.map((entry) => [toHex(entry.key), entry])).values()].sort((a, b) => compareBytes(a.key, b.key))

/** Keys with shared prefixes, and values of any size, which make all node shapes likely. */
function entriesOf(keyBytes: number, alphabet: number): fc.Arbitrary<Entry[]> {
  const key = fc
    .array(fc.nat(alphabet), { minLength: keyBytes, maxLength: keyBytes })
    .map((bytes) => Uint8Array.from(bytes, (byte) => byte * 17))
  return fc.array(fc.record({ key, value: fc.uint8Array({ minLength: 1, maxLength: 40 }) }), { maxLength: 60 }).map(sorted)
}

const entry = (key: readonly number[], size = 1): Entry => ({ key: Uint8Array.from(key), value: new Uint8Array(size).fill(7) })

describe('trie/sortedTrie', () => {
  it.each([
    [1, 15],
    [2, 15],
    [3, 2],
    [6, 1],
  ])('reference/sortedTrie: keys of %i bytes give the root and the nodes of an update, in store order', (size, alphabet) => {
    fc.assert(
      fc.property(entriesOf(size, alphabet), (entries) => {
        expect(build(entries)).toEqual(inserted(entries))
      }),
      { numRuns: 300 },
    )
  })

  it('reference/sortedTrie: 20,000 hashed keys give the root and the nodes of an update, in store order', () => {
    const entries = sorted(
      Array.from({ length: 20_000 }, (_, index) => {
        const key = keccak256(Uint8Array.of(index & 255, index >> 8))
        return { key, value: key.subarray(0, 1 + (index % 32)) }
      }),
    )
    const built = build(entries)
    expect(built.nodes.length).toBeGreaterThan(5_000)
    expect(built).toEqual(inserted(entries))
  })

  it('reference/sortedTrie: builds one trie after another, an empty one included', () => {
    const trie = new SortedTrie(() => {})
    expect(trie.end()).toBe(emptyRoot)
    for (const entries of [[entry([1, 2])], [entry([1, 2], 40), entry([1, 3])], [entry([1, 2], 40), entry([1, 3])]]) {
      for (const { key, value } of entries) trie.add(key, value)
      expect(trie.end()).toBe(inserted(entries).root)
    }
    expect(trie.end()).toBe(emptyRoot)
  })

  it.each([
    ['descend', [2, 0], [1, 9]],
    ['repeat', [1, 2], [1, 2]],
    ['differ in length', [1, 2], [1, 2, 3]],
  ])('reference/sortedTrie: throws RangeError when keys %s', (_case, first, second) => {
    const trie = new SortedTrie(() => {})
    trie.add(Uint8Array.from(first), Uint8Array.of(1))
    expect(() => trie.add(Uint8Array.from(second), Uint8Array.of(1))).toThrow(RangeError)
  })

  it('reference/sortedTrie: a trie that is saved and restored after any entry has the same root and nodes', () => {
    fc.assert(
      fc.property(entriesOf(3, 2), fc.nat(60), (entries, at) => {
        const nodes: Node[] = []
        const sink = (path: Uint8Array, node: Uint8Array): void => void nodes.push({ path, node })
        let trie = new SortedTrie(sink)
        for (const [index, { key, value }] of entries.entries()) {
          if (index === at) {
            const state = trie.save()
            trie = new SortedTrie(sink)
            trie.restore(state)
          }
          trie.add(key, value)
        }
        expect({ root: trie.end(), nodes }).toEqual(build(entries))
      }),
      { numRuns: 300 },
    )
  })

  it('reference/sortedTrie: the references of sealed parts are those in the root, and the trie is that of the entries', () => {
    const entries = sorted(
      Array.from({ length: 500 }, (_, i) => ({ key: keccak256(Uint8Array.of(i >> 8, i & 255)), value: Uint8Array.of(i & 255, 1) })),
    )
    const nodes: Node[] = []
    let trie = new SortedTrie((path, node) => nodes.push({ path, node }))
    const refs: string[] = []
    for (const [index, { key, value }] of entries.entries()) {
      trie.add(key, value)
      const next = entries[index + 1]
      if (next && (next.key[0] as number) >> 4 === (key[0] as number) >> 4) continue
      refs.push(toHex(trie.seal(1)))
      const state = trie.save()
      trie = new SortedTrie((path, node) => nodes.push({ path, node }))
      trie.restore(state)
    }
    const whole = build(entries)
    expect({ root: trie.end(), nodes }).toEqual(whole)
    const root = decodeNode(whole.nodes.at(-1)?.node as Uint8Array)
    if (root.kind !== 'branch') throw new Error('the root is no branch')
    expect(refs).toEqual(Array.from({ length: 16 }, (_, nibble) => toHex(childOf(root, nibble) as Uint8Array)))
  })

  it('reference/sortedTrie: refuses a key of a sealed part', () => {
    const trie = new SortedTrie(() => {})
    trie.add(Uint8Array.of(0x11), Uint8Array.of(1))
    trie.add(Uint8Array.of(0x21), Uint8Array.of(1))
    trie.seal(1)
    expect(() => trie.add(Uint8Array.of(0x22), Uint8Array.of(1))).toThrow(RangeError)
    trie.add(Uint8Array.of(0x31), Uint8Array.of(1))
  })
})
