import { expect, it } from 'vitest'
import type { StateView } from '#evm/ports'
import { emptyCodeHash, zeroHash } from '#types/ids'
import { notingReads } from './readKeys.ts'

const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
const view: StateView = {
  account: (addressKey) => ({ nonce: BigInt(addressKey[0] ?? 0), balance: 2n, codeHash: emptyCodeHash, storageRoot: zeroHash }),
  slot: (addressKey, slotKey) => Uint8Array.of(addressKey[0] ?? 0, slotKey[0] ?? 0),
  code: () => Uint8Array.of(3),
  blockHash: (number) => (number === 4 ? zeroHash : undefined),
}

it('block/execution/readKeys: notes the keys of accounts and slots before the reads, and returns their values', () => {
  const noted: unknown[] = []
  const noting = notingReads(view, { isFollowed: true, note: (...keys) => noted.push(keys) })
  expect(noting.account(key(1))).toMatchObject({ nonce: 1n, balance: 2n })
  expect(noting.slot(key(1), key(2))).toEqual(Uint8Array.of(1, 2))
  expect([noting.code(emptyCodeHash), noting.blockHash(4), noting.blockHash(5)]).toEqual([Uint8Array.of(3), zeroHash, undefined])
  expect(noted).toEqual([[key(1)], [key(1), key(2)]])
})

it('block/execution/readKeys: returns the same view when keys are not wanted', () => {
  const note = (): never => expect.fail()
  expect(notingReads(view, { isFollowed: false, note })).toBe(view)
  expect(notingReads(view, undefined)).toBe(view)
})
