import { Fault, type Severity } from './fault.ts'
import type { LogFields } from './log.ts'

/** An error in the form that crosses between threads. */
export type TransferredError = {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  readonly cause: TransferredError | undefined
  /** Set for a Fault only. */
  readonly fault:
    | { readonly code: string; readonly severity: Severity; readonly fix: string; readonly data: Readonly<Record<string, unknown>> }
    | undefined
}

const maxCauses = 8

/** Converts any thrown value to its transfer form. Never throws. */
export function transferError(error: unknown, depth = 0): TransferredError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), stack: undefined, cause: undefined, fault: undefined }
  const { name, message, stack, cause } = error
  const fault =
    error instanceof Fault ? { code: error.code, severity: error.severity, fix: error.fix, data: sendable(error.data) } : undefined
  return { name, message, stack, cause: cause === undefined || depth === maxCauses ? undefined : transferError(cause, depth + 1), fault }
}

/** Restores an error: a complete Fault, a RangeError, or an Error with the original name. */
export function restoreError({ name, message, stack, cause, fault }: TransferredError): Error {
  const reason = cause && restoreError(cause)
  const options = reason && { cause: reason }
  let error: Error
  if (fault) error = new Fault(fault.code, fault.severity, message, fault.fix, fault.data, reason)
  else error = name === 'RangeError' ? new RangeError(message, options) : new Error(message, options)
  error.name = name
  if (stack !== undefined) error.stack = stack
  return error
}

/** Returns the fields with each value that cannot be cloned replaced by its text. */
export function sendable(fields: LogFields): LogFields {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, isPlain(value) ? value : String(value)]))
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function' && typeof value !== 'symbol'
  try {
    structuredClone(value)
    return true
  } catch {
    return false
  }
}
