import { Buffer } from 'node:buffer'
import { describedOrNull } from '../codecs/values.ts'
import type { Json } from '../json.ts'
import type { JsonSchema } from '../reference/schemas.ts'
import type { BytesCodec, ResultCodec, TextCodec } from '../registry.ts'
import { ByteList } from './byteList.ts'

/** A codec that writes JSON text directly, which is much faster than via objects; `encode` parses that text. */
export type WrittenCodec<T> = TextCodec<T> & ResultCodec<T>

export function written<T>(doc: string, schema: JsonSchema, text: (value: T) => string): WrittenCodec<T> {
  return { doc, schema, text, encode: (value) => JSON.parse(text(value)) as Json }
}

/** Codec of a written result that may be absent. */
export function writtenOrNull<T>(codec: WrittenCodec<T>): WrittenCodec<T | undefined> {
  const { doc, schema } = describedOrNull(codec)
  return written(doc, schema, (value) => (value === undefined ? 'null' : codec.text(value)))
}

const nullBytes = new ByteList([Buffer.from('null')])

/** Codec of a result assembled from kept bytes. */
export function asBytes<T>({ doc, schema = {} }: WrittenCodec<T>): BytesCodec<ByteList> {
  return { doc, schema, bytes: (list) => list }
}

/** Like `writtenOrNull`, for a result assembled from kept bytes. */
export function bytesOrNull<T>(codec: WrittenCodec<T>): BytesCodec<ByteList | undefined> {
  return { ...describedOrNull(codec), bytes: (list) => list ?? nullBytes }
}

/** Codec of a result that is JSON text already. */
export function asText<T>({ doc, schema = {} }: WrittenCodec<T>): TextCodec<string> {
  return { doc, schema, text: (text) => text }
}

/** Like `writtenOrNull`, for a result that is JSON text already. */
export function textOrNull<T>(codec: WrittenCodec<T>): TextCodec<string | undefined> {
  return { ...describedOrNull(codec), text: (text) => text ?? 'null' }
}

export function writtenList<T>(codec: WrittenCodec<T>): WrittenCodec<readonly T[]> {
  return written(`list: ${codec.doc}`, { type: 'array', items: codec.schema ?? {} }, (values) => listText(values, codec.text))
}

export function listText<T>(values: readonly T[], text: (value: T) => string): string {
  let all = '['
  for (let i = 0; i < values.length; i++) all += (i === 0 ? '' : ',') + text(values[i] as T)
  return `${all}]`
}

/** JSON of a list of hex strings. */
export function hexListText(values: readonly string[]): string {
  return values.length === 0 ? '[]' : `["${values.join('","')}"]`
}
