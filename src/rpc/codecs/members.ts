import { isJsonObject, type JsonObject } from '../json.ts'
import type { ParamCodec } from '../registry.ts'
import { within } from './paramError.ts'
import { wrongType } from './values.ts'

/** Returns an untrusted value as an object. @param what its name with an article, for the error @throws ParamError for any other value */
export function objectOf(value: unknown, what: string): JsonObject {
  if (!isJsonObject(value)) throw wrongType(value, what)
  return value
}

/** Parses a required member. */
export const required = <T>(object: JsonObject, key: string, codec: ParamCodec<T>): T => within(key, () => codec.parse(object[key]))

/** Parses an optional member; null counts as absent. */
export function member<T>(object: JsonObject, key: string, codec: ParamCodec<T>): T | undefined {
  const value = object[key]
  return value === undefined || value === null ? undefined : required(object, key, codec)
}
