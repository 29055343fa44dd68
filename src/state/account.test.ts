import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RlpError } from '#lib/rlp'
import { emptyCodeHash, emptyRoot, hashFromBytes } from '#types/ids'
import { accountOfRow, encodeAccount, encodeAccountRow } from './account.ts'

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hashFromBytes)
const account = fc.record({
  nonce: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  balance: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  storageRoot: fc.oneof(fc.constant(emptyRoot), hash),
  codeHash: fc.oneof(fc.constant(emptyCodeHash), hash),
})

it('state/account: makes the leaf value of any account from its row', () => {
  fc.assert(
    fc.property(account, (of) => {
      expect(accountOfRow(encodeAccountRow(of))).toEqual(encodeAccount(of))
    }),
  )
})

it('state/account: rejects a row that is no account', () => {
  const row = encodeAccountRow({ nonce: 1n, balance: 2n, storageRoot: emptyRoot, codeHash: emptyCodeHash })
  for (const wrong of [
    row.subarray(1),
    row.slice(0, -1),
    Uint8Array.of(0xc3, 1, 2, 0x80),
    Uint8Array.of(0xc4, 1, 2, 0x81, 0x85),
    Uint8Array.of(0xc4, 1, 2, 5, 0x80),
    new Uint8Array(),
  ]) {
    expect(() => accountOfRow(wrong)).toThrowError(RlpError)
  }
})
