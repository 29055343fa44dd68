import type { Json } from '../../json.ts'
import type { ResultCodec } from '../../registry.ts'

/** A result that is made as it is answered. */
export function anyJson(doc: string): ResultCodec<Json> {
  return { doc, encode: (value) => value }
}
