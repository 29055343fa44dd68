import { expect, it } from 'vitest'
import { Fault } from '#lib/fault'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { logfmtLine, prettyLine } from './logLines.ts'
import { fatalLine, openLog } from './logOutput.ts'
import { createLiveLine, faultLine, printResult } from './output.ts'

it('cli/output: writes a fault as one line with remedy and code, whatever foreign text it contains', () => {
  const fault = new Fault('BAD_FILE', 'fatal', 'a.json is not JSON: Unexpected token, "{\n  "a":\r\n\u001b[2Jx"', 'check the file', {})
  expect(faultLine(fault)).toBe('basalt: a.json is not JSON: Unexpected token, "{ "a": [2Jx". check the file (BAD_FILE)\n')
})

it('cli/output: writes any other error with its stack', () => {
  expect(faultLine(new TypeError('x is undefined'))).toMatch(/^basalt: TypeError: x is undefined\n {4}at .*output\.test\.ts/)
  expect(faultLine('a text')).toBe('basalt: a text\n')
})

it("cli/output: writes the error that ends a command in the log's format, with code and fix as fields", () => {
  const fault = new Fault('BAD_FILE', 'fatal', 'a.json is\nnot JSON', 'check the file', {})
  expect(fatalLine(fault, 'pretty')).toBe(faultLine(fault))
  const { time, ...fields } = JSON.parse(fatalLine(fault, 'json')) as { time: string }
  expect(new Date(time).toISOString()).toBe(time)
  expect(fields).toEqual({ level: 'error', msg: 'a.json is\nnot JSON', code: 'BAD_FILE', fix: 'check the file' })
  expect(fatalLine(fault, 'logfmt')).toMatch(/^time=\S+ level=error msg="a.json is not JSON" code=BAD_FILE fix="check the file"\n$/)
  expect(JSON.parse(fatalLine(new TypeError('x is undefined'), 'json'))).toMatchObject({
    level: 'error',
    error: { type: 'TypeError', message: 'x is undefined', stack: expect.stringContaining('output.test.ts') },
  })
})

it('cli/output: writes a fault in a log line as text and code, with the remedy in a field fix, in every format', () => {
  const error = new Fault('L1_DOWN', 'retry', 'a.example does not answer', 'check that it runs', {})
  const shown = (format: 'pretty' | 'logfmt', fields: Record<string, unknown>): string => {
    const io = scriptedIo()
    openLog(io, 'info', format, createLiveLine(io, false)).warn('failed', fields)
    return io.written.err
  }
  expect(shown('pretty', { error })).toMatch(/failed error="a\.example does not answer \(L1_DOWN\)" fix="check that it runs"\n$/)
  expect(shown('logfmt', { error })).toMatch(/msg=failed error="a\.example does not answer \(L1_DOWN\)" fix="check that it runs"\n$/)
  expect(shown('pretty', { error, fix: 'mine' })).toMatch(/\(L1_DOWN\)" fix=mine\n$/)
})

it('cli/output: prints a result as one line of JSON, or as a line for each field', () => {
  const io = scriptedIo()
  printResult(io, true, { block: 7, hash: '0xab', equal: true })
  printResult(io, false, { block: 7, equal: true })
  expect(io.written).toEqual({ out: '{"block":7,"hash":"0xab","equal":true}\nblock:             7\nequal:             true\n', err: '' })
})

const line = { level: 'warn', time: '2026-05-28T17:20:01.234Z', module: 'l1', msg: 'endpoint rests', host: 'a.example', ms: 500 }

it('cli/output: formats a pretty log line as time, level, module, message, fields in order', () => {
  expect(prettyLine(JSON.stringify(line), false)).toBe('17:20:01 warn  [l1] endpoint rests host=a.example ms=500')
  expect(prettyLine(JSON.stringify(line), true)).toBe('17:20:01 \u001b[33mwarn \u001b[0m [l1] endpoint rests host=a.example ms=500')
  const { module: _, ...rest } = line
  expect(prettyLine(JSON.stringify({ ...rest, heads: { safe: 3 }, none: null }), false)).toBe(
    '17:20:01 warn  endpoint rests host=a.example ms=500 heads={"safe":3} none=null',
  )
})

it('cli/output: quotes logfmt values with blanks, quotes or =', () => {
  const odd = { ...line, empty: '', pair: 'a=b', heads: { safe: 3 }, 'a b': 1, said: 'x\ny' }
  expect(logfmtLine(JSON.stringify(odd))).toBe(
    'time=2026-05-28T17:20:01.234Z level=warn module=l1 msg="endpoint rests" host=a.example ms=500 empty="" pair="a=b" heads="{\\"safe\\":3}" a_b=1 said="x y"',
  )
})

it('cli/output: keeps a log line to one line without control characters, whatever text an endpoint sent', () => {
  const hostile = { ...line, msg: 'bad\nanswer', host: 'a\r\n00:00:00 error forged\u001b[31m\u009b2J' }
  expect(prettyLine(JSON.stringify(hostile), false)).toBe('17:20:01 warn  [l1] bad answer host="a 00:00:00 error forged [31m 2J" ms=500')
})

it('cli/output: writes the log to standard error, pretty or as JSON, with colours on a terminal only', () => {
  for (const [format, isTerminal, expected] of [
    ['pretty', false, /^\d\d:\d\d:\d\d info {2}block imported number=7\n$/],
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
    ['pretty', true, /^\d\d:\d\d:\d\d \u001b\[32minfo \u001b\[0m block imported number=7\n$/],
    ['json', true, /^\{"level":"info","time":"[^"]+","number":7,"msg":"block imported"\}\n$/],
  ] as const) {
    const io = scriptedIo({ isTerminal })
    const log = openLog(io, 'info', format, createLiveLine(io, false))
    log.debug('not asked for')
    log.info('block imported', { number: 7 })
    expect(io.written.err).toMatch(expected)
    expect(io.written.out).toBe('')
  }
})

/** Returns the screen of a terminal with 20 columns. Interprets return, line feed, clear line, wrapping on and off. */
function screenOf(text: string): string[] {
  const rows = ['']
  let [column, wraps] = [0, true]
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal
  for (const [token] of text.matchAll(/\u001b\[2K|\u001b\[\?7[lh]|[\s\S]/g)) {
    const row = rows.at(-1) ?? ''
    if (token === '\r') column = 0
    else if (token === '\n') column = rows.push('') * 0
    else if (token === '\u001b[2K') rows[rows.length - 1] = ''
    else if (token.startsWith('\u001b[?7')) wraps = token.endsWith('h')
    else if (column < 20) rows[rows.length - 1] = row.slice(0, column).padEnd(column++) + token
    else if (wraps) column = rows.push(token) && 1
  }
  return rows
}

it('cli/output: rewrites the live line in place and keeps it last', () => {
  const io = scriptedIo({ isTerminal: true })
  const live = createLiveLine(io, true)
  live.above('first\n')
  live.show('L2 1/100')
  live.show('L2 50/100')
  live.above('a warning\n')
  live.above('another\n')
  live.show('L2 9/100')
  expect(screenOf(io.written.err)).toEqual(['first', 'a warning', 'another', 'L2 9/100'])
  live.end()
  live.end()
  live.above('the end\n')
  expect(screenOf(io.written.err)).toEqual(['first', 'a warning', 'another', 'L2 9/100', 'the end', ''])
})

it('cli/output: cuts a live line that is longer than the terminal', () => {
  const io = scriptedIo({ isTerminal: true })
  const live = createLiveLine(io, true)
  for (const at of [1, 2, 3]) live.show(`L1 ${at}/17,000,000  L2 1/100`)
  live.above('a warning\n')
  live.show('L1 4/17,000,000  L2 1/100')
  live.end()
  live.above('wrapped as ever: this\n')
  expect(screenOf(io.written.err)).toEqual(['a warning', 'L1 4/17,000,000  L2 ', 'wrapped as ever: thi', 's', ''])
})

it('cli/output: does not write the same text twice', () => {
  const io = scriptedIo({ isTerminal: true })
  const live = createLiveLine(io, true)
  live.show('L2 1/100')
  const { err } = io.written
  live.show('L2 1/100')
  expect(io.written.err).toBe(err)
})

it('cli/output: writes no live line without a terminal, or when it is disabled', () => {
  for (const [isTerminal, isWanted] of [
    [false, true],
    [true, false],
  ] as const) {
    const io = scriptedIo({ isTerminal })
    const live = createLiveLine(io, isWanted)
    live.show('L2 1/100')
    live.above('a line\n')
    live.end()
    expect(io.written.err).toBe('a line\n')
  }
})

it('cli/output: ends the live line when a fault leaves its command, so the fault has its own line', () => {
  const io = scriptedIo({ isTerminal: true })
  {
    using live = createLiveLine(io, true)
    live.show('L2 1/100')
  }
  io.err.write('basalt: no\n')
  expect(screenOf(io.written.err)).toEqual(['L2 1/100', 'basalt: no', ''])
})
