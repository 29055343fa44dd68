import { expect, it } from 'vitest'
import { defineFaults } from './fault.ts'
import { countingFaults } from './faultCount.ts'
import { createLog } from './log.ts'

const fault = defineFaults({ TEST_LATE: { severity: 'retry', says: () => 'late', fix: 'wait' } })

it('lib/faultCount: counts the fault code of each warn and error line, also below the log level, and leaves the line unchanged', () => {
  const codes: string[] = []
  const lines: string[] = []
  const log = countingFaults(createLog('error', { write: (line) => void lines.push(line) }), (code) => void codes.push(code))
  log.warn('failed', { error: fault('TEST_LATE', {}) })
  log.child('l1').error('endpoint failed', { code: 'L1_WRONG', fix: 'x' })
  log.error('failed', { error: new Error('no fault') })
  log.error('failed')
  log.info('told', { error: fault('TEST_LATE', {}) })
  expect(codes).toEqual(['TEST_LATE', 'L1_WRONG'])
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { module: 'l1', msg: 'endpoint failed', code: 'L1_WRONG' },
    { msg: 'failed', error: { message: 'no fault' } },
    { msg: 'failed' },
  ])
})
