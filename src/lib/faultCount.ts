import { isFault } from './fault.ts'
import type { Log, LogFields } from './log.ts'

/** Returns the fault code in a line's fields: the code of a Fault, or the `code` field itself. */
function codeIn(fields: LogFields | undefined): string | undefined {
  for (const value of [fields?.['error'], fields?.['fault'], fields?.['cause']]) if (isFault(value)) return value.code
  const code = fields?.['code']
  return typeof code === 'string' ? code : undefined
}

/** Wraps a log so that the fault code of each warn and error line is counted, also when the level suppresses the line. */
export function countingFaults(log: Log, count: (code: string) => void): Log {
  const counted =
    (level: 'warn' | 'error') =>
    (message: string, fields?: LogFields): void => {
      const code = codeIn(fields)
      if (code !== undefined) count(code)
      log[level](message, fields)
    }
  return {
    trace: (message, fields) => log.trace(message, fields),
    debug: (message, fields) => log.debug(message, fields),
    info: (message, fields) => log.info(message, fields),
    warn: counted('warn'),
    error: counted('error'),
    child: (module) => countingFaults(log.child(module), count),
  }
}
