import { isDeepStrictEqual } from 'node:util'
import { toHex } from '#lib/hex'

/** A difference between the product and the model. */
export class Mismatch extends Error {}

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return toHex(value)
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return value.map(plain)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).flatMap(([key, each]) => (each === undefined ? [] : [[key, plain(each)]])))
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 2_000)

/** @throws Mismatch unless both are equal; bytes are compared by content */
export function same(what: string, found: unknown, expected: unknown): void {
  const [a, b] = [plain(found), plain(expected)]
  if (!isDeepStrictEqual(a, b)) throw new Mismatch(`${what}\n  found    ${shown(a)}\n  expected ${shown(b)}`)
}

/** @throws Mismatch unless the condition holds */
export function holds(what: string, condition: boolean): asserts condition {
  if (!condition) throw new Mismatch(what)
}
