import { RlpError } from '#lib/rlp'

/** Result of decoding untrusted bytes: a value, or the reason why they are malformed. */
export type Decoded<T> = { readonly kind: 'decoded'; readonly value: T } | { readonly kind: 'malformed'; readonly reason: string }

/** Error for bytes that do not follow the wire format. `decoding` catches it. */
export class MalformedError extends Error {}

/** Runs a reader of untrusted bytes. MalformedError and RlpError become a value; other errors are internal and are rethrown. */
export function decoding<T>(read: () => T): Decoded<T> {
  try {
    return { kind: 'decoded', value: read() }
  } catch (error) {
    if (error instanceof RlpError || error instanceof MalformedError) return { kind: 'malformed', reason: error.message }
    throw error
  }
}
