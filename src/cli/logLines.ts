import type { LogFormat } from '#lib/logNames'

/** Replaces line ends and control characters by spaces: texts of files and endpoints stay in one line and cannot control a terminal. */
export const inOneLine = (text: string): string => text.replaceAll(/[\s\p{Cc}]+/gu, ' ')

const colours: Readonly<Record<string, string>> = { trace: '90', debug: '36', info: '32', warn: '33', error: '31' }

/** Shows an error as its message and code; the JSON format has its stack and causes. */
function shownValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  if ('message' in value && ('stack' in value || 'fix' in value)) {
    return `${String(value.message)}${'code' in value ? ` (${String(value.code)})` : ''}`
  }
  return JSON.stringify(value)
}

/** Adds a field `fix` with the remedy after a field that holds a fault. */
function withFixes(fields: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
    const hasFix = typeof value === 'object' && value !== null && 'fix' in value && !('fix' in fields)
    return hasFix
      ? [
          [name, value],
          ['fix', value.fix],
        ]
      : [[name, value]]
  })
}

/** Quotes an empty text and a text with blanks, so that its end is visible. */
function prettyValue(value: unknown): string {
  const text = inOneLine(shownValue(value))
  return typeof value === 'object' && text.startsWith('{') ? text : /^[^\s"]+$/.test(text) ? text : JSON.stringify(text)
}

/** Formats a JSON log line for people: `12:04:36 info  block imported number=7 txs=3`. */
export function prettyLine(json: string, coloured: boolean): string {
  const { level, time, msg, module, ...fields } = JSON.parse(json) as Record<string, unknown>
  const label = String(level).padEnd(5)
  const paint = (text: string): string => (coloured ? `\u001b[${colours[String(level)] ?? '0'}m${text}\u001b[0m` : text)
  const shown = withFixes(fields).map(([name, value]) => `${name}=${prettyValue(value)}`)
  const from = module === undefined ? [] : [`[${String(module)}]`]
  return [String(time).slice(11, 19), paint(label), ...from, inOneLine(String(msg)), ...shown].join(' ')
}

/** Quotes empty values and values with blanks, quotes or `=`. */
function logfmtValue(value: unknown): string {
  const text = inOneLine(shownValue(value))
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text)
}

/** Formats a JSON log line as logfmt: `time=2026-11-21T12:04:36.000Z level=info msg="block imported" number=7`. */
export function logfmtLine(json: string): string {
  const { level, time, msg, module, ...fields } = JSON.parse(json) as Record<string, unknown>
  const from = module === undefined ? {} : { module }
  return withFixes({ time, level, ...from, msg, ...fields })
    .map(([name, value]) => `${name.replaceAll(/[\s"=]/g, '_')}=${logfmtValue(value)}`)
    .join(' ')
}

/** Returns a function that turns a JSON line, its end included, into a line of the format. */
export function lineOf(format: LogFormat, isTerminal: boolean): (json: string) => string {
  switch (format) {
    case 'json':
      return (json) => json
    case 'logfmt':
      return (json) => `${logfmtLine(json)}\n`
    case 'pretty':
      return (json) => `${prettyLine(json, isTerminal)}\n`
  }
}
