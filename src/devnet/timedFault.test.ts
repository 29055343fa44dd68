import { expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import { createTimedFault } from './timedFault.ts'

function world() {
  const clock = createManualClock()
  const said: string[] = []
  const say = (what: string) => async () => void said.push(`${what} ${clock.elapsedMs()}`)
  return { clock, said, timedFault: createTimedFault(clock, { begin: say('begin'), end: say('end') }) }
}

it('devnet/timedFault: ends by itself', async () => {
  const { clock, said, timedFault } = world()
  await timedFault.begin(3)
  expect(timedFault.isOn).toBe(true)
  await clock.advanceMs(10_000)
  expect(said).toEqual(['begin 0', 'end 3000'])
  expect(timedFault.isOn).toBe(false)
})

it('devnet/timedFault: another begin extends it, never shortens it', async () => {
  const { clock, said, timedFault } = world()
  await timedFault.begin(5)
  await clock.advanceMs(1_000)
  await Promise.all([timedFault.begin(1), timedFault.begin(7)])
  await clock.advanceMs(20_000)
  expect(said).toEqual(['begin 0', 'end 8000'])
})

it('devnet/timedFault: can be ended early, ended twice, and begun again', async () => {
  const { clock, said, timedFault } = world()
  await timedFault.begin(5)
  await clock.advanceMs(1_000)
  await timedFault.end()
  await timedFault.end()
  await timedFault.begin(1)
  await clock.advanceMs(10_000)
  await timedFault[Symbol.asyncDispose]()
  expect(said).toEqual(['begin 0', 'end 1000', 'begin 1000', 'end 2000'])
  expect(clock.waiting).toBe(0)
})

it('devnet/timedFault: is inactive when it could not begin', async () => {
  const clock = createManualClock()
  const timedFault = createTimedFault(clock, {
    begin: () => Promise.reject(new Error('no')),
    end: () => Promise.reject(new Error('never')),
  })
  await expect(timedFault.begin(5)).rejects.toThrow('no')
  expect(timedFault.isOn).toBe(false)
  await clock.advanceMs(10_000)
})
