import type { LogFormat } from '#lib/log'

/** Line ends and control characters become spaces: texts of files and endpoints stand in one line, and steer no terminal. */
export const inOneLine = (text: string): string => text.replaceAll(/[\s\p{Cc}]+/gu, ' ')

const colours: Readonly<Record<string, string>> = { trace: '90', debug: '36', info: '32', warn: '33', error: '31' }

/** An error is what it says; its stack and causes are in the JSON format. */
function shownValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  if ('message' in value && ('stack' in value || 'fix' in value)) {
    return `${String(value.message)}${'code' in value ? ` (${String(value.code)})` : ''}`
  }
  return JSON.stringify(value)
}

/** What to do about an error stands beside it, in a field of its own. */
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

/** A text with blanks in it, or with nothing, is quoted, so that it is seen where it ends. */
function prettyValue(value: unknown): string {
  const text = inOneLine(shownValue(value))
  return typeof value === 'object' && text.startsWith('{') ? text : /^[^\s"]+$/.test(text) ? text : JSON.stringify(text)
}

/** `12:04:36 info  block imported number=7 txs=3`: a JSON log line for people. */
export function prettyLine(json: string, coloured: boolean): string {
  const { level, time, msg, module, ...fields } = JSON.parse(json) as Record<string, unknown>
  const label = String(level).padEnd(5)
  const paint = (text: string): string => (coloured ? `\u001b[${colours[String(level)] ?? '0'}m${text}\u001b[0m` : text)
  const shown = withFixes(fields).map(([name, value]) => `${name}=${prettyValue(value)}`)
  const from = module === undefined ? [] : [`[${String(module)}]`]
  return [String(time).slice(11, 19), paint(label), ...from, inOneLine(String(msg)), ...shown].join(' ')
}

/** Values with blanks, quotes, `=` or nothing in them are quoted. */
function logfmtValue(value: unknown): string {
  const text = inOneLine(shownValue(value))
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text)
}

/** `time=2026-11-21T12:04:36.000Z level=info msg="block imported" number=7`: a JSON log line as logfmt. */
export function logfmtLine(json: string): string {
  const { level, time, msg, module, ...fields } = JSON.parse(json) as Record<string, unknown>
  const from = module === undefined ? {} : { module }
  return withFixes({ time, level, ...from, msg, ...fields })
    .map(([name, value]) => `${name.replaceAll(/[\s"=]/g, '_')}=${logfmtValue(value)}`)
    .join(' ')
}

/** Turns a JSON line, its end included, into a line of the format. */
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
