import { z } from 'zod'
import { parseAddress, parseHash } from '#types/ids'
import { engineFault } from './faults.ts'

const fixed = (length: number, name: string): z.ZodString =>
  z.string().regex(new RegExp(`^0x[0-9a-fA-F]{${length * 2}}$`), { error: `${name} expected` })

export const hashField = fixed(32, '32 hex bytes').transform(parseHash)
export const addressField = fixed(20, '20 hex bytes').transform(parseAddress)

const decoded = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.slice(2), 'hex'))
export const bytesField = z
  .string()
  .regex(/^0x(?:[0-9a-fA-F]{2})*$/, { error: 'hex bytes expected' })
  .transform(decoded)
export const bloomField = fixed(256, '256 hex bytes').transform(decoded)
export const bytes8Field = fixed(8, '8 hex bytes').transform(decoded)

/** Quantity of at most `bytes` bytes. */
export const quantityField = (bytes: number): z.ZodPipe<z.ZodString, z.ZodTransform<bigint, string>> =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{1,${bytes * 2}}$`), { error: `quantity of at most ${bytes} bytes expected` })
    .transform((text) => BigInt(text))

/** Quantity below 2^53. */
export const safeField = quantityField(8)
  .refine((value) => value <= BigInt(Number.MAX_SAFE_INTEGER), { error: 'quantity below 2^53 expected' })
  .transform(Number)

/**
 * Parses the fields of a JSON document; absent and `null` optional fields are omitted.
 * @param what name of the document, for the message
 * @throws Fault MALFORMED_PAYLOAD (fatal) with the first invalid field
 */
export function parseFields<T extends z.ZodType>(schema: T, json: unknown, what: string): z.output<T> {
  const result = schema.safeParse(json)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw engineFault('MALFORMED_PAYLOAD', {
    what,
    key: issue?.path.map(String).join('.') || 'the document',
    reason: issue?.message ?? 'refused',
  })
}

/** Returns the object without null and undefined fields. */
export function withoutNulls<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], null | undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null && field !== undefined)) as never
}
