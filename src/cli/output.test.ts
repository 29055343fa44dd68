import { expect, it } from 'vitest'
import { Fault } from '#lib/fault'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { logfmtLine, prettyLine } from './logLines.ts'
import { createLiveLine, fatalLine, faultLine, openLog, printResult } from './output.ts'

it('cli/output: a fault is one line with what to do and its code, whatever text of others is in it', () => {
  const fault = new Fault('BAD_FILE', 'fatal', 'a.json is not JSON: Unexpected token, "{\n  "a":\r\n\u001b[2Jx"', 'check the file', {})
  expect(faultLine(fault)).toBe('basalt: a.json is not JSON: Unexpected token, "{ "a": [2Jx". check the file (BAD_FILE)\n')
})

it('cli/output: an error that is no fault comes with its stack', () => {
  expect(faultLine(new TypeError('x is undefined'))).toMatch(/^basalt: TypeError: x is undefined\n {4}at .*output\.test\.ts/)
  expect(faultLine('a text')).toBe('basalt: a text\n')
})

it("cli/output: what ends a command is a line of the log's format, with code and fix as fields", () => {
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

it('cli/output: a fault in a line is its text and code, what to do stands beside it, in every format', () => {
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

it('cli/output: a result is one line of JSON for machines, a line for each field for people', () => {
  const io = scriptedIo()
  printResult(io, true, { block: 7, hash: '0xab', equal: true })
  printResult(io, false, { block: 7, equal: true })
  expect(io.written).toEqual({ out: '{"block":7,"hash":"0xab","equal":true}\nblock:             7\nequal:             true\n', err: '' })
})

const line = { level: 'warn', time: '2026-05-28T17:20:01.234Z', module: 'l1', msg: 'endpoint rests', host: 'a.example', ms: 500 }

it('cli/output: a log line for people has time, level, module, message, fields in order', () => {
  expect(prettyLine(JSON.stringify(line), false)).toBe('17:20:01 warn  [l1] endpoint rests host=a.example ms=500')
  expect(prettyLine(JSON.stringify(line), true)).toBe('17:20:01 \u001b[33mwarn \u001b[0m [l1] endpoint rests host=a.example ms=500')
  const { module: _, ...rest } = line
  expect(prettyLine(JSON.stringify({ ...rest, heads: { safe: 3 }, none: null }), false)).toBe(
    '17:20:01 warn  endpoint rests host=a.example ms=500 heads={"safe":3} none=null',
  )
})

it('cli/output: a log line as logfmt quotes what a reader would break at', () => {
  const odd = { ...line, empty: '', pair: 'a=b', heads: { safe: 3 }, 'a b': 1, said: 'x\ny' }
  expect(logfmtLine(JSON.stringify(odd))).toBe(
    'time=2026-05-28T17:20:01.234Z level=warn module=l1 msg="endpoint rests" host=a.example ms=500 empty="" pair="a=b" heads="{\\"safe\\":3}" a_b=1 said="x y"',
  )
})

it('cli/output: a log line stays one line and steers no terminal, whatever an endpoint said', () => {
  const hostile = { ...line, msg: 'bad\nanswer', host: 'a\r\n00:00:00 error forged\u001b[31m\u009b2J' }
  expect(prettyLine(JSON.stringify(hostile), false)).toBe('17:20:01 warn  [l1] bad answer host="a 00:00:00 error forged [31m 2J" ms=500')
})

it('cli/output: the log goes to standard error: lines for people, or as they are for machines; colours on a terminal only', () => {
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

/** What a terminal of 20 columns shows. Knows what a live line needs: return, line feed, clearing a line, wrapping on and off. */
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

it('cli/output: the live line is rewritten in place and stays the last one', () => {
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

it('cli/output: a live line longer than the terminal is cut, not left behind', () => {
  const io = scriptedIo({ isTerminal: true })
  const live = createLiveLine(io, true)
  for (const at of [1, 2, 3]) live.show(`L1 ${at}/17,000,000  L2 1/100`)
  live.above('a warning\n')
  live.show('L1 4/17,000,000  L2 1/100')
  live.end()
  live.above('wrapped as ever: this\n')
  expect(screenOf(io.written.err)).toEqual(['a warning', 'L1 4/17,000,000  L2 ', 'wrapped as ever: thi', 's', ''])
})

it('cli/output: the same text is not written twice', () => {
  const io = scriptedIo({ isTerminal: true })
  const live = createLiveLine(io, true)
  live.show('L2 1/100')
  const { err } = io.written
  live.show('L2 1/100')
  expect(io.written.err).toBe(err)
})

it('cli/output: there is no live line without a terminal, or when it is not wanted', () => {
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

it('cli/output: a live line ends when a fault leaves its command, so that the fault stands on a line of its own', () => {
  const io = scriptedIo({ isTerminal: true })
  {
    using live = createLiveLine(io, true)
    live.show('L2 1/100')
  }
  io.err.write('basalt: no\n')
  expect(screenOf(io.written.err)).toEqual(['L2 1/100', 'basalt: no', ''])
})
