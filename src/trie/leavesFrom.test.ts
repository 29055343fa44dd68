import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { buildTrie } from '#test/harness/chain/buildTrie'
import { leavesFrom } from './leavesFrom.ts'
import type { NodeSource } from './ports.ts'

const keyOf = (n: number): Uint8Array => keccak256(Uint8Array.of(n & 255, n >> 8))

it('trie/leavesFrom: lists the entries from a key on, in key order', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(300), { maxLength: 60 }), fc.nat(300), (stored, first) => {
      const entries = stored
        .map((n) => ({ key: keyOf(n), value: Uint8Array.of(1, n & 255) }))
        .toSorted((a, b) => compareBytes(a.key, b.key))
      const { root, changes } = buildTrie(entries)
      const byHash = new Map(changes.map(({ node }) => [toHex(keccak256(node as Uint8Array)), node as Uint8Array]))
      const source: NodeSource = { get: (_owner, _path, hash) => byHash.get(toHex(hash)) }
      const start = keyOf(first)
      expect([...leavesFrom(source, undefined, root, start)]).toEqual(entries.filter(({ key }) => compareBytes(key, start) >= 0))
    }),
    { numRuns: 60 },
  )
})
