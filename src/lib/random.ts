import { randomBytes } from 'node:crypto'
import { bigintFromBytes } from './bytes.ts'

/** Returns an unpredictable odd number below 2^256. */
export function randomOddWord(): bigint {
  return bigintFromBytes(randomBytes(32)) | 1n
}
