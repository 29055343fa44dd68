import fc from 'fast-check'
import { expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { branchDelta } from '#trie/branchDelta'
import { encodeBranch, type NodeRef } from '#trie/node'
import { countNodes, digestsIn, encodeNodeRow, imageIn, isNodeRowWhole, type NodeEntry, type NodeImage, onlyChildrenIn } from './nodeRow.ts'

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })
const anyChildren = fc.array(fc.option(hash, { nil: undefined }), { minLength: 16, maxLength: 16 })

/** Delta from a branch to the same with some children replaced. */
function deltaOf(children: readonly (NodeRef | undefined)[], changes: readonly (readonly [number, NodeRef | undefined])[]): NodeImage {
  const after = [...children]
  for (const [nibble, child] of changes) after[nibble] = child
  return { kind: 'delta', delta: branchDelta(encodeBranch(children), encodeBranch(after)) ?? expect.fail() }
}

const anyImage: fc.Arbitrary<NodeImage> = fc.oneof(
  fc.constant<NodeImage>({ kind: 'absent' }),
  fc.uint8Array({ minLength: 1, maxLength: 532 }).map((rlp): NodeImage => ({ kind: 'whole', rlp })),
  fc.tuple(anyChildren, fc.nat(15), fc.option(hash, { nil: undefined })).map(([all, nibble, child]) => deltaOf(all, [[nibble, child]])),
  fc.tuple(anyChildren, fc.array(fc.tuple(fc.nat(15), hash), { maxLength: 5 })).map(([all, changes]) => deltaOf(all, changes)),
)
const anyEntries: fc.Arbitrary<NodeEntry[]> = fc.uniqueArray(fc.record({ digest: fc.nat(2 ** 48 - 1), image: anyImage }), {
  minLength: 1,
  maxLength: 100,
  selector: ({ digest }) => digest,
})

/** Encodes a row as schema 6 did. */
function plainRow(entries: readonly NodeEntry[]): Uint8Array {
  const sorted = [...entries].sort((a, b) => a.digest - b.digest)
  const images = sorted.map(({ image }) => {
    if (image.kind === 'absent') return Uint8Array.of(0)
    return image.kind === 'whole' ? concatBytes(Uint8Array.of(1), image.rlp) : concatBytes(Uint8Array.of(2), image.delta)
  })
  const head = Buffer.alloc(4 + 10 * sorted.length)
  head.writeUInt32BE(sorted.length)
  let end = head.length
  for (const [i, { digest }] of sorted.entries()) {
    end += images[i]?.length ?? 0
    head.writeUIntBE(digest, 4 + 10 * i, 6)
    head.writeUInt32BE(end, 10 + 10 * i)
  }
  return concatBytes(head, ...images)
}

it.each([
  ['rows', encodeNodeRow],
  ['rows of schema 6', plainRow],
])('state/nodeRow: finds each node in %s, and no other', (_what, encode) => {
  fc.assert(
    fc.property(anyEntries, fc.nat(2 ** 48 - 1), (entries, other) => {
      const row = encode([...entries])
      for (const { digest, image } of entries) expect(imageIn(row, digest)).toEqual(image)
      if (!entries.some(({ digest }) => digest === other)) expect(imageIn(row, other)).toBeUndefined()
      const upper = entries.map(({ digest }) => Math.floor(digest / 65_536)).sort((a, b) => a - b)
      expect([countNodes(row), digestsIn(row), isNodeRowWhole(row)]).toEqual([entries.length, upper, true])
    }),
    { numRuns: 30 },
  )
})

it('state/nodeRow: names the only child that a change replaced', () => {
  const children = Array.from({ length: 16 }, (_, i) => new Uint8Array(32).fill(i + 1))
  const images: NodeImage[] = [
    deltaOf(children, [[0, new Uint8Array(32)]]),
    deltaOf(children, [[15, new Uint8Array(32)]]),
    deltaOf(children, [
      [3, undefined],
      [4, undefined],
    ]),
    deltaOf([undefined, ...children.slice(1)], [[0, new Uint8Array(32)]]),
    { kind: 'absent' },
    { kind: 'whole', rlp: encodeBranch(children) },
  ]
  const entries = images.map((image, digest) => ({ digest, image }))
  expect(onlyChildrenIn(encodeNodeRow([...entries]))).toEqual([1, 16, 0, 0, 0, 0])
  expect(onlyChildrenIn(plainRow(entries))).toEqual([0, 0, 0, 0, 0, 0])
})

it('state/nodeRow: a branch with one changed hash takes 39 bytes, and an eighth of a byte for its group', () => {
  const children = Array.from({ length: 16 }, (_, i) => new Uint8Array(32).fill(i + 1))
  const entries = Array.from({ length: 320 }, (_, digest) => ({ digest, image: deltaOf(children, [[digest % 16, undefined]]) }))
  expect(encodeNodeRow(entries)).toHaveLength(4 + 320 * 39 + 40)
})

it('state/nodeRow: a row that is cut, longer, or without order is not whole, and reading it ends', () => {
  fc.assert(
    fc.property(anyEntries, fc.nat(10_000), fc.uint8Array({ minLength: 1, maxLength: 3 }), (entries, at, more) => {
      const row = encodeNodeRow([...entries])
      expect(isNodeRowWhole(row.subarray(0, at % row.length))).toBe(false)
      expect(isNodeRowWhole(concatBytes(row, more))).toBe(false)
      const damaged = row.slice()
      damaged[at % row.length] = (damaged[at % row.length] ?? 0) ^ 0xff
      for (const { digest } of entries) imageIn(damaged, digest)
    }),
    { numRuns: 30 },
  )
  const twice = { digest: 7, image: { kind: 'absent' } as const }
  expect(isNodeRowWhole(encodeNodeRow([twice, twice]))).toBe(false)
  expect(isNodeRowWhole(new Uint8Array(4))).toBe(false)
})
