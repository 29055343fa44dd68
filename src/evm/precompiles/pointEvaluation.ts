import { bytesFromBigint, concatBytes, equalBytes } from '#lib/bytes'
import { verifyPoint, versionedHashOfCommitment } from '#lib/kzg/kzg'
import type { Precompile } from './precompile.ts'

const fieldElementsPerBlob = 4096n
const blsModulus = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n
const answer = concatBytes(bytesFromBigint(fieldElementsPerBlob, 32), bytesFromBigint(blsModulus, 32))

/**
 * Precompile 0x0a: versioned hash ‖ z ‖ y ‖ commitment ‖ proof. The first call in a process loads the trusted setup. @see EIP-4844, "Point evaluation
 * precompile"
 */
export const pointEvaluation: Precompile = {
  gas: () => 50_000n,
  run(input): Uint8Array | undefined {
    if (input.length !== 192) return undefined
    const commitment = input.subarray(96, 144)
    if (!equalBytes(versionedHashOfCommitment(commitment), input.subarray(0, 32))) return undefined
    return verifyPoint(commitment, input.subarray(32, 64), input.subarray(64, 96), input.subarray(144)) ? answer.slice() : undefined
  },
}
