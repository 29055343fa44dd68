import { secp256k1 } from '@noble/curves/secp256k1.js'
import { expect, it } from 'vitest'
import { toHex } from './hex.ts'
import { keccak256, keccak256Of, keccak256Text } from './keccak.ts'
import { addressOfKey, recoverAddress, secp256k1HalfOrder, signDigest } from './secp256k1.ts'

const key = new Uint8Array(32).fill(7)
const digest = keccak256Text('a digest')

it('lib/keccak: returns the known hash of empty input, and hashes parts like the whole', () => {
  expect(toHex(keccak256(new Uint8Array(0)))).toBe('0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470')
  expect(keccak256Of(Uint8Array.of(1, 2), Uint8Array.of(3))).toEqual(keccak256(Uint8Array.of(1, 2, 3)))
})

it('lib/secp256k1: recovers the signer as another implementation does', () => {
  const { signature, yParity } = signDigest(digest, key)
  expect(toHex(recoverAddress(digest, signature, yParity) ?? new Uint8Array())).toBe(toHex(addressOfKey(key)))
  const point = secp256k1.Signature.fromBytes(signature, 'compact').addRecoveryBit(yParity).recoverPublicKey(digest)
  expect(toHex(keccak256(point.toBytes(false).subarray(1)).subarray(12))).toBe(toHex(addressOfKey(key)))
})

it('lib/secp256k1: signs with low s', () => {
  for (let i = 1; i < 30; i++) {
    const { signature } = signDigest(keccak256(Uint8Array.of(i)), key)
    expect(BigInt(toHex(signature.subarray(32)))).toBeLessThanOrEqual(secp256k1HalfOrder)
  }
})

it('lib/secp256k1: returns undefined for an impossible signature', () => {
  expect(recoverAddress(digest, new Uint8Array(64), 0)).toBeUndefined()
  expect(recoverAddress(digest, new Uint8Array(64).fill(255), 1)).toBeUndefined()
})
