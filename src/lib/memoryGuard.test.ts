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

it('lib/memoryGuard: reports each new level once, and collects until memory is normal, more often when it is full', async () => {
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
  await clock.advanceMs(2_000)
  expect(events).toEqual(['high', 'collect', 'collect'])
  bytes = 950
  await clock.advanceMs(100)
  expect(events).toEqual(['high', 'collect', 'collect', 'full', 'collect'])
  await clock.advanceMs(200)
  bytes = 100
  await clock.advanceMs(10_000)
  expect([guard.level(), events]).toEqual(['normal', ['high', 'collect', 'collect', 'full', 'collect', 'collect', 'normal']])
})

it('lib/memoryGuard: a level ends after ten seconds below its start, even when memory does not fall further', async () => {
  const clock = createManualClock()
  let bytes = 950
  using guard = createMemoryGuard({ clock, measure: () => bytes }, 1_000)
  const levels: string[] = []
  guard.onChange((level) => void levels.push(level))
  await clock.advanceMs(100)
  bytes = 870
  await clock.advanceMs(9_000)
  bytes = 950
  await clock.advanceMs(100)
  bytes = 870
  await clock.advanceMs(9_900)
  expect(levels).toEqual(['full'])
  await clock.advanceMs(200)
  expect(levels).toEqual(['full', 'high'])
  bytes = 750
  await clock.advanceMs(9_800)
  expect(levels).toEqual(['full', 'high'])
  await clock.advanceMs(400)
  expect(levels).toEqual(['full', 'high', 'normal'])
  bytes = 850
  await clock.advanceMs(60_000)
  expect(levels).toEqual(['full', 'high', 'normal', 'high'])
})

it('lib/memoryGuard: slow collections take at most a fifth of the time', async () => {
  const clock = createManualClock()
  let spentMs = 0
  let collections = 0
  const slow = { ...clock, elapsedMs: () => clock.elapsedMs() + spentMs }
  const collect = (): void => {
    collections++
    spentMs += 500
  }
  using guard = createMemoryGuard({ clock: slow, measure: () => 950, collect }, 1_000)
  await clock.advanceMs(2_400)
  expect([guard.level(), collections]).toEqual(['full', 1])
  await clock.advanceMs(300)
  expect(collections).toBe(2)
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
