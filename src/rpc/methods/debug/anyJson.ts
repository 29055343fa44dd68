import type { Json } from '../../json.ts'
import type { ResultCodec } from '../../registry.ts'
import type { JsonSchema } from '../../schemas.ts'

/** A result that is made as it is answered. */
export function anyJson(doc: string, schema: JsonSchema): ResultCodec<Json> {
  return { doc, schema, encode: (value) => value }
}
