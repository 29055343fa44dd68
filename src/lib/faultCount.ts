import { isFault } from './fault.ts'
import { type Log, type LogFields, logTo } from './log.ts'
import type { LogLevel } from './logNames.ts'

/** Returns the fault code in a line's fields: the code of a Fault, or the `code` field itself. */
function codeIn(fields: LogFields | undefined): string | undefined {
  for (const value of [fields?.['error'], fields?.['fault'], fields?.['cause']]) if (isFault(value)) return value.code
  const code = fields?.['code']
  return typeof code === 'string' ? code : undefined
}

/** Wraps a log so that the fault code of each warn and error line is counted, also when the level suppresses the line. */
export function countingFaults(log: Log, count: (code: string) => void): Log {
  const write = (level: LogLevel, message: string, fields?: LogFields): void => {
    const code = level === 'warn' || level === 'error' ? codeIn(fields) : undefined
    if (code !== undefined) count(code)
    log[level](message, fields)
  }
  return logTo(write, (module) => countingFaults(log.child(module), count))
}
