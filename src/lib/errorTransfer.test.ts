import { expect, it } from 'vitest'
import { engineFault } from '#engine/faults'
import { zeroHash } from '#types/ids'
import { restoreError, transferError } from './errorTransfer.ts'
import { Fault } from './fault.ts'

const across = (error: unknown): Error => restoreError(structuredClone(transferError(error)))

it('lib/errorTransfer: a fault crosses to another thread with code, data and causes', () => {
  const cause = new RangeError('too large', { cause: new Error('deep') })
  const fault = engineFault('UNKNOWN_PARENT', { hash: zeroHash, number: 7 }, cause)
  const there = across(fault)
  expect(there).toBeInstanceOf(Fault)
  const { code, severity, message, fix, data, stack } = fault
  expect(there).toMatchObject({ name: 'Fault', code, severity, message, fix, data, stack })
  expect(there.cause).toBeInstanceOf(RangeError)
  expect(there.cause).toMatchObject({ message: 'too large', cause: { message: 'deep' } })
})

it('lib/errorTransfer: unexpected errors cross too: thrown texts, cyclic causes, data that cannot be cloned', () => {
  expect(across(new TypeError('x is not a function'))).toMatchObject({ name: 'TypeError', message: 'x is not a function' })
  expect(across('just text')).toMatchObject({ name: 'Error', message: 'just text' })
  expect(across(undefined).message).toBe('undefined')

  const circular = new Error('again')
  circular.cause = circular
  expect(across(circular)).toMatchObject({ message: 'again', cause: { message: 'again' } })

  const odd = new Fault('ODD', 'retry', 'odd', 'none', { run: () => 1, ok: 5n, list: [() => 2] })
  expect(across(odd)).toMatchObject({ code: 'ODD', data: { ok: 5n, run: expect.stringContaining('=>') } })
})
