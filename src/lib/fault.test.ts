import { expect, it } from 'vitest'
import { defineFaults, Fault, isFault } from './fault.ts'

const fault = defineFaults({
  BLOB_UNAVAILABLE: { severity: 'retry', says: (d: { slot: number }) => `no endpoint has slot ${d.slot}`, fix: 'add an endpoint' },
})

it('lib/fault: carries code, severity, text, data, fix and cause', () => {
  const cause = new Error('404')
  const error = fault('BLOB_UNAVAILABLE', { slot: 7 }, cause)
  expect(error).toMatchObject({ code: 'BLOB_UNAVAILABLE', severity: 'retry', message: 'no endpoint has slot 7', data: { slot: 7 }, cause })
  expect(error.fix).toBe('add an endpoint')
  expect(isFault(error, 'BLOB_UNAVAILABLE')).toBe(true)
  expect(isFault(error, 'OTHER')).toBe(false)
  expect(isFault(cause)).toBe(false)
  expect(error).toBeInstanceOf(Fault)
})
