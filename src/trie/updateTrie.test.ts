import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareBytes } from '#lib/bytes'
import { isFault } from '#lib/fault'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { buildTrie } from '#test/harness/chain/buildTrie'
import { emptyRoot, type Hash } from '#types/ids'
import { isLeafRlp } from './node.ts'
import type { NodeChange, NodeSource } from './ports.ts'
import { readTrie } from './readTrie.ts'
import { type TrieChange, updateTrie } from './updateTrie.ts'

/** Node source keyed by path, as in a store; returns a node only for its own hash. */
class PathNodes implements NodeSource {
  readonly byPath = new Map<string, Uint8Array>()

  get(_owner: Uint8Array | undefined, path: Uint8Array, hash: Uint8Array): Uint8Array | undefined {
    const node = this.byPath.get(toHex(path))
    return node && compareBytes(keccak256(node), hash) === 0 ? node : undefined
  }

  /** Applies node changes. @returns the changes that undo them */
  apply(changes: readonly NodeChange[]): NodeChange[] {
    const undo = changes.map(({ path }) => ({ path, node: this.byPath.get(toHex(path)) ?? null }))
    expect(new Set(changes.map(({ path }) => toHex(path))).size).toBe(changes.length)
    for (const { path, node } of changes) {
      if (node) this.byPath.set(toHex(path), node)
      else this.byPath.delete(toHex(path))
    }
    return undo
  }
}

const sorted = (changes: ReadonlyMap<string, TrieChange>): TrieChange[] => [...changes.values()].sort((a, b) => compareBytes(a.key, b.key))
const isEntry = (change: TrieChange): change is { key: Uint8Array; value: Uint8Array } => change.value !== null

/** Generates keys and values that make all node shapes likely: shared prefixes, embedded nodes, values of any size. */
function batchesOf(keyBytes: number, alphabet: number): fc.Arbitrary<TrieChange[][]> {
  const key = fc
    .array(fc.nat(alphabet), { minLength: keyBytes, maxLength: keyBytes })
    .map((bytes) => Uint8Array.from(bytes, (byte) => byte * 17))
  const value = fc.uint8Array({ minLength: 1, maxLength: 40 })
  const change = fc.record({ key, value: fc.option(value, { nil: null, freq: 2 }) })
  const batch = fc.array(change, { maxLength: 25 }).map((all) => sorted(new Map(all.map((one) => [toHex(one.key), one]))))
  return fc.array(batch, { minLength: 1, maxLength: 6 })
}

function runBatches(batches: readonly TrieChange[][]): void {
  const nodes = new PathNodes()
  const model = new Map<string, TrieChange>()
  let root: Hash = emptyRoot
  for (const batch of batches) {
    const before = new Map(nodes.byPath)
    for (const change of batch) {
      if (change.value === null) model.delete(toHex(change.key))
      else model.set(toHex(change.key), change)
    }
    const result = updateTrie(nodes, undefined, root, batch)
    const undo = nodes.apply(result.changes)
    const rebuilt = buildTrie(sorted(model).filter(isEntry))
    expect(result.root).toBe(rebuilt.root)
    expect(nodes.byPath).toEqual(new Map(rebuilt.changes.map(({ path, node }) => [toHex(path), node])))
    for (const { key, value } of batch) expect(readTrie(nodes, undefined, result.root, key)).toEqual(value ?? undefined)
    const redo = nodes.apply(undo)
    expect(nodes.byPath).toEqual(before)
    nodes.apply(redo)
    root = result.root
  }
}

const entry = (key: number[], value: Uint8Array | null): TrieChange => ({ key: Uint8Array.from(key), value })
const long = new Uint8Array(40).fill(7)
const short = Uint8Array.of(1)

describe('trie/updateTrie', () => {
  it.each([
    [2, 15],
    [3, 2],
    [1, 15],
    [6, 1],
  ])(
    'trie/updateTrie: batches of keys of %i bytes give the nodes and root of a rebuild, and undo restores the earlier nodes',
    (size, alphabet) => {
      fc.assert(fc.property(batchesOf(size, alphabet), runBatches), { numRuns: 150 })
    },
  )

  it('trie/updateTrie: updates keys of 32 hashed bytes', () => {
    const change = fc.record({
      key: fc.nat(60).map((n) => keccak256(Uint8Array.of(n))),
      value: fc.option(fc.uint8Array({ minLength: 1, maxLength: 40 })),
    })
    const batch = fc.array(change, { maxLength: 40 }).map((all) => sorted(new Map(all.map((one) => [toHex(one.key), one]))))
    fc.assert(fc.property(fc.array(batch, { minLength: 1, maxLength: 5 }), runBatches), { numRuns: 60 })
  })

  it("trie/updateTrie: handles a batch that empties the child of an extension and puts its last leaf at the child's path", () => {
    runBatches([
      [entry([0x11, 0x11], long), entry([0x11, 0x12], long), entry([0x22, 0x22], long)],
      [entry([0x11, 0x11], null), entry([0x11, 0x21], long), entry([0x22, 0x22], null)],
      [entry([0x11, 0x12], null), entry([0x11, 0x21], short)],
    ])
  })

  it('trie/updateTrie: removing an absent key changes nothing', () => {
    const { root, changes } = buildTrie([entry([0x11, 0x11], long), entry([0x11, 0x12], long)].filter(isEntry))
    const nodes = new PathNodes()
    nodes.apply(changes)
    const absent = [entry([0x00, 0x00], null), entry([0x11, 0x13], null), entry([0x12, 0x00], null)]
    expect(updateTrie(nodes, undefined, root, absent)).toEqual({ root, changes: [] })
  })

  it('trie/updateTrie: names the path of a missing sibling that a collapsing branch needs (MISSING_NODE)', () => {
    const { root, changes } = buildTrie([entry([0x11, 0x11], long), entry([0x11, 0x12], long)].filter(isEntry))
    const nodes = new PathNodes()
    nodes.apply(changes.filter(({ path }) => path.length < 4 || path[3] === 1))
    const run = (): unknown => updateTrie(nodes, undefined, root, [entry([0x11, 0x11], null)])
    expect(run).toThrow(expect.objectContaining({ code: 'MISSING_NODE', data: expect.objectContaining({ path: '1112' }) }))
  })

  it('trie/updateTrie: rejects nodes that do not fit their depth (BAD_NODE)', () => {
    const { root, changes } = buildTrie([entry([0x11, 0x11], long), entry([0x11, 0x12], long)].filter(isEntry))
    const nodes = new PathNodes()
    nodes.apply(changes)
    try {
      updateTrie(nodes, undefined, root, [entry([0x11], short)])
      expect.unreachable()
    } catch (error) {
      expect(isFault(error, 'BAD_NODE')).toBe(true)
    }
  })

  it('trie/updateTrie: rejects keys that do not ascend (RangeError)', () => {
    const keys = [entry([2], short), entry([1], short)]
    expect(() => updateTrie(new PathNodes(), undefined, emptyRoot, keys)).toThrow(RangeError)
    expect(() => buildTrie(keys.filter(isEntry))).toThrow(RangeError)
  })

  it('trie/node: isLeafRlp distinguishes a leaf from other nodes', () => {
    const { changes } = buildTrie([entry([0x11, 0x11], long), entry([0x11, 0x12], long)].filter(isEntry))
    expect(changes.map(({ path, node }) => [path.length, node && isLeafRlp(node)])).toEqual([
      [4, true],
      [4, true],
      [3, false],
      [0, false],
    ])
  })
})
