import { expect, it } from 'vitest'
import { CacheSet } from '#lib/caches'
import { keccak256 } from '#lib/keccak'
import type { NodeSource } from '#trie/ports'
import { emptyRoot, zeroHash } from '#types/ids'
import { nameOf, WitnessParts } from './witnessParts.ts'

const node = (n: number): Uint8Array => new Uint8Array(600).fill(n)
const hashOf = (n: number): Uint8Array => keccak256(node(n))
const nothing = new Uint8Array()
const witnessOf = (...numbers: readonly number[]) => ({
  ...{ nodes: numbers.map((n) => nameOf(hashOf(n))), codes: [], addresses: nothing, slots: nothing, lowestBlock: Number.POSITIVE_INFINITY },
})

it('simulation/witness/witnessParts: builds a witness from shared parts, until one of its parts is evicted', () => {
  const parts = new WitnessParts(new CacheSet({ witness: 20_000 }))
  for (const n of [1, 2, 3]) parts.keep(nameOf(hashOf(n)), node(n))
  parts.keepWitness(emptyRoot, witnessOf(1, 2))
  parts.keepWitness(zeroHash, witnessOf(2, 3))
  const found = (hash: typeof zeroHash): unknown => parts.all(parts.witness(hash)?.nodes ?? [])
  expect(found(emptyRoot)).toEqual([node(1), node(2)])
  expect(found(zeroHash)).toEqual([node(2), node(3)])
  for (let n = 10; n < 26; n++) parts.keep(nameOf(hashOf(n)), node(n))
  expect(found(emptyRoot)).toBeUndefined()
  expect(found(zeroHash)).toEqual([node(2), node(3)])
})

it('simulation/witness/witnessParts: reads only nodes that are not cached', () => {
  const parts = new WitnessParts(new CacheSet({ witness: 20_000 }))
  parts.keep(nameOf(hashOf(1)), node(1))
  const read: Uint8Array[] = []
  const source: NodeSource = {
    get(_owner, _path, hash): Uint8Array | undefined {
      read.push(hash)
      return node(2)
    },
  }
  const over = parts.over(source)
  expect(over.get(undefined, nothing, hashOf(1))).toEqual(node(1))
  expect(over.get(undefined, nothing, hashOf(2))).toEqual(node(2))
  expect(read).toEqual([hashOf(2)])
})
