import { RlpError } from '#lib/rlp'

/** What became of untrusted bytes: a value, or why they are none. */
export type Decoded<T> = { readonly kind: 'decoded'; readonly value: T } | { readonly kind: 'malformed'; readonly reason: string }

/** The bytes do not follow the wire format. Never leaves `decoding`. */
export class MalformedError extends Error {}

/** Runs a reader of untrusted bytes; what it refuses becomes a value, any other error is a mistake of ours and passes. */
export function decoding<T>(read: () => T): Decoded<T> {
  try {
    return { kind: 'decoded', value: read() }
  } catch (error) {
    if (error instanceof RlpError || error instanceof MalformedError) return { kind: 'malformed', reason: error.message }
    throw error
  }
}
