import { isFault } from '#lib/fault'
import { createLog, type Log, type LogLevel } from '#lib/log'
import type { Io } from './command.ts'

/** Line ends and control characters become spaces: texts of files and endpoints stand in one line, and steer no terminal. */
const inOneLine = (text: string): string => text.replaceAll(/[\s\p{Cc}]+/gu, ' ')

/** One line that names what is wrong and what to do; of an error that is no fault, all there is. */
export function faultLine(error: unknown): string {
  if (isFault(error)) return `basalt: ${inOneLine(error.message)}. ${error.fix} (${error.code})\n`
  return `basalt: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`
}

/** A result: for people as lines `name: value`, for machines as one line of JSON. */
export function printResult(io: Io, asJson: boolean, fields: Readonly<Record<string, string | number | boolean>>): void {
  if (asJson) io.out.write(`${JSON.stringify(fields)}\n`)
  else for (const [name, value] of Object.entries(fields)) io.out.write(`${`${name}:`.padEnd(18)} ${value}\n`)
}

const colours: Readonly<Record<string, string>> = { trace: '90', debug: '36', info: '32', warn: '33', error: '31' }

/** An error is what it says; its stack and causes are in the JSON format. */
function shownValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  if ('message' in value && 'stack' in value) return `${String(value.message)}${'code' in value ? ` (${String(value.code)})` : ''}`
  return JSON.stringify(value)
}

/** `12:04:36 info  block imported number=7 txs=3`: a JSON log line for people. */
export function prettyLine(json: string, coloured: boolean): string {
  const { level, time, msg, module, ...fields } = JSON.parse(json) as Record<string, unknown>
  const label = String(level).padEnd(5)
  const paint = (text: string): string => (coloured ? `\u001b[${colours[String(level)] ?? '0'}m${text}\u001b[0m` : text)
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${inOneLine(shownValue(value))}`)
  const from = module === undefined ? [] : [`[${String(module)}]`]
  return [String(time).slice(11, 19), paint(label), ...from, inOneLine(String(msg)), ...shown].join(' ')
}

/** A log on standard error; the live line, when there is one, stays the last line of the terminal. */
export function openLog(io: Io, level: LogLevel, format: 'pretty' | 'json', line: LiveLine): Log {
  return createLog(level, {
    write: (json) => line.above(format === 'json' ? json : `${prettyLine(json, io.err.isTerminal)}\n`),
  })
}

/** The last line of a terminal, rewritten in place; nothing of it where there is no terminal. Disposing of it ends it. */
export interface LiveLine extends Disposable {
  show(text: string): void
  /** A whole line, its end included, that stays above. */
  above(text: string): void
  /** The line stays as it is; what is written next stands below it. */
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
