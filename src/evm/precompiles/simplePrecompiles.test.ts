import { createHash } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { ripemd160 as ripemd160Oracle } from '@noble/hashes/legacy.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { createNumbers, encodeNumbers } from '#test/harness/evm/curvePoints'
import { ecrecover } from './ecrecover.ts'
import { identity, ripemd160, sha256 } from './hashes.ts'
import { pointEvaluation } from './pointEvaluation.ts'

const next = createNumbers('secp256k1')
const order = secp256k1.Point.CURVE().n
const none = new Uint8Array(0)

it('evm/ecrecover: returns the signer of the oracle’s signatures, with high or low s', () => {
  for (let i = 0; i < 10; i++) {
    const key = bytesFromBigint((next() % (order - 1n)) + 1n, 32)
    const digest = bytesFromBigint(next(), 32)
    const address = keccak_256(secp256k1.getPublicKey(key, false).subarray(1)).subarray(12)
    const word = concatBytes(new Uint8Array(12), address)
    const signature = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' })
    const { r, s } = secp256k1.Signature.fromBytes(signature.subarray(1), 'compact')
    const parity = BigInt(signature[0] ?? 0)
    expect(ecrecover.run(concatBytes(digest, encodeNumbers(32, 27n + parity, r, s)))).toEqual(word)
    expect(ecrecover.run(concatBytes(digest, encodeNumbers(32, 28n - parity, r, order - s), Uint8Array.of(9)))).toEqual(word)
  }
})

it('evm/ecrecover: returns no bytes for another v, r or s out of range, or an x without a point', () => {
  const digest = bytesFromBigint(5n, 32)
  const sound = [27n, 1n, 1n]
  expect(ecrecover.run(concatBytes(digest, encodeNumbers(32, ...sound)))).toHaveLength(32)
  const wrong = [
    [26n, 1n, 1n],
    [29n, 1n, 1n],
    [27n + 256n, 1n, 1n],
    [27n, 0n, 1n],
    [27n, 1n, 0n],
    [27n, order, 1n],
    [27n, 1n, order],
    [27n, 5n, 1n],
  ]
  for (const numbers of wrong) expect(ecrecover.run(concatBytes(digest, encodeNumbers(32, ...numbers)))).toEqual(none)
  expect(ecrecover.run(none)).toEqual(none)
  expect(ecrecover.gas(none)).toBe(3000n)
})

it('evm/hashes: SHA-256 and RIPEMD-160 equal those of other libraries; identity returns a copy', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (data) => {
      expect(Buffer.from(sha256.run(data) ?? []).toString('hex')).toBe(createHash('sha256').update(data).digest('hex'))
      expect(ripemd160.run(data)).toEqual(concatBytes(new Uint8Array(12), ripemd160Oracle(data)))
      expect(identity.run(data)).toEqual(data)
    }),
  )
  const data = Uint8Array.of(1, 2)
  expect(identity.run(data)?.buffer).not.toBe(data.buffer)
})

it('evm/hashes: charges by the word', () => {
  const prices = [sha256, ripemd160, identity].map((precompile) => [0, 1, 32, 33].map((length) => precompile.gas(new Uint8Array(length))))
  expect(prices).toEqual([
    [60n, 72n, 72n, 84n],
    [600n, 720n, 720n, 840n],
    [15n, 18n, 18n, 21n],
  ])
})

it('evm/pointEvaluation: rejects input of another length, or with a hash of another commitment', () => {
  expect(pointEvaluation.run(none)).toBeUndefined()
  expect(pointEvaluation.run(new Uint8Array(192))).toBeUndefined()
  expect(pointEvaluation.run(new Uint8Array(193))).toBeUndefined()
  expect(pointEvaluation.gas(none)).toBe(50_000n)
})
