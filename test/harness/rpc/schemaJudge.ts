import { fromJSONSchema } from 'zod'
import { type JsonSchema, namedSchemas } from '#rpc/schemas'

/** Where the references of our schemas lead, as zod finds it. */
function localSchema(schema: JsonSchema): Parameters<typeof fromJSONSchema>[0] {
  const text = JSON.stringify({ ...schema, $defs: namedSchemas }).replaceAll('#/components/schemas/', '#/$defs/')
  return JSON.parse(text) as Parameters<typeof fromJSONSchema>[0]
}

const parsers = new WeakMap<JsonSchema, ReturnType<typeof fromJSONSchema>>()

/** What a schema of the reference finds wrong with a value; undefined: nothing. */
export function mismatch(schema: JsonSchema, value: unknown): string | undefined {
  const parser = parsers.get(schema) ?? fromJSONSchema(localSchema(schema))
  parsers.set(schema, parser)
  return parser.safeParse(value).error?.message
}
