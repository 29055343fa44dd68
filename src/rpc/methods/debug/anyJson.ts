import type { Json } from '../../json.ts'
import type { ResultCodec } from '../../registry.ts'
import type { JsonSchema } from '../../schemas.ts'

/** Codec of a result that is JSON already. */
export function anyJson(doc: string, schema: JsonSchema): ResultCodec<Json> {
  return { doc, schema, encode: (value) => value }
}
