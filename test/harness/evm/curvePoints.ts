import { hash } from 'node:crypto'
import { bytesFromBigint, concatBytes } from '#lib/bytes'

/** What of a point of the oracle library is used. */
export type OraclePoint<F, P> = {
  add(other: P): P
  double(): P
  is0(): boolean
  toAffine(): { x: F; y: F }
}
export type Fp2 = { c0: bigint; c1: bigint }

/** Big-endian, each number in `width` bytes. */
export function encodeNumbers(width: number, ...numbers: readonly bigint[]): Uint8Array {
  return concatBytes(...numbers.map((number) => bytesFromBigint(number, width)))
}

/** scalar · point by doubling and adding, whatever the order of the point: the oracle's own refuses scalars beyond the group's. */
export function times<F, P extends OraclePoint<F, P>>(point: P, scalar: bigint, zero: P): P {
  let result = zero
  for (const bit of scalar.toString(2)) {
    result = result.double()
    if (bit === '1') result = result.add(point)
  }
  return result
}

/** Numbers below 2^256 that look random, the same ones for the same seed. */
export function createNumbers(seed: string): () => bigint {
  let count = 0
  return () => BigInt(`0x${hash('sha256', `${seed} ${count++}`)}`)
}
