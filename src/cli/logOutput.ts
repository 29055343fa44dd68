import { isFault } from '#lib/fault'
import { createLog, type RootLog } from '#lib/log'
import type { LogFormat, LogLevel } from '#lib/logNames'
import type { Io } from './command.ts'
import { lineOf } from './logLines.ts'
import { faultLine, type LiveLine } from './output.ts'

/** Formats the error that ends a command as a line of the log's format; `pretty` is `faultLine`. */
export function fatalLine(error: unknown, format: LogFormat): string {
  if (format === 'pretty') return faultLine(error)
  const show = lineOf(format, false)
  let text = ''
  const log = createLog('error', {
    write: (json) => {
      text += show(json)
    },
  })
  if (isFault(error)) log.error(error.message, { code: error.code, fix: error.fix })
  else log.error('internal error', { error: error instanceof Error ? error : String(error) })
  return text
}

/** Opens a log on standard error; the live line, if any, stays the last line of the terminal. */
export function openLog(io: Io, level: LogLevel, format: LogFormat, line: LiveLine): RootLog {
  const show = lineOf(format, io.err.isTerminal)
  return createLog(level, { write: (json) => line.above(show(json)) })
}
