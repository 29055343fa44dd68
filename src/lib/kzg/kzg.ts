import { createRequire } from 'node:module'
import type * as EthKzg from '@crate-crypto/node-eth-kzg'
import { lazy } from '../lazy.ts'
import { sha256 } from '../sha256.ts'

/** First byte of the versioned hash of a KZG commitment (EIP-4844). */
const kzgVersion = 0x01

/** The native addon with the trusted setup. The first use takes about two seconds; later uses cost nothing. */
const context = lazy((): EthKzg.DasContextJs => {
  const addon: typeof EthKzg = createRequire(import.meta.url)('@crate-crypto/node-eth-kzg')
  return addon.DasContextJs.create({ usePrecomp: false })
})

/** Loads the trusted setup now instead of at the first use. */
export function setUpKzg(): void {
  context()
}

/**
 * Returns the versioned hash of a commitment: 32 bytes, 0x01 ‖ sha256(commitment)[1:].
 * @param commitment 48 bytes, not checked to be a curve point
 * @see EIP-4844, kzg_to_versioned_hash
 */
export function versionedHashOfCommitment(commitment: Uint8Array): Uint8Array {
  const digest = sha256(commitment)
  digest[0] = kzgVersion
  return digest
}

/**
 * Computes a blob's commitment and returns its versioned hash. Takes about 45 ms, twenty times as long as `verifyBlobProof`.
 * @param blob 131,072 bytes
 * @returns 32 bytes; undefined when the blob has another length or a field element at or above the modulus
 */
export function versionedHashOfBlob(blob: Uint8Array): Uint8Array | undefined {
  const kzg = context()
  try {
    return versionedHashOfCommitment(kzg.blobToKzgCommitment(blob))
  } catch {
    return undefined
  }
}

/**
 * Verifies that the commitment belongs to the blob. Does not check a versioned hash: compare `versionedHashOfCommitment` too.
 * @param commitment 48 bytes
 * @param proof 48 bytes
 * @returns false also for malformed input
 */
export function verifyBlobProof(blob: Uint8Array, commitment: Uint8Array, proof: Uint8Array): boolean {
  const kzg = context()
  try {
    return kzg.verifyBlobKzgProof(blob, commitment, proof)
  } catch {
    return false
  }
}

/**
 * Verifies that the committed polynomial has the value y at z.
 * @param commitment 48 bytes
 * @param z 32 bytes, big-endian, below the modulus
 * @param y 32 bytes, big-endian, below the modulus
 * @param proof 48 bytes
 * @returns false also for malformed input
 */
export function verifyPoint(commitment: Uint8Array, z: Uint8Array, y: Uint8Array, proof: Uint8Array): boolean {
  const kzg = context()
  try {
    return kzg.verifyKzgProof(commitment, z, y, proof)
  } catch {
    return false
  }
}

/**
 * Computes the commitment and proof to send with a blob. Takes about 50 ms for each of the two.
 * @param blob 131,072 bytes
 * @returns 48 bytes each
 * @throws RangeError when the input is not a valid blob
 * @see EIP-4844, compute_blob_kzg_proof
 */
export function proveBlob(blob: Uint8Array): { readonly commitment: Uint8Array; readonly proof: Uint8Array } {
  return ofBlob(() => {
    const commitment = context().blobToKzgCommitment(blob)
    return { commitment, proof: context().computeBlobKzgProof(blob, commitment) }
  })
}

/**
 * Computes the commitment and cell proofs to send with a blob to an L1 from Osaka on. Takes about 300 ms.
 * @param blob 131,072 bytes
 * @returns the commitment and 128 proofs, 48 bytes each
 * @throws RangeError when the input is not a valid blob
 * @see EIP-7594, compute_cells_and_kzg_proofs
 */
export function proveCells(blob: Uint8Array): { readonly commitment: Uint8Array; readonly proofs: readonly Uint8Array[] } {
  return ofBlob(() => ({ commitment: context().blobToKzgCommitment(blob), proofs: context().computeCellsAndKzgProofs(blob).proofs }))
}

function ofBlob<T>(compute: () => T): T {
  try {
    return compute()
  } catch (cause) {
    throw new RangeError('not a blob', { cause })
  }
}
