/** Reaction required of the caller: retry, reset to a sound starting point, or stop. */
export type Severity = 'retry' | 'reset' | 'fatal'

/** An error that an operator may need to see. Callers switch on `severity` or `code`, never on the text. */
export class Fault extends Error {
  readonly code: string
  readonly severity: Severity
  readonly data: Readonly<Record<string, unknown>>
  /** Action for the operator. */
  readonly fix: string

  constructor(code: string, severity: Severity, says: string, fix: string, data: Readonly<Record<string, unknown>>, cause?: unknown) {
    super(says, cause === undefined ? undefined : { cause })
    this.name = 'Fault'
    this.code = code
    this.severity = severity
    this.data = data
    this.fix = fix
  }
}

// biome-ignore lint/suspicious/noExplicitAny: each spec has its own data type, recovered by DataOf
export type FaultSpec<D = any> = { severity: Severity; says: (data: D) => string; fix: string }
type DataOf<S> = S extends FaultSpec<infer D> ? D : never

/** The fault table of one module and the function that creates its faults: `throw l1Fault('BLOB_UNAVAILABLE', { slot }, cause)`. */
export type FaultMaker<T extends Record<string, FaultSpec>> = (<K extends keyof T & string>(
  code: K,
  data: DataOf<T[K]>,
  cause?: unknown,
) => Fault) & {
  readonly specs: T
}

/** Declares all faults of a module, in its `faults.ts`. The fault reference in the docs is generated from `specs`. */
export function defineFaults<const T extends Record<string, FaultSpec>>(specs: T): FaultMaker<T> {
  const make = <K extends keyof T & string>(code: K, data: DataOf<T[K]>, cause?: unknown): Fault => {
    const spec = specs[code] as FaultSpec
    return new Fault(code, spec.severity, spec.says(data), spec.fix, data as Readonly<Record<string, unknown>>, cause)
  }
  return Object.assign(make, { specs })
}

export function isFault(error: unknown, code?: string): error is Fault {
  return error instanceof Fault && (code === undefined || error.code === code)
}

/** Returns the text of a thrown value. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error))
