import { expect, it } from 'vitest'
import { Turns } from './slicedRun.ts'

it('simulation/slicedRun: one run has the turn at a time, in the order of their first question, and a free run always has it', () => {
  const turns = new Turns()
  let isFree = false
  const [first, second, third] = [turns.add(() => false), turns.add(() => isFree), turns.add(() => false)]
  const now = (): boolean[] => [first, second, third].map((turn) => turn.isNow())
  expect([third.isNow(), ...now()]).toEqual([true, false, false, true])
  third.leave()
  expect([first, second].map((turn) => turn.isNow())).toEqual([true, false])
  isFree = true
  expect(now()).toEqual([true, true, false])
  first.leave()
  isFree = false
  expect([second.isNow(), third.isNow()]).toEqual([true, false])
  second.leave()
  expect(third.isNow()).toBe(true)
})
