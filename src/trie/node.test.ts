import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import { nibblesOf } from './nibbles.ts'
import { decodeNode, encodeLeaf, encodeNode } from './node.ts'

const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
const value = fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 120 }), fc.uint8Array({ minLength: 1, maxLength: 1 }))

it('trie/node: encodes the leaf of a key at any depth as the leaf of its remaining nibbles', () => {
  fc.assert(
    fc.property(key, fc.nat(64), value, (of, depth, content) => {
      const leaf = { kind: 'leaf', path: nibblesOf(of).subarray(depth), value: content } as const
      const rlp = encodeLeaf(of, depth, content)
      expect(toHex(rlp)).toBe(toHex(encodeNode(leaf)))
      expect(decodeNode(rlp)).toEqual(leaf)
    }),
  )
})
