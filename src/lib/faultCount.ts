import { isFault } from './fault.ts'
import type { Log, LogFields } from './log.ts'

/** The code that a line is about: of the fault in it, or as such. */
function codeIn(fields: LogFields | undefined): string | undefined {
  for (const value of [fields?.['error'], fields?.['fault'], fields?.['cause']]) if (isFault(value)) return value.code
  const code = fields?.['code']
  return typeof code === 'string' ? code : undefined
}

/** The same log; of each line that tells of a fault, at warn or error, the code is counted, whether the line is written or not. */
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
