import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeRlp } from '#lib/rlp'
import { branchDelta, OlderBranch } from './branchDelta.ts'
import { encodeBranch, encodeNode, type NodeRef } from './node.ts'

const embedded = encodeRlp([Uint8Array.of(0x31), Uint8Array.of(7)])
const anyChild: fc.Arbitrary<NodeRef | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.constant(embedded),
  fc.nat(255).map((byte) => new Uint8Array(32).fill(byte)),
)
const anyChildren = fc.array(anyChild, { minLength: 16, maxLength: 16 })
/** Returns the branch before deltas, oldest first. */
function olderOf(deltas: readonly Uint8Array[], newest: Uint8Array): Uint8Array | undefined {
  const older = new OlderBranch()
  for (const delta of deltas) older.add(delta)
  return older.before(newest)
}

const leaf = encodeNode({ kind: 'leaf', path: Uint8Array.of(1, 2), value: Uint8Array.of(1) })
const extension = encodeNode({ kind: 'extension', path: Uint8Array.of(1, 2), child: new Uint8Array(32).fill(3) })

it('trie/branchDelta: makes the older branch out of the newer one, for any children', () => {
  fc.assert(
    fc.property(anyChildren, fc.array(fc.tuple(fc.nat(15), anyChild), { maxLength: 16 }), (after, changes) => {
      const before = [...after]
      for (const [nibble, child] of changes) before[nibble] = child
      const [older, newer] = [encodeBranch(before), encodeBranch(after)]
      const delta = branchDelta(older, newer)
      expect(delta && olderOf([delta], newer)).toEqual(older)
    }),
  )
})

it('trie/branchDelta: makes the oldest branch out of the newest one and all deltas between them', () => {
  fc.assert(
    fc.property(anyChildren, fc.array(fc.array(fc.tuple(fc.nat(15), anyChild), { maxLength: 4 }), { maxLength: 6 }), (oldest, changes) => {
      const versions = [oldest]
      for (const changed of changes) {
        const next = [...(versions.at(-1) ?? [])]
        for (const [nibble, child] of changed) next[nibble] = child
        versions.push(next)
      }
      const nodes = versions.map(encodeBranch)
      const deltas = nodes.slice(1).map((newer, i) => branchDelta(nodes[i] as Uint8Array, newer) as Uint8Array)
      expect(olderOf(deltas, nodes.at(-1) as Uint8Array)).toEqual(nodes[0])
    }),
  )
})

it('trie/branchDelta: a branch is whole without the newest one, once the deltas have each of its children', () => {
  const oldest = Array.from({ length: 16 }, (_, i) => (i < 4 ? undefined : new Uint8Array(32).fill(i)))
  const changed = oldest.map((_, i) => new Uint8Array(32).fill(100 + i))
  const half = [...oldest.slice(0, 8), ...changed.slice(8)]
  const [first, second] = [branchDelta(encodeBranch(oldest), encodeBranch(half)), branchDelta(encodeBranch(half), encodeBranch(changed))]
  const older = new OlderBranch()
  older.add(first as Uint8Array)
  expect(older.whole()).toBeUndefined()
  older.add(second as Uint8Array)
  expect(older.whole()).toEqual(encodeBranch(oldest))
})

it('trie/branchDelta: a branch with one changed child of 32 bytes has a delta of 35 bytes', () => {
  const after = Array.from({ length: 16 }, (_, i) => new Uint8Array(32).fill(i))
  const before = [...after]
  before[9] = new Uint8Array(32).fill(99)
  expect(branchDelta(encodeBranch(before), encodeBranch(after))).toHaveLength(35)
})

it('trie/branchDelta: has none between a branch and another node, and applies to branches only', () => {
  const branch = encodeBranch(Array.from({ length: 16 }, () => new Uint8Array(32).fill(1)))
  for (const other of [leaf, extension]) {
    expect(branchDelta(other, branch)).toBeUndefined()
    expect(branchDelta(branch, other)).toBeUndefined()
    expect(branchDelta(other, other)).toBeUndefined()
    expect(olderOf([Uint8Array.of(0, 1, 0x80)], other)).toBeUndefined()
  }
})
