import { expect, it } from 'vitest'
import { CacheSet } from '#lib/caches'
import { emptyRoot, type Hash, zeroHash } from '#types/ids'
import { type Witnessed, WitnessParts } from './witnessParts.ts'

const part = (length: number, n: number): Uint8Array => new Uint8Array(length).fill(n)
const code = part(2_000, 1)
const witnessOf = (n: number): Witnessed => ({
  ...{ state: [part(600, n), part(0, n), part(2_000, n)], codes: [code], keys: [part(20, n), part(32, n)], lowestBlock: n },
})

it('simulation/witness/witnessParts: returns the witnesses of blocks as they were kept, until they are evicted', () => {
  const parts = new WitnessParts(new CacheSet({ witness: 20_000 }))
  parts.keep(emptyRoot, witnessOf(1))
  parts.keep(zeroHash, witnessOf(2))
  expect(parts.get(emptyRoot)).toEqual(witnessOf(1))
  expect(parts.get(zeroHash)).toEqual(witnessOf(2))
  for (let n = 10; n < 13; n++) parts.keep(`0x${String(n).repeat(32)}` as Hash, witnessOf(n))
  expect(parts.get(emptyRoot)).toBeUndefined()
  expect(parts.get(zeroHash)).toEqual(witnessOf(2))
})

it('simulation/witness/witnessParts: stores a code of several witnesses once, and returns none of them without it', () => {
  const caches = new CacheSet({ witness: 20_000 })
  const parts = new WitnessParts(caches)
  parts.keep(emptyRoot, witnessOf(1))
  const { sizeBytes = 0 } = caches.facts().witness ?? {}
  parts.keep(zeroHash, witnessOf(2))
  expect((caches.facts().witness?.sizeBytes ?? 0) - sizeBytes).toBeLessThan(sizeBytes - code.length)
  parts.keep(`0x${'33'.repeat(32)}` as Hash, { ...witnessOf(3), codes: [part(3_000, 3)] })
  expect([parts.get(emptyRoot), parts.get(zeroHash)]).toEqual([undefined, undefined])
})
