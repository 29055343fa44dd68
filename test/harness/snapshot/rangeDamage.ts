import { compareBytes, equalBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { createRangeProof, verifyRange } from '#trie/rangeProof'
import type { Hash } from '#types/ids'
import { buildTrie } from '../chain/buildTrie.ts'
import type { Roll } from './rethDamage.ts'
import { damaged } from './snapshotDamage.ts'

type Leaf = { readonly key: Uint8Array; readonly value: Uint8Array }
type Range = { readonly first: Uint8Array; readonly last: Uint8Array }
type Answer = { readonly leaves: readonly Leaf[]; readonly proof: readonly Uint8Array[] }
type Trie = { readonly root: Hash; readonly leaves: readonly Leaf[]; answer(range: Range): Answer }

/** A state and an earlier one, of which a third of the leaves differ. */
export function rangeTries(count: number): readonly [Trie, Trie] {
  const hash = (i: number): Uint8Array => keccak256(Uint8Array.of(i >> 8, i & 255))
  const leaves = Array.from({ length: count }, (_, i) => ({ key: hash(i), value: hash(i).subarray(0, 1 + (i % 32)) }))
  const earlier = leaves
    .filter((_, i) => i % 9 !== 0)
    .map((leaf, i) => (i % 4 === 0 ? { ...leaf, value: Uint8Array.of(1, i & 255) } : leaf))
  return [trieOf(leaves), trieOf(earlier)]
}

function trieOf(unsorted: readonly Leaf[]): Trie {
  const leaves = unsorted.toSorted((a, b) => compareBytes(a.key, b.key))
  const { root, changes } = buildTrie(leaves)
  const byHash = new Map(changes.flatMap(({ node }) => (node ? [[toHex(keccak256(node)), node] as const] : [])))
  const nodes = { get: (_owner: unknown, _path: unknown, hash: Uint8Array): Uint8Array | undefined => byHash.get(toHex(hash)) }
  return { root, leaves, answer: (range) => createRangeProof(nodes, undefined, root, range, { leaves: 1e6, bytes: 1e9 }) }
}

/**
 * Damages the answer to one range, and verifies it.
 * @returns `refused`; `equal`: the damage left the leaves as they were; `wrong`: leaves that are not those of the range were accepted
 */
export function judgeRange([trie, earlier]: readonly [Trie, Trie], roll: Roll): 'refused' | 'equal' | 'wrong' {
  const ends = [keccak256(Uint8Array.of(7, roll(256), roll(256))), (trie.leaves[roll(trie.leaves.length)] as Leaf).key].sort(compareBytes)
  const range = { first: ends[0] as Uint8Array, last: ends[1] as Uint8Array }
  const sound = trie.answer(range)
  const given = damagedAnswer(sound, earlier.answer(range), roll)
  if (verifyRange(trie.root, range, given.leaves, given.proof).kind === 'invalid') return 'refused'
  const isSame = (leaf: Leaf, i: number): boolean => {
    const other = sound.leaves[i]
    return other !== undefined && equalBytes(leaf.key, other.key) && equalBytes(leaf.value, other.value)
  }
  return given.leaves.length === sound.leaves.length && given.leaves.every(isSame) ? 'equal' : 'wrong'
}

function damagedAnswer(sound: Answer, earlier: Answer, roll: Roll): Answer {
  const [leaves, proof] = [[...sound.leaves], [...sound.proof]]
  const [at, other, node] = [roll(leaves.length || 1), roll(leaves.length || 1), roll(proof.length || 1)]
  const [leaf, second, rlp] = [leaves[at], leaves[other], proof[node]]
  switch (roll(9)) {
    case 0:
      return { leaves: leaves.toSpliced(at, 1 + roll(3)), proof }
    case 1:
      return {
        leaves: leaf ? leaves.with(at, { ...leaf, value: damaged(leaf.value, second?.value ?? leaf.value, roll) }) : leaves,
        proof: proof.slice(1),
      }
    case 2:
      return { leaves: leaf ? leaves.with(at, { ...leaf, key: damaged(leaf.key, second?.key ?? leaf.key, roll) }) : leaves, proof }
    case 3:
      return { leaves: leaf && second ? leaves.with(at, second).with(other, leaf) : leaves, proof: proof.slice(0, -1) }
    case 4:
      return earlier
    case 5:
      return { leaves: earlier.leaves, proof }
    case 6:
      return { leaves, proof: earlier.proof }
    case 7:
      return { leaves, proof: rlp ? proof.with(node, damaged(rlp, proof[roll(proof.length)] ?? rlp, roll)) : [] }
    default:
      return { leaves: leaf ? leaves.toSpliced(at, 0, leaf) : leaves, proof: rlp ? proof.toSpliced(node, 1) : proof }
  }
}
