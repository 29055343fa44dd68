import { expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import { createMemoryGuard, type MemoryLevel, nextLevel, unboundedMemory } from './memoryGuard.ts'

it.each<[MemoryLevel, number, MemoryLevel]>([
  ['normal', 0.79, 'normal'],
  ['normal', 0.8, 'high'],
  ['normal', 0.95, 'full'],
  ['high', 0.75, 'high'],
  ['high', 0.71, 'normal'],
  ['high', 0.9, 'full'],
  ['full', 0.86, 'full'],
  ['full', 0.84, 'high'],
  ['full', 0.5, 'normal'],
])('lib/memoryGuard: from %s at %f of the bound the level is %s', (now, share, next) => {
  expect(nextLevel(now, share)).toBe(next)
})

it('lib/memoryGuard: reports each new level once, then collects every two seconds until memory is normal', async () => {
  const clock = createManualClock()
  let bytes = 700
  const events: string[] = []
  using guard = createMemoryGuard({ clock, measure: () => bytes, collect: () => void events.push('collect') }, 1_000)
  guard.onChange((level) => void events.push(level))
  await clock.advanceMs(1_000)
  expect([guard.level(), events]).toEqual(['normal', []])
  bytes = 810
  await clock.advanceMs(100)
  expect([guard.level(), events]).toEqual(['high', ['high', 'collect']])
  bytes = 950
  await clock.advanceMs(1_900)
  expect(events).toEqual(['high', 'collect', 'full'])
  await clock.advanceMs(100)
  bytes = 100
  await clock.advanceMs(10_000)
  expect([guard.level(), events]).toEqual(['normal', ['high', 'collect', 'full', 'collect', 'normal']])
})

it('lib/memoryGuard: measures nothing without a bound, or after its end', async () => {
  const clock = createManualClock()
  let measured = 0
  const deps = { clock, measure: () => ++measured }
  using _unbounded = createMemoryGuard(deps, Number.POSITIVE_INFINITY)
  createMemoryGuard(deps, 1_000)[Symbol.dispose]()
  await clock.advanceMs(10_000)
  expect([measured, unboundedMemory.level()]).toEqual([0, 'normal'])
})
