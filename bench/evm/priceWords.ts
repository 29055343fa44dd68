// Operands for which arithmetic may be slow.
import { bigintFromBytes } from '#lib/bytes'
import { createBytes } from './priceNumbers.ts'

const bytes = createBytes('words')
const random = (): bigint => bigintFromBytes(bytes(32))
const max = 2n ** 256n - 1n
const bn254Prime = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47n

/** Lengths of one to four limbs, limbs of ones and zeros, quotient digits that are estimated too high, signs. */
export const hardWords: readonly bigint[] = [
  ...[0n, 1n, 2n, 3n, 31n, 255n, 2n ** 32n - 1n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 64n + 1n],
  ...[
    2n ** 127n + 1n,
    2n ** 128n - 1n,
    2n ** 128n,
    2n ** 191n + 1n,
    2n ** 192n - 1n,
    2n ** 192n,
    2n ** 255n,
    2n ** 255n + 1n,
    2n ** 255n - 1n,
  ],
  ...[
    max,
    max - 1n,
    max - 2n ** 64n,
    max - 2n ** 192n,
    bn254Prime,
    2n ** 256n - 2n ** 192n + 1n,
    (2n ** 64n - 1n) << 128n,
    (2n ** 127n + 1n) << 64n,
  ],
  ...[random(), random(), random() >> 1n, random() >> 64n, random() >> 100n, random() >> 128n, random() >> 192n, random() >> 200n],
]

/** Every pair of operands. */
export function* wordPairs(): Generator<readonly bigint[]> {
  for (const a of hardWords) for (const b of hardWords) yield [a, b]
}

/** Combinations of three from every third word of the list. */
export function* wordTriples(): Generator<readonly bigint[]> {
  const some = hardWords.filter((_, i) => i % 3 === 2)
  for (const a of some) for (const b of some) for (const c of some.slice(2)) yield [a, b, c]
}

export function* singleWords(): Generator<readonly bigint[]> {
  for (const word of hardWords) yield [word]
  for (let i = 0; i < 1_000; i++) yield [random() >> BigInt(i % 256)]
}

/** Sizes and offsets: around words, pages and the chunks of a copy. */
export function* sizes(most: number): Generator<number> {
  for (let size = 0; size <= 1_000; size++) yield size
  for (let size = 1_023; size <= most; size = Math.ceil(size * 1.25)) yield size
}
