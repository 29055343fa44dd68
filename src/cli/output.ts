import { isFault } from '#lib/fault'
import { createLog, type LogFormat, type LogLevel, type RootLog } from '#lib/log'
import type { Io } from './command.ts'
import { inOneLine, lineOf } from './logLines.ts'

/** Formats a fault as one line: problem, remedy, code. Any other error is written with its stack. */
export function faultLine(error: unknown): string {
  if (isFault(error)) return `basalt: ${inOneLine(error.message)}. ${error.fix} (${error.code})\n`
  return `basalt: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`
}

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

/** Prints a result as lines `name: value`, or as one line of JSON. */
export function printResult(io: Io, asJson: boolean, fields: Readonly<Record<string, string | number | boolean>>): void {
  if (asJson) io.out.write(`${JSON.stringify(fields)}\n`)
  else for (const [name, value] of Object.entries(fields)) io.out.write(`${`${name}:`.padEnd(18)} ${value}\n`)
}

/** Opens a log on standard error; the live line, if any, stays the last line of the terminal. */
export function openLog(io: Io, level: LogLevel, format: LogFormat, line: LiveLine): RootLog {
  const show = lineOf(format, io.err.isTerminal)
  return createLog(level, { write: (json) => line.above(show(json)) })
}

/** The last line of a terminal, rewritten in place; without a terminal it is not written. Disposing of it ends it. */
export interface LiveLine extends Disposable {
  show(text: string): void
  /** Writes a whole line, its end included, above the live line. */
  above(text: string): void
  /** Leaves the line as it is; later output is below it. */
  end(): void
}

const clearLine = '\r\u001b[2K'
/** Cut at the edge of the terminal: a line that wraps cannot be rewritten. */
const unwrapped = (text: string): string => `\u001b[?7l${text}\u001b[?7h`

export function createLiveLine(io: Io, enabled: boolean): LiveLine {
  const isLive = enabled && io.err.isTerminal
  let shown = ''
  const end = (): void => {
    if (shown !== '') io.err.write('\n')
    shown = ''
  }
  return {
    show(text: string): void {
      if (!isLive || text === shown) return
      shown = text
      io.err.write(`${clearLine}${unwrapped(text)}`)
    },
    above(text: string): void {
      io.err.write(shown === '' ? text : `${clearLine}${text}${unwrapped(shown)}`)
    },
    end,
    [Symbol.dispose]: end,
  }
}
