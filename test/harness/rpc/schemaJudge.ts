import { fromJSONSchema } from 'zod'
import { type JsonSchema, namedSchemas } from '#rpc/reference/schemas'

/** Rewrites the references of a schema to the form that zod resolves. */
function localSchema(schema: JsonSchema): Parameters<typeof fromJSONSchema>[0] {
  const text = JSON.stringify({ ...schema, $defs: namedSchemas }).replaceAll('#/components/schemas/', '#/$defs/')
  return JSON.parse(text) as Parameters<typeof fromJSONSchema>[0]
}

const parsers = new WeakMap<JsonSchema, ReturnType<typeof fromJSONSchema>>()

/** Returns the reason why a value violates a schema; undefined when it is valid. */
export function mismatch(schema: JsonSchema, value: unknown): string | undefined {
  const parser = parsers.get(schema) ?? fromJSONSchema(localSchema(schema))
  parsers.set(schema, parser)
  return parser.safeParse(value).error?.message
}
