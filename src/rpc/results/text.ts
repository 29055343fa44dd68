import { Buffer } from 'node:buffer'
import { ByteList } from '../byteList.ts'
import type { Json } from '../json.ts'
import type { BytesCodec, ResultCodec, TextCodec } from '../registry.ts'
import type { JsonSchema } from '../schemas.ts'

/** A codec whose JSON is written as text at once, which is quicker by far than objects; who needs the value gets it out of the text. */
export type WrittenCodec<T> = TextCodec<T> & ResultCodec<T>

export function written<T>(doc: string, schema: JsonSchema, text: (value: T) => string): WrittenCodec<T> {
  return { doc, schema, text, encode: (value) => JSON.parse(text(value)) as Json }
}

type Described = { readonly doc: string; readonly schema: JsonSchema }

const orNull = ({ doc, schema = {} }: { readonly doc: string; readonly schema?: JsonSchema }): Described => ({
  doc: `${doc}; null when there is none`,
  schema: { anyOf: [schema, { type: 'null' }] },
})

/** A result that may not exist. */
export function writtenOrNull<T>(codec: WrittenCodec<T>): WrittenCodec<T | undefined> {
  const { doc, schema } = orNull(codec)
  return written(doc, schema, (value) => (value === undefined ? 'null' : codec.text(value)))
}

const nullBytes = new ByteList([Buffer.from('null')])

/** A result as a codec writes it, put together of text that is kept. */
export function asBytes<T>({ doc, schema = {} }: WrittenCodec<T>): BytesCodec<ByteList> {
  return { doc, schema, bytes: (list) => list }
}

/** As `writtenOrNull`, of a result that is put together of text that is kept. */
export function bytesOrNull<T>(codec: WrittenCodec<T>): BytesCodec<ByteList | undefined> {
  return { ...orNull(codec), bytes: (list) => list ?? nullBytes }
}

/** A result as a codec writes it that is text already. */
export function asText<T>({ doc, schema = {} }: WrittenCodec<T>): TextCodec<string> {
  return { doc, schema, text: (text) => text }
}

/** As `writtenOrNull`, of a result that is text already. */
export function textOrNull<T>(codec: WrittenCodec<T>): TextCodec<string | undefined> {
  return { ...orNull(codec), text: (text) => text ?? 'null' }
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
