import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { buildTrie } from '#test/harness/chain/buildTrie'
import { decodeNode } from './node.ts'
import type { NodeSource } from './ports.ts'
import { createProof } from './proof.ts'
import { visitNodes } from './witnessNodes.ts'

/** One key in four shares its first five bytes with others, so that there are extensions at which keys leave the trie. */
function keyOf(n: number): Uint8Array {
  const key = keccak256(Uint8Array.of(n & 255, n >> 8))
  if (n % 4 === 0) key.set([1, 2, 3, n % 8, n % 16])
  return key
}

it("trie/witnessNodes: returns the union of all proofs' nodes and the nodes below extensions at which keys leave, each once, with or without known values", () => {
  const numbers = fc.array(fc.nat(400), { maxLength: 60 })
  let extensions = 0
  fc.assert(
    fc.property(numbers, numbers, (stored, asked) => {
      const entries = [...new Set(stored)].map((n) => ({ key: keyOf(n), value: Uint8Array.of(1, n & 255) }))
      const { root, changes } = buildTrie(entries.toSorted((a, b) => compareBytes(a.key, b.key)))
      const byHash = new Map(changes.map(({ node }) => [toHex(keccak256(node as Uint8Array)), node as Uint8Array]))
      const source: NodeSource = { get: (_owner, _path, hash) => byHash.get(toHex(hash)) }
      const keys = [...new Set(asked)].map(keyOf)
      const found: string[] = []
      const withValues = keys.map((key, i) => ({
        key,
        value: i % 2 === 0 ? entries.find((each) => toHex(each.key) === toHex(key))?.value : undefined,
      }))
      visitNodes(source, undefined, root, withValues, (rlp) => found.push(toHex(rlp)))
      const proofs = keys.flatMap((key) => {
        const proof = createProof(source, undefined, root, key)
        const end = proof.at(-1)
        const last = end && decodeNode(end)
        const below = last?.kind === 'extension' ? byHash.get(toHex(last.child)) : undefined
        extensions += below ? 1 : 0
        return [...proof, ...(below ? [below] : [])].map(toHex)
      })
      expect(found.toSorted()).toEqual([...new Set(proofs)].toSorted())
    }),
    { numRuns: 400 },
  )
  expect(extensions).toBeGreaterThan(10)
})
