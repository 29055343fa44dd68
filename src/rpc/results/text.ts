import type { Json } from '../json.ts'
import type { ResultCodec, TextCodec } from '../registry.ts'
import type { JsonSchema } from '../schemas.ts'

/** A codec whose JSON is written as text at once, which is quicker by far than objects; who needs the value gets it out of the text. */
export type WrittenCodec<T> = TextCodec<T> & ResultCodec<T>

export function written<T>(doc: string, schema: JsonSchema, text: (value: T) => string): WrittenCodec<T> {
  return { doc, schema, text, encode: (value) => JSON.parse(text(value)) as Json }
}

/** A result that may not exist. */
export function writtenOrNull<T>(codec: WrittenCodec<T>): WrittenCodec<T | undefined> {
  const schema = { anyOf: [codec.schema ?? {}, { type: 'null' }] }
  return written(`${codec.doc}; null when there is none`, schema, (value) => (value === undefined ? 'null' : codec.text(value)))
}

export function writtenList<T>(codec: WrittenCodec<T>): WrittenCodec<readonly T[]> {
  return written(`list: ${codec.doc}`, { type: 'array', items: codec.schema ?? {} }, (values) => listText(values, codec.text))
}

export function listText<T>(values: readonly T[], text: (value: T) => string): string {
  let all = '['
  for (let i = 0; i < values.length; i++) all += (i === 0 ? '' : ',') + text(values[i] as T)
  return `${all}]`
}

/** A list of hex strings. */
export function hexListText(values: readonly string[]): string {
  return values.length === 0 ? '[]' : `["${values.join('","')}"]`
}
