import { expect, it } from 'vitest'
import { FlashblockInterval } from './flashblockInterval.ts'

const intervalOf = (...moments: number[]): FlashblockInterval => {
  const rhythm = new FlashblockInterval()
  for (const ms of moments) rhythm.came(ms)
  return rhythm
}

it.each<[string, readonly number[], number, number]>([
  ['no flashblock has arrived', [], 500, 0],
  ['one has arrived', [100], 250, 0],
  ['the next one is far off', [100, 300], 400, 0],
  ['the next one is near', [100, 300], 460, 60],
  ['the next one is due', [100, 300], 500, 20],
  ['the next one is slightly late', [100, 300], 515, 5],
  ['the next one is missing', [100, 300], 521, 0],
  ['two arrived together', [100, 300, 301], 480, 41],
  ['there was a pause', [100, 300, 5_000], 5_190, 0],
  ['they arrive too fast for other work', [100, 150, 200], 240, 0],
])('block/building/flashblockInterval: returns the delay when %s', (_what, moments, nowMs, waitMs) => {
  expect(intervalOf(...moments).waitMs(nowMs)).toBe(waitMs)
})
