import type { ByteList } from './results/byteList.ts'

/** Input of JSON.stringify; undefined members are left out. */
export type Json = string | number | boolean | null | undefined | readonly Json[] | { readonly [key: string]: Json }

/** A JSON object with unknown members. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A whole result as JSON text, for answers that are too large to build from objects. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Result of a method: a value, JSON text, or JSON bytes assembled from kept parts. */
export type Result = Json | JsonText | ByteList
