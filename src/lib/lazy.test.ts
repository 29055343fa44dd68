import { expect, it } from 'vitest'
import { lazy } from './lazy.ts'

it('lib/lazy: makes the value once, on the first call, also when it is undefined', () => {
  let made = 0
  const value = lazy(() => {
    made++
    return undefined
  })
  expect(made).toBe(0)
  expect([value(), value()]).toEqual([undefined, undefined])
  expect(made).toBe(1)
})

it('lib/lazy: calls make again after it threw', () => {
  let tries = 0
  const value = lazy(() => {
    if (++tries === 1) throw new Error('not yet')
    return tries
  })
  expect(value).toThrow('not yet')
  expect(value()).toBe(2)
})
