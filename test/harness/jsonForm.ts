import type { Json, JsonObject } from './rpcJson.ts'

/**
 * What values look like that stand in one place: scalars by kind, members that all have or only some (one that is null somewhere need not be there),
 * entries of lists and maps.
 */
export type Shape = {
  readonly scalars: ReadonlySet<string>
  readonly items: Shape | undefined
  readonly members: ReadonlyMap<string, { readonly shape: Shape; readonly isInAll: boolean }> | undefined
  /** an object whose keys are data: addresses, slots, numbers */
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

/** What several values of one place have in common. */
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

/** The form of an example. */
export const shapeOf = (example: Json): Shape => shapeOfAll([example])

const isUnknown = ({ scalars, items, members, values }: Shape): boolean => scalars.size === 0 && !items && !members && !values

/** Words and numbers are written with as many digits as they have: an address or a hash may stand where some hex stands. */
const fits = (scalars: ReadonlySet<string>, kind: string): boolean =>
  scalars.has(kind) || (scalars.has('hex') && kind.endsWith('bytes')) || (kind === 'hex' && scalars.has('32 bytes'))

/** The first place where a value has not the form; undefined when it has. An empty list or map of the example says nothing of its entries. */
export function misfit(shape: Shape, value: Json, path: string): string | undefined {
  if (isUnknown(shape)) return undefined
  if (Array.isArray(value)) {
    const { items } = shape
    if (!items) return `${path}: a list`
    return first(value.map((item, at) => () => misfit(items, item, `${path}.${at}`)))
  }
  if (!isObject(value))
    return fits(shape.scalars, kindOf(value))
      ? undefined
      : `${path}: ${kindOf(value)}, ${[...shape.scalars].join(' or ') || 'more'} expected`
  if (Object.keys(value).length === 0 && (shape.values ?? shape.members)) return shape.values ? undefined : missingIn(shape, value, path)
  const { values, members } = shape
  if (values && isMap(value))
    return first(
      Object.entries(value).map(
        ([key, each]) =>
          () =>
            misfit(values, each, `${path}.${key}`),
      ),
    )
  if (!members) return `${path}: an object`
  const unknown = Object.keys(value).find((name) => !members.has(name))
  if (unknown !== undefined) return `${path}.${unknown}: not in the example`
  const present = [...members].filter(([name]) => name in value)
  return (
    missingIn(shape, value, path) ??
    first(
      present.map(
        ([name, member]) =>
          () =>
            misfit(member.shape, value[name] as Json, `${path}.${name}`),
      ),
    )
  )
}

function missingIn({ members }: Shape, value: JsonObject, path: string): string | undefined {
  const missing = [...(members ?? [])].find(([name, { isInAll }]) => isInAll && !(name in value))
  return missing && `${path}.${missing[0]}: missing`
}

function first(tests: readonly (() => string | undefined)[]): string | undefined {
  for (const test of tests) {
    const found = test()
    if (found !== undefined) return found
  }
  return undefined
}
