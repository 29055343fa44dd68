import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareBytes, concatBytes } from '#lib/bytes'
import { isFault } from '#lib/fault'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { buildTrie } from '#test/harness/chain/buildTrie'
import { emptyTrieDiff } from '#test/harness/chain/emptyTrieDiff'
import { updateTrie as judged } from '#test/reference/trie/updateTrie'
import { emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import { isLeafRlp } from './node.ts'
import type { NodeChange, NodeSource } from './ports.ts'
import { readTrie } from './readTrie.ts'
import { TrieDiff } from './trieDiff.ts'
import { type TrieChange, Tries } from './tries.ts'

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

/** Returns the result of an update, or its fault, with the changes in order of path. */
function outcomeOf(run: () => { root: Hash; changes: Iterable<NodeChange> }): { root: Hash; changes: NodeChange[] } | unknown {
  try {
    const { root, changes } = run()
    return { root, changes: Array.from(changes, ({ path, node }) => ({ path, node })).sort((a, b) => compareBytes(a.path, b.path)) }
  } catch (error) {
    if (!isFault(error)) throw error
    return { code: error.code, data: error.data }
  }
}

const plain = new Tries()
/** A cache that some hundred updates fill. A smaller one is none. */
const smallCacheBytes = 310_000
const small = new Tries(smallCacheBytes)

/** Updates a trie in linear memory and by the judge; the results, or their faults, must agree. */
function updateTrie(
  nodes: NodeSource,
  owner: Uint8Array | undefined,
  root: Hash,
  changes: readonly TrieChange[],
  withCache: Tries = new Tries(smallCacheBytes),
): { root: Hash; changes: NodeChange[] } {
  const expected = outcomeOf(() => judged(nodes, owner, root, changes))
  for (const tries of [withCache, plain]) expect(outcomeOf(() => tries.update(nodes, owner, root, changes))).toEqual(expected)
  return judged(nodes, owner, root, changes)
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
    const result = updateTrie(nodes, undefined, root, batch, small)
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
const key = (n: number): Uint8Array => keccak256(Uint8Array.of(n >> 8, n & 255))

describe('trie/tries', () => {
  it.each([
    [2, 15],
    [3, 2],
    [1, 15],
    [6, 1],
  ])(
    'trie/tries: batches of keys of %i bytes give the nodes and root of a rebuild, and undo restores the earlier nodes',
    (size, alphabet) => {
      const { hits } = small.facts()
      fc.assert(fc.property(batchesOf(size, alphabet), runBatches), { numRuns: 150 })
      expect(small.facts().hits).toBeGreaterThan(hits)
    },
  )

  it('trie/tries: updates keys of 32 hashed bytes', () => {
    const change = fc.record({
      key: fc.nat(60).map((n) => keccak256(Uint8Array.of(n))),
      value: fc.option(fc.uint8Array({ minLength: 1, maxLength: 40 })),
    })
    const batch = fc.array(change, { maxLength: 40 }).map((all) => sorted(new Map(all.map((one) => [toHex(one.key), one]))))
    fc.assert(fc.property(fc.array(batch, { minLength: 1, maxLength: 5 }), runBatches), { numRuns: 60 })
  })

  it("trie/tries: handles a batch that empties the child of an extension and puts its last leaf at the child's path", () => {
    runBatches([
      [entry([0x11, 0x11], long), entry([0x11, 0x12], long), entry([0x22, 0x22], long)],
      [entry([0x11, 0x11], null), entry([0x11, 0x21], long), entry([0x22, 0x22], null)],
      [entry([0x11, 0x12], null), entry([0x11, 0x21], short)],
    ])
  })

  it('trie/tries: removing an absent key changes nothing', () => {
    const { root, changes } = buildTrie([entry([0x11, 0x11], long), entry([0x11, 0x12], long)].filter(isEntry))
    const nodes = new PathNodes()
    nodes.apply(changes)
    const absent = [entry([0x00, 0x00], null), entry([0x11, 0x13], null), entry([0x12, 0x00], null)]
    expect(updateTrie(nodes, undefined, root, absent)).toEqual({ root, changes: [] })
  })

  it('trie/tries: names the path of a missing sibling that a collapsing branch needs (MISSING_NODE)', () => {
    const { root, changes } = buildTrie([entry([0x11, 0x11], long), entry([0x11, 0x12], long.slice(1))].filter(isEntry))
    const nodes = new PathNodes()
    nodes.apply(changes.filter(({ path }) => path.length < 4 || path[3] === 1))
    const run = (): unknown => updateTrie(nodes, undefined, root, [entry([0x11, 0x11], null)])
    expect(run).toThrow(expect.objectContaining({ code: 'MISSING_NODE', data: expect.objectContaining({ path: '1112' }) }))
  })

  it('trie/tries: rejects nodes that do not fit their depth (BAD_NODE)', () => {
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

  it('trie/tries: rejects keys that do not ascend (RangeError)', () => {
    const keys = [entry([2], short), entry([1], short)]
    expect(() => plain.update(new PathNodes(), undefined, emptyRoot, keys)).toThrow(RangeError)
    expect(() => buildTrie(keys.filter(isEntry))).toThrow(RangeError)
  })

  it('trie/tries: reads the nodes of the judge, and names the first missing one (MISSING_NODE)', () => {
    // a node that is present elsewhere in the trie is not missing
    const distinct = ({ key: at, value }: TrieChange): TrieChange => ({ key: at, value: value && concatBytes(value, at) })
    const batches = batchesOf(2, 15).map((all) => all.slice(0, 2).map((batch) => batch.map(distinct)))
    fc.assert(
      fc.property(batches, fc.array(fc.nat(1_000), { maxLength: 4 }), ([first = [], second = []], removed) => {
        const nodes = new PathNodes()
        const { root, changes } = buildTrie(first.filter(isEntry))
        nodes.apply(changes)
        for (const i of removed) nodes.byPath.delete([...nodes.byPath.keys()][i % (nodes.byPath.size || 1)] ?? '')
        try {
          updateTrie(nodes, undefined, root, second)
        } catch (error) {
          expect(isFault(error, 'MISSING_NODE')).toBe(true)
        }
      }),
      { numRuns: 150 },
    )
  })

  it('trie/tries: rejects the damaged nodes that the judge rejects (BAD_NODE)', () => {
    const damage = fc.record({ at: fc.nat(600), byte: fc.nat(255), node: fc.nat(30), cut: fc.boolean() })
    const seen = new Set<string>()
    const run = (
      [first = [], second = []]: TrieChange[][],
      { at, byte, node, cut }: { at: number; byte: number; node: number; cut: boolean },
    ): void => {
      const { changes } = buildTrie(first.filter(isEntry))
      const whole = changes[node % (changes.length || 1)]?.node?.slice() ?? Uint8Array.of(0xc0)
      whole[at % whole.length] = byte
      const damaged = cut ? whole.subarray(0, at % whole.length) : whole
      const source: NodeSource = { get: (_owner, path) => (path.length === 0 ? damaged : undefined) }
      try {
        updateTrie(source, undefined, hashFromBytes(keccak256(damaged)), second)
        seen.add('updated')
      } catch (error) {
        seen.add(isFault(error) ? error.code : expect.unreachable(String(error)))
      }
    }
    fc.assert(fc.property(batchesOf(2, 15), damage, run), { numRuns: 600 })
    expect([...seen]).toEqual(expect.arrayContaining(['updated', 'BAD_NODE']))
  })

  it('trie/tries: rejects a node with another hash, and one larger than any node of a state (BAD_NODE)', () => {
    const node = buildTrie([entry([0x11, 0x11], long), entry([0x11, 0x12], long)].filter(isEntry)).changes[0]?.node ?? expect.fail()
    for (const rlp of [node, new Uint8Array(5_000), new Uint8Array(0)]) {
      const run = (): unknown => plain.update({ get: () => rlp }, key(1), hashFromBytes(key(2)), [{ key: key(3), value: short }])
      const data = { owner: toHex(key(1)), path: '', hash: toHex(key(2)) }
      expect(run).toThrow(expect.objectContaining({ code: 'BAD_NODE', data }))
    }
  })

  it('trie/tries: reads no node again that it has read or made, and forgets those of long ago', () => {
    const nodes = new PathNodes()
    const tries = new Tries(1_000_000)
    const entries = [...new Map(Array.from({ length: 400 }, (_, i) => [toHex(key(i)), { key: key(i), value: long }])).values()]
    const all = entries.sort((a, b) => compareBytes(a.key, b.key))
    let { root, changes } = tries.update(nodes, undefined, emptyRoot, all)
    nodes.apply([...changes])
    const rewrite = (of: readonly TrieChange[], value: number): void => {
      const made = tries.update(
        nodes,
        undefined,
        root,
        of.map((one) => ({ ...one, value: long.slice().fill(value) })),
      )
      nodes.apply([...made.changes])
      root = made.root
    }
    const before = tries.facts()
    rewrite(all.slice(0, 100), 1)
    const after = tries.facts()
    expect(after.misses - before.misses).toBe(0)
    expect(after.hits - before.hits).toBeGreaterThan(100)
    for (let round = 0; round < 40; round++) rewrite(all.slice(0, 100), round)
    const later = tries.facts()
    rewrite(all, 2)
    expect(tries.facts().misses - later.misses).toBeGreaterThan(100)
    expect(nodes.byPath).toEqual(
      new Map(buildTrie(all.map((one) => ({ ...one, value: long.slice().fill(2) }))).changes.map(({ path, node }) => [toHex(path), node])),
    )
  })

  it('trie/tries: a smaller share of its bytes empties the cache, and its reads are counted over all calls', () => {
    const nodes = new PathNodes()
    const tries = new Tries(1_000_000)
    const entries = Array.from({ length: 400 }, (_, i) => ({ key: key(i), value: long })).sort((a, b) => compareBytes(a.key, b.key))
    const made = tries.update(nodes, undefined, emptyRoot, entries)
    nodes.apply([...made.changes])
    let { root } = made
    const rewrite = (value: number): void => {
      const one = tries.update(nodes, undefined, root, [{ key: key(1), value: long.slice().fill(value) }])
      nodes.apply([...one.changes])
      root = one.root
    }
    const before = tries.facts()
    expect(before).toMatchObject({ maxBytes: 1_000_000, misses: 0 })
    rewrite(1)
    const { hits, misses } = tries.facts()
    expect([hits > before.hits, misses]).toEqual([true, 0])
    tries.limitTo(0)
    expect(tries.facts()).toEqual({ sizeBytes: 0, maxBytes: 0, hits, misses })
    rewrite(2)
    rewrite(3)
    expect(tries.facts().hits).toBe(hits)
    expect(tries.facts().misses).toBeGreaterThan(2)
    tries.limitTo(1)
    rewrite(4)
    const { misses: cold } = tries.facts()
    rewrite(5)
    expect(tries.facts()).toMatchObject({ maxBytes: 1_000_000, misses: cold })
    expect(tries.facts().hits).toBeGreaterThan(hits)
  })

  it('trie/tries: keeps the nodes of a diff of another instance, as many as its cache has room for', () => {
    const nodes = new PathNodes()
    const other = new Tries()
    const entries = Array.from({ length: 400 }, (_, i) => ({ key: key(i), value: long })).sort((a, b) => compareBytes(a.key, b.key))
    const made = other.update(nodes, undefined, emptyRoot, entries)
    nodes.apply([...made.changes])
    const changed = entries.filter((_, i) => i % 3 === 0).map(({ key }) => ({ key, value: short }))
    const expected = other.update(nodes, undefined, made.root, changed)
    expect(other.missShare).toBe(1)
    for (const [bytes, share] of [
      [4_000_000, 0],
      [320_000, 0.9],
      [0, 1],
    ] as const) {
      const tries = new Tries(bytes)
      for (let times = 0; times < 3; times++) tries.keep(made.changes)
      expect(tries.missShare).toBe(0)
      const result = tries.update(nodes, undefined, made.root, changed)
      expect([result.root, [...result.changes]]).toEqual([expected.root, [...expected.changes]])
      if (share === 0 || share === 1) expect(tries.missShare).toBe(share)
      else expect(tries.missShare).toBeLessThan(share)
      const before = tries.missShare
      expect(() => tries.keep(new TrieDiff(new SharedArrayBuffer(4)))).toThrow(RangeError)
      tries.keep(emptyTrieDiff)
      expect(tries.missShare).toBe(before)
    }
  })

  it('trie/tries: serves the next call after a fault, and refuses a call within a call', () => {
    const tries = new Tries()
    const change = [{ key: key(1), value: short }]
    expect(() => tries.update(new PathNodes(), undefined, hashFromBytes(key(9)), change)).toThrow(
      expect.objectContaining({ code: 'MISSING_NODE' }),
    )
    const { root } = tries.update(new PathNodes(), undefined, emptyRoot, change)
    expect(root).toBe(buildTrie(change).root)
    const nested: NodeSource = { get: () => expect.unreachable(String(tries.update(new PathNodes(), undefined, emptyRoot, change).root)) }
    expect(() => tries.update(nested, undefined, root, [{ key: key(2), value: short }])).toThrow('a call within a call')
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

  it('a cache is bounded by 3 GiB of linear memory, whatever it is given', () => {
    const tries = new Tries(4.4e9)
    expect(tries.facts().maxBytes).toBe(3 * 2 ** 30)
    tries.limitTo(0.5)
    expect(tries.facts().maxBytes).toBe(1.5 * 2 ** 30)
  })
})
