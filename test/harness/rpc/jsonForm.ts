import type { Json, JsonObject } from './json.ts'

/**
 * Form of the values in one position: kinds of scalars, members (required, or optional when a value lacks them or has null), entries of lists and
 * maps.
 */
export type Shape = {
  readonly scalars: ReadonlySet<string>
  readonly items: Shape | undefined
  readonly members: ReadonlyMap<string, { readonly shape: Shape; readonly isInAll: boolean }> | undefined
  /** Object whose keys are data: addresses, slots, numbers. */
  readonly values: Shape | undefined
}

const isObject = (value: Json): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
const isMap = (value: JsonObject): boolean => {
  const keys = Object.keys(value)
  return keys.length > 0 && keys.every((key) => /^(?:0x[0-9a-fA-F]*|[0-9]+)$/.test(key))
}

function kindOf(value: Json): string {
  if (value === null) return 'null'
  if (typeof value !== 'string') return typeof value
  if (!/^0x[0-9a-f]*$/i.test(value)) return 'text'
  if (/^0x[0-9a-f]{64}$/i.test(value)) return '32 bytes'
  if (/^0x[0-9a-f]{40}$/i.test(value)) return '20 bytes'
  return 'hex'
}

/** Common form of several values in one position. */
function shapeOfAll(values: readonly Json[]): Shape {
  const objects = values.filter(isObject)
  const maps = objects.filter(isMap)
  const records = objects.filter((each) => !isMap(each))
  const lists = values.filter((value) => Array.isArray(value))
  const names = new Set(records.flatMap((record) => Object.keys(record)))
  const members = [...names].map((name) => {
    const found = records.flatMap((record) => (name in record ? [record[name] as Json] : []))
    const isInAll = found.length === records.length && found.every((value) => value !== null)
    return [name, { shape: shapeOfAll(found), isInAll }] as const
  })
  return {
    scalars: new Set(values.filter((value) => typeof value !== 'object' || value === null).map(kindOf)),
    items: lists.length > 0 ? shapeOfAll(lists.flat()) : undefined,
    members: records.length > 0 ? new Map(members) : undefined,
    values: maps.length > 0 ? shapeOfAll(maps.flatMap((map) => Object.values(map))) : undefined,
  }
}

/** Form of an example. */
export const shapeOf = (example: Json): Shape => shapeOfAll([example])

const isUnknown = ({ scalars, items, members, values }: Shape): boolean => scalars.size === 0 && !items && !members && !values

/** Quantities have any number of digits: where the example has hex, a value may have the length of an address or a hash. */
const fits = (scalars: ReadonlySet<string>, kind: string): boolean => scalars.has(kind) || (scalars.has('hex') && kind.endsWith('bytes'))

/**
 * Returns the first position where a value does not have the form; undefined for none. An empty list or map in the example permits any entries.
 * @param isOpen returns true for the path of a member that may be absent or have any form, whatever the example contains
 */
export function mismatch(shape: Shape, value: Json, path: string, isOpen: (path: string) => boolean): string | undefined {
  if (isUnknown(shape)) return undefined
  const { items, members, values } = shape
  if (Array.isArray(value)) {
    if (!items) return `${path}: unexpected list`
    return first(value, (item, at) => mismatch(items, item, `${path}.${at}`, isOpen))
  }
  if (!isObject(value)) {
    const wanted = [...shape.scalars].join(' or ') || 'more'
    return fits(shape.scalars, kindOf(value)) ? undefined : `${path}: ${kindOf(value)}, ${wanted} expected`
  }
  const isEmpty = Object.keys(value).length === 0
  if (values && (isEmpty || isMap(value))) {
    return first(Object.entries(value), ([key, each]) => mismatch(values, each, `${path}.${key}`, isOpen))
  }
  return members ? mismatchOfMembers(members, value, path, isOpen) : `${path}: unexpected object`
}

function mismatchOfMembers(
  members: NonNullable<Shape['members']>,
  value: JsonObject,
  path: string,
  isOpen: (path: string) => boolean,
): string | undefined {
  const names = new Set([...members.keys(), ...Object.keys(value)])
  return first([...names], (name) => {
    const at = `${path}.${name}`
    const member = members.get(name)
    const found = value[name]
    if (isOpen(at)) return undefined
    if (member === undefined) return `${at}: not in the example`
    if (found === undefined) return member.isInAll ? `${at}: missing` : undefined
    return mismatch(member.shape, found, at, isOpen)
  })
}

function first<T>(items: readonly T[], test: (item: T, at: number) => string | undefined): string | undefined {
  for (const [at, item] of items.entries()) {
    const found = test(item, at)
    if (found !== undefined) return found
  }
  return undefined
}
