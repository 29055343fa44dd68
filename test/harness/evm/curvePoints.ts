import { hash } from 'node:crypto'
import { bytesFromBigint, concatBytes } from '#lib/bytes'

/** Part of the oracle library's point that is used here. */
export type OraclePoint<F, P> = {
  add(other: P): P
  double(): P
  is0(): boolean
  toAffine(): { x: F; y: F }
}
export type Fp2 = { c0: bigint; c1: bigint }

/** Encodes numbers in big-endian order, each in `width` bytes. */
export function encodeNumbers(width: number, ...numbers: readonly bigint[]): Uint8Array {
  return concatBytes(...numbers.map((number) => bytesFromBigint(number, width)))
}

/** Returns scalar · point by doubling and adding, for a point of any order. The oracle's own function rejects scalars above the group order. */
export function times<F, P extends OraclePoint<F, P>>(point: P, scalar: bigint, zero: P): P {
  let result = zero
  for (const bit of scalar.toString(2)) {
    result = result.double()
    if (bit === '1') result = result.add(point)
  }
  return result
}

/** Generator of pseudo-random numbers below 2^256. The same seed gives the same sequence. */
export function createNumbers(seed: string): () => bigint {
  let count = 0
  return () => BigInt(`0x${hash('sha256', `${seed} ${count++}`)}`)
}
