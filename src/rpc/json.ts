import type { ByteList } from './byteList.ts'

/** What JSON.stringify takes; a member that is undefined is left out. */
export type Json = string | number | boolean | null | undefined | readonly Json[] | { readonly [key: string]: Json }

/** A JSON object of unknown members. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A whole result that is JSON already, for answers too large to be made of objects. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** What a method answers: a value, or JSON already, as text or, where parts of it are kept, as bytes. */
export type Result = Json | JsonText | ByteList
