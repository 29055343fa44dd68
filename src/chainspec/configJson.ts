import { z } from 'zod'
import { type Hex, toHex } from '#lib/hex'
import { parseAddress, parseHash } from '#types/ids'
import { chainFault } from './faults.ts'

/** A number of seconds or blocks, or a chain id. */
export const count = z.int().nonnegative()
/** Such a number, `null` or an absent key. */
export const optionalCount = count.nullish()

const bytesOf = (length: number, name: string): z.ZodString =>
  z.string().regex(new RegExp(`^0x[0-9a-fA-F]{${length * 2}}$`), { error: `${name} (0x and ${length * 2} hex digits)` })

export const hash = bytesOf(32, 'a hash').transform(parseHash)
export const address = bytesOf(20, 'an address').transform(parseAddress)
export const bytes8 = bytesOf(8, '8 bytes').transform((text): Hex => text.toLowerCase() as Hex)
export const word = bytesOf(32, '32 bytes').transform((text) => BigInt(text))
/** Bytes of any length. */
export const bytes = z
  .string()
  .regex(/^0x(?:[0-9a-fA-F]{2})*$/, { error: 'bytes (0x and an even number of hex digits)' })
  .transform((text) => Buffer.from(text.slice(2), 'hex') as Uint8Array)

const quantityText = z.string().regex(/^(?:0x[0-9a-fA-F]+|[0-9]+)$/, { error: 'a number, decimal or with 0x' })
/** An amount in any of the forms that clients write: a JSON number, decimal digits, or hex with 0x. */
export const quantity = z.union([count, quantityText], { error: 'a number, decimal or with 0x' }).transform((value) => BigInt(value))
export const smallQuantity = quantity
  .refine((value) => value <= BigInt(Number.MAX_SAFE_INTEGER), { error: 'a number below 2^53' })
  .transform(Number)

export type Parsed<T> = { readonly value: T; readonly warnings: readonly string[] }

const keyOf = (path: readonly PropertyKey[]): string => path.map(String).join('.') || 'the document'

function found(json: unknown, path: readonly PropertyKey[]): string {
  let value: unknown = json
  for (const key of path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key]
  if (value instanceof Uint8Array) return toHex(value)
  return value === undefined ? 'missing' : (JSON.stringify(value) ?? String(value)).slice(0, 80)
}

/** Removes a key at a path of a JSON document. Mutates the document. */
function removeKey(json: unknown, path: readonly PropertyKey[], key: string): void {
  let value: unknown = json
  for (const step of path) value = (value as Record<PropertyKey, unknown>)[step]
  delete (value as Record<string, unknown>)[key]
}

/**
 * Parses a configuration file with a schema of strict objects. Each unknown key adds a warning that names it.
 * @param what the file, for messages
 * @throws Fault INVALID_CONFIG (fatal) on a missing or bad value, and on an unknown key that would activate a fork
 */
export function parseConfig<T extends z.ZodType>(schema: T, json: unknown, what: string): Parsed<z.output<T>> {
  const copy: unknown = structuredClone(json)
  const warnings: string[] = []
  const first = schema.safeParse(copy)
  if (first.success) return { value: first.data, warnings }
  for (const issue of first.error.issues) {
    if (issue.code !== 'unrecognized_keys') continue
    for (const key of issue.keys) {
      refuseUnknownFork(copy, issue.path, key, what)
      warnings.push(`${what}: ${keyOf([...issue.path, key])} is not known and has no effect`)
      removeKey(copy, issue.path, key)
    }
  }
  const second = schema.safeParse(copy)
  if (second.success) return { value: second.data, warnings }
  const [issue] = second.error.issues
  const path = issue?.path ?? []
  throw chainFault('INVALID_CONFIG', {
    what,
    key: keyOf(path),
    expected: (issue?.message ?? 'something else').replace(/^Invalid input: expected (.*?)(?:, received .*)?$/, 'a value of type $1'),
    found: found(json, path),
  })
}

/** Rejects an unknown key that sets a fork time. Ignoring it would make the node follow another chain from that time on. */
function refuseUnknownFork(json: unknown, path: readonly PropertyKey[], key: string, what: string): void {
  const value = found(json, [...path, key])
  const isTime = /(?:_time|Time)$/.test(key) || path.at(-1) === 'base' // `base` holds Base's own forks by name
  if (!isTime || value === 'null') return
  throw chainFault('INVALID_CONFIG', {
    what,
    key: keyOf([...path, key]),
    expected: 'absent: this version does not know such a fork',
    found: value,
  })
}
