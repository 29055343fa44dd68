import { randomBytes } from 'node:crypto'
import { bigintFromBytes } from './bytes.ts'

/** An odd number below 2^256 that nobody can foresee. */
export function randomOddWord(): bigint {
  return bigintFromBytes(randomBytes(32)) | 1n
}
