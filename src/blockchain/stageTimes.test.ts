import { expect, it } from 'vitest'
import { StageTimes } from './stageTimes.ts'

it('blockchain/stageTimes: adds the time of consecutive stages, and not the time between them', () => {
  let nowMs = 100
  const stages = new StageTimes({ elapsedMs: () => nowMs })
  stages.begin()
  nowMs += 30
  stages.ended('transactions')
  nowMs += 12
  stages.ended('seal')
  nowMs += 1_000
  stages.begin()
  nowMs += 2
  stages.ended('journal')
  stages.add('commit', 25)
  expect(stages.ms).toEqual({ transactions: 30, seal: 12, journal: 2, publish: 0, commit: 25 })
})
