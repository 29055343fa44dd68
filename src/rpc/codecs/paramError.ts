export type ParamErrorKind = 'unreadable' | 'senseless'
/** Position that an error reports: the end of the value, the end of the parameter, or none. */
export type NoticedAt = 'value' | 'parameter' | 'nowhere'

/**
 * A parameter that its codec refuses. `unreadable` values are reported with their column in the parameter's compact JSON; `senseless` values
 * are well-formed and contradictory: the message alone explains them.
 */
export class ParamError extends Error {
  readonly kind: ParamErrorKind
  /** Keys and indexes from the parameter down to the value; filled while the error propagates outwards. */
  readonly path: (string | number)[] = []
  noticed: NoticedAt = 'value'

  constructor(message: string, kind: ParamErrorKind = 'unreadable', cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ParamError'
    this.kind = kind
  }
}

/** Runs the codec of the part at `key`, and adds the key to the path of its errors. */
export function within<T>(key: string | number, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof ParamError) error.path.unshift(key)
    throw error
  }
}

/** Runs a codec whose errors all report the same kind of position. */
export function noticedAt<T>(place: NoticedAt, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof ParamError) error.noticed = place
    throw error
  }
}

const compactLength = (value: unknown): number => JSON.stringify(value ?? null).length

/** Characters before the value at `key` in the compact JSON of its container. */
function charactersBefore(container: object, key: string | number): number {
  const isList = Array.isArray(container)
  let length = 1
  for (const [name, value] of Object.entries(container)) {
    const label = isList ? 0 : JSON.stringify(name).length + 1
    if (name === String(key)) return length + label
    length += label + compactLength(value) + 1
  }
  return length
}

/** Maximum length of a parameter for which a column is computed. */
const measuredLength = 10_000

/** Column (from 1) of the last character read in the compact JSON of the parameter; undefined when no position is reported. */
export function columnOf(parameter: unknown, error: ParamError): number | undefined {
  if (error.noticed === 'nowhere') return undefined
  try {
    const length = compactLength(parameter)
    if (length > measuredLength) return undefined
    if (error.noticed === 'parameter') return length
    let at = 0
    let value = parameter
    for (const key of error.path) {
      if (typeof value !== 'object' || value === null) break
      at += charactersBefore(value, key)
      value = (value as Readonly<Record<string | number, unknown>>)[key]
    }
    return at + compactLength(value)
  } catch (cause) {
    if (cause instanceof RangeError) return undefined // nested deeper than JSON.stringify goes
    throw cause
  }
}
