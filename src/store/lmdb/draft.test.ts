import { expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import type { KvReader } from '../ports.ts'
import { Draft } from './draft.ts'

const table = 9
const nothingStored = { look: () => undefined } as unknown as KvReader
const one = Uint8Array.of(1)
const hashed = (number: number): Uint8Array => keccak256(Uint8Array.of(number, number >> 8))

/** Returns the milliseconds in which rows are looked up and written, one after the other. */
function draftMs(keys: readonly Uint8Array[]): number {
  const draft = new Draft(nothingStored)
  const startMs = performance.now()
  for (const key of keys) {
    draft.look(table, key, () => true)
    draft.put(table, key, one)
  }
  draft.look(table, one, () => true)
  return performance.now() - startMs
}

it('store/lmdb/draft: slots with one key in many accounts, and many slots of one account, take no longer than others', () => {
  const hashes = Array.from({ length: 8_000 }, (_, number) => hashed(number))
  const same = hashed(1)
  const least = (keys: readonly Uint8Array[]): number => Math.min(...Array.from({ length: 3 }, () => draftMs(keys)))
  const othersMs = least(hashes.map((hash) => concatBytes(hash, hash)))
  expect(least(hashes.map((hash) => concatBytes(hash, same)))).toBeLessThan(10 * othersMs)
  expect(least(hashes.map((hash) => concatBytes(same, hash)))).toBeLessThan(10 * othersMs)
})
