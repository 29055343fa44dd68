import { fromHex } from '#lib/hex'
import { type Address, type Hash, parseAddress, parseHash } from './ids.ts'

/** Thrown when a JSON value does not have the expected shape. */
export class ShapeError extends Error {}

export type Json = Readonly<Record<string, unknown>>

export function objectOf(value: unknown, what: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ShapeError(`${what} is not an object`)
  return value as Json
}

export function listOf(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new ShapeError(`${what} is not a list`)
  return value
}

function textOf(json: Json, key: string): string {
  const value = json[key]
  if (typeof value !== 'string') throw new ShapeError(`${key} is not a text`)
  return value
}

/** Returns whether a field is present; other clients write `null` for an absent field. */
export const has = (json: Json, key: string): boolean => json[key] !== undefined && json[key] !== null

const checked = <T>(json: Json, key: string, parse: (text: string) => T): T => {
  try {
    return parse(textOf(json, key))
  } catch (error) {
    if (error instanceof ShapeError) throw error
    throw new ShapeError(`${key} is malformed`, { cause: error })
  }
}

export const bytesField = (json: Json, key: string): Uint8Array => checked(json, key, fromHex)
export const hashField = (json: Json, key: string): Hash => checked(json, key, parseHash)
export const addressField = (json: Json, key: string): Address => checked(json, key, parseAddress)

const quantityPattern = /^0x[0-9a-fA-F]{1,64}$/
export function bigintField(json: Json, key: string): bigint {
  const text = textOf(json, key)
  if (!quantityPattern.test(text)) throw new ShapeError(`${key} is not a quantity`)
  return BigInt(text)
}

export function numberField(json: Json, key: string): number {
  const value = bigintField(json, key)
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new ShapeError(`${key} is not a safe integer`)
  return Number(value)
}
