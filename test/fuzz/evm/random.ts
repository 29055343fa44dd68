import { dice } from '#test/harness/dice'

/** Random values that depend only on a seed. */
export type Random = {
  /** From 0 to `bound` - 1. */
  below(bound: number): number
  /** From `from` to `to`, both included. */
  between(from: number, to: number): number
  /** True with this chance in percent. */
  percent(chance: number): boolean
  pick<T>(list: readonly T[]): T
  weighted<T>(list: readonly (readonly [weight: number, item: T])[]): T
  bytes(length: number): Uint8Array
  /** Word at a limit of arithmetic, arbitrary, or small. */
  word(): bigint
}

const maxWord = 2n ** 256n - 1n
const edges = [
  0n,
  1n,
  2n,
  31n,
  32n,
  255n,
  256n,
  2n ** 63n,
  2n ** 64n - 1n,
  2n ** 64n,
  2n ** 128n - 1n,
  2n ** 128n,
  2n ** 192n,
  2n ** 255n - 1n,
]
const signed = [2n ** 255n, maxWord, maxWord - 1n, maxWord - 255n, maxWord << 64n, maxWord << 128n].map((word) => word & maxWord)

/** Creates a generator. The same seed gives the same values. */
export function randomOf(seed: number): Random {
  const below = dice(seed)
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => below(256))
  const wide = (size: number): bigint => {
    let word = 0n
    for (let i = 0; i < size; i++) word = (word << 8n) | BigInt(below(256))
    return word
  }
  return {
    below,
    between: (from, to) => from + below(to - from + 1),
    percent: (chance) => below(1000) < chance * 10,
    pick,
    weighted(list) {
      const total = list.reduce((sum, [weight]) => sum + weight, 0)
      let left = below(total)
      for (const [weight, item] of list) {
        left -= weight
        if (left < 0) return item
      }
      throw new RangeError('empty list')
    },
    bytes,
    word(): bigint {
      const kind = below(10)
      if (kind < 3) return BigInt(below(300))
      if (kind < 5) return pick(edges)
      if (kind < 6) return pick(signed)
      if (kind < 8) return wide(32)
      if (kind < 9) return wide(1 + below(32))
      return (1n << BigInt(below(256))) + pick([-1n, 0n, 1n])
    },
  }
}
