import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { fromHex, toHex } from '../hex.ts'
import { verifyBlobProof, verifyPoint, versionedHashOfBlob, versionedHashOfCommitment } from './kzg.ts'

/** A blob of a recorded batcher with the data of its consensus client; trailing zeros are omitted. */
const recorded: { versionedHash: string; commitment: string; proof: string; data: string } = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/kzg-blob.json', import.meta.url), 'utf8'),
)
const blob = new Uint8Array(131_072)
blob.set(fromHex(recorded.data))
const commitment = fromHex(recorded.commitment)
const proof = fromHex(recorded.proof)

/** Compressed point at infinity: the commitment to the zero polynomial and the proof of any constant polynomial. */
const infinity = Uint8Array.from({ length: 48 }, (_, i) => (i === 0 ? 0xc0 : 0))
const generator = fromHex('0x97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb')
const word = (value: number): Uint8Array => Uint8Array.from({ length: 32 }, (_, i) => (i === 31 ? value : 0))
const overModulus = new Uint8Array(32).fill(0xff)

it('lib/kzg: computes the recorded versioned hash of a blob, from the blob and from its commitment', () => {
  expect(toHex(versionedHashOfCommitment(commitment))).toBe(recorded.versionedHash)
  expect(toHex(versionedHashOfBlob(blob) ?? new Uint8Array(0))).toBe(recorded.versionedHash)
})

it('lib/kzg: a recorded proof verifies for its blob only, and fails for another blob, commitment or proof', () => {
  const other = Uint8Array.from(blob)
  other[31] = (other[31] ?? 0) ^ 1
  expect(verifyBlobProof(blob, commitment, proof)).toBe(true)
  expect(verifyBlobProof(other, commitment, proof)).toBe(false)
  expect(verifyBlobProof(blob, proof, proof)).toBe(false)
  expect(verifyBlobProof(blob, commitment, commitment)).toBe(false)
})

it('lib/kzg: rejects malformed blobs, commitments and proofs without throwing', () => {
  expect(versionedHashOfBlob(new Uint8Array(131_072).fill(0xff))).toBeUndefined()
  expect(versionedHashOfBlob(blob.subarray(1))).toBeUndefined()
  expect(verifyBlobProof(blob.subarray(1), commitment, proof)).toBe(false)
  expect(verifyBlobProof(blob, new Uint8Array(48), proof)).toBe(false)
  expect(verifyBlobProof(blob, commitment, new Uint8Array(0))).toBe(false)
})

it('lib/kzg: a constant polynomial has the same value at every point', () => {
  expect(verifyPoint(infinity, word(5), word(0), infinity)).toBe(true)
  expect(verifyPoint(infinity, word(5), word(1), infinity)).toBe(false)
  expect(verifyPoint(generator, word(5), word(1), infinity)).toBe(true)
  expect(verifyPoint(generator, overModulus, word(1), infinity)).toBe(false)
  expect(verifyPoint(generator, word(5), overModulus, infinity)).toBe(false)
  expect(verifyPoint(generator, word(5), word(1), new Uint8Array(48))).toBe(false)
})
