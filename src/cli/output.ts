import { isFault } from '#lib/fault'
import type { Io } from './command.ts'
import { inOneLine } from './logLines.ts'

/** Formats a fault as one line: problem, remedy, code. Any other error is written with its stack. */
export function faultLine(error: unknown): string {
  if (isFault(error)) return `basalt: ${inOneLine(error.message)}. ${error.fix} (${error.code})\n`
  return `basalt: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`
}

/** Prints a result as lines `name: value`, or as one line of JSON. */
export function printResult(io: Io, asJson: boolean, fields: Readonly<Record<string, string | number | boolean>>): void {
  if (asJson) io.out.write(`${JSON.stringify(fields)}\n`)
  else for (const [name, value] of Object.entries(fields)) io.out.write(`${`${name}:`.padEnd(18)} ${value}\n`)
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
