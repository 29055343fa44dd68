import { expect, it } from 'vitest'
import { defineFaults } from './fault.ts'
import { createLog, type Log } from './log.ts'
import { type LogLevel, logLevels } from './logNames.ts'

const fault = defineFaults({ TEST_LATE: { severity: 'retry', says: (d: { slot: number }) => `slot ${d.slot} is late`, fix: 'wait' } })

function logTo(level: LogLevel): { log: Log; lines: () => Record<string, unknown>[] } {
  const written: string[] = []
  return { log: createLog(level, { write: (line) => void written.push(line) }), lines: () => written.map((line) => JSON.parse(line)) }
}

it('lib/log: writes one JSON line with level name, ISO time, message and fields, without process or host', () => {
  const written: string[] = []
  createLog('info', { write: (line) => void written.push(line) }).info('block imported', { number: 7, gas: 2n ** 64n })
  expect(written).toHaveLength(1)
  expect(written[0]).toMatch(/^\{.*\}\n$/)
  expect(written[0]).toContain('"gas":18446744073709551616')
  const { time, ...rest } = JSON.parse(written[0] ?? '') as { time: string }
  expect(new Date(time).toISOString()).toBe(time)
  expect(rest).toMatchObject({ level: 'info', msg: 'block imported', number: 7 })
  expect(Object.keys(rest).sort()).toEqual(['gas', 'level', 'msg', 'number'])
})

it.each(logLevels)('lib/log: at level %s writes no less severe lines', (level) => {
  const { log, lines } = logTo(level)
  for (const each of logLevels) log[each]('said')
  expect(lines().map((line) => line['level'])).toEqual(logLevels.slice(logLevels.indexOf(level)))
})

it('lib/log: setLevel takes effect at once, also for children', () => {
  const written: string[] = []
  const log = createLog('warn', { write: (line) => void written.push((JSON.parse(line) as { msg: string }).msg) })
  const child = log.child('l1').child('http')
  child.info('unheard')
  log.setLevel('debug')
  expect(log.level()).toBe('debug')
  child.debug('heard')
  log.setLevel('error')
  child.warn('unheard again')
  expect(written).toEqual(['heard'])
})

it('lib/log: the level of a module overrides that of the log, for all its children, until it follows the log again', () => {
  const written: string[] = []
  const log = createLog('warn', { write: (line) => void written.push((JSON.parse(line) as { msg: string }).msg) })
  const [early, other] = [log.child('p2p'), log.child('rpc')]
  expect(log.setModuleLevel('p2p', 'debug')).toBe(true)
  expect(log.setModuleLevel('nothing', 'debug')).toBe(false)
  early.debug('early')
  log.child('p2p').debug('later')
  other.info('unheard')
  log.setLevel('error')
  early.debug('still')
  other.warn('unheard')
  expect(log.levels()).toEqual({ level: 'error', modules: { p2p: 'debug', rpc: null } })
  expect(log.setModuleLevel('p2p', undefined)).toBe(true)
  early.warn('unheard')
  expect(written).toEqual(['early', 'later', 'still'])
})

it("lib/log: a child writes its module's name on each line, the parent does not", () => {
  const { log, lines } = logTo('info')
  log.child('l1').warn('endpoint rests', { ms: 500 })
  log.info('started')
  expect(lines()).toMatchObject([{ module: 'l1', ms: 500 }, { msg: 'started' }])
  expect(lines()[1]).not.toHaveProperty('module')
})

it('lib/log: the child of a child writes one module, its own', () => {
  const written: string[] = []
  const log = createLog('info', { write: (line) => void written.push(line) })
  log.child('node').child('health').info('listens')
  expect(written.map((line) => line.match(/"module":"\w+"/g))).toEqual([['"module":"health"']])
})

it('lib/log: writes a fault as message, code and fix, without a stack', () => {
  const { log, lines } = logTo('error')
  log.error('request failed', { error: fault('TEST_LATE', { slot: 9 }, new TypeError('fetch failed')) })
  log.error('request failed', { error: fault('TEST_LATE', { slot: 9 }, new TypeError('late')) })
  expect(lines().map(({ error }) => error)).toEqual([
    { message: 'slot 9 is late', code: 'TEST_LATE', fix: 'wait', cause: 'fetch failed' },
    { message: 'slot 9 is late', code: 'TEST_LATE', fix: 'wait' },
  ])
})

it('lib/log: writes any other error with text, stack and cause', () => {
  const { log, lines } = logTo('error')
  log.error('request failed', { error: new TypeError('no such field', { cause: new Error('why') }) })
  const error = lines()[0]?.['error'] as Record<string, unknown>
  expect(error).toMatchObject({ type: 'TypeError', message: 'no such field', cause: { message: 'why' } })
  expect(String(error['stack'])).toContain('log.test.ts')
})
