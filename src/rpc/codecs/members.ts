import { isJsonObject, type JsonObject } from '../json.ts'
import type { ParamCodec } from '../registry.ts'
import { ParamError, within } from './paramError.ts'
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

/** Value of the first member present among several names, because clients use different ones. */
export function firstMember<T>(object: JsonObject, names: readonly string[], codec: ParamCodec<T>): T | undefined {
  const name = names.find((each) => object[each] !== undefined && object[each] !== null)
  return name === undefined ? undefined : required(object, name, codec)
}

/** @throws ParamError for a member with another name: an override that is ignored would give a wrong result */
export function refuseOthers(object: JsonObject, names: readonly string[]): void {
  const other = Object.keys(object).find((name) => !names.includes(name))
  if (other !== undefined) throw new ParamError(`unknown field \`${other}\`, expected one of ${names.join(', ')}`)
}
