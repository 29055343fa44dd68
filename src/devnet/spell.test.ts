import { expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import { createSpell } from './spell.ts'

function world() {
  const clock = createManualClock()
  const said: string[] = []
  const say = (what: string) => async () => void said.push(`${what} ${clock.elapsedMs()}`)
  return { clock, said, spell: createSpell(clock, { begin: say('begin'), end: say('end') }) }
}

it('devnet/spell: ends by itself', async () => {
  const { clock, said, spell } = world()
  await spell.begin(3)
  expect(spell.isOn).toBe(true)
  await clock.advanceMs(10_000)
  expect(said).toEqual(['begin 0', 'end 3000'])
  expect(spell.isOn).toBe(false)
})

it('devnet/spell: another begin extends it, never shortens it', async () => {
  const { clock, said, spell } = world()
  await spell.begin(5)
  await clock.advanceMs(1_000)
  await Promise.all([spell.begin(1), spell.begin(7)])
  await clock.advanceMs(20_000)
  expect(said).toEqual(['begin 0', 'end 8000'])
})

it('devnet/spell: can be ended early, ended twice, and begun again', async () => {
  const { clock, said, spell } = world()
  await spell.begin(5)
  await clock.advanceMs(1_000)
  await spell.end()
  await spell.end()
  await spell.begin(1)
  await clock.advanceMs(10_000)
  await spell[Symbol.asyncDispose]()
  expect(said).toEqual(['begin 0', 'end 1000', 'begin 1000', 'end 2000'])
  expect(clock.waiting).toBe(0)
})

it('devnet/spell: is inactive when it could not begin', async () => {
  const clock = createManualClock()
  const spell = createSpell(clock, { begin: () => Promise.reject(new Error('no')), end: () => Promise.reject(new Error('never')) })
  await expect(spell.begin(5)).rejects.toThrow('no')
  expect(spell.isOn).toBe(false)
  await clock.advanceMs(10_000)
})
