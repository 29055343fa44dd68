import { expect, it } from 'vitest'
import { createBlockIntervals } from './blockIntervals.ts'

function start() {
  let nowMs = 5_000
  const blocks = createBlockIntervals({ elapsedMs: () => nowMs })
  const seal = (afterMs: number, count = 1): void => {
    nowMs += afterMs
    blocks.sealed(count)
  }
  return { blocks, seal, pass: (ms: number) => (nowMs += ms) }
}

it('devnet/timing/blockIntervals: returns no interval before the second block', () => {
  const { blocks, seal } = start()
  expect(blocks.read()).toEqual({ perSec: 0, intervalP99Ms: undefined })
  seal(200)
  expect(blocks.read()).toEqual({ perSec: 0, intervalP99Ms: undefined })
})

it('devnet/timing/blockIntervals: the rate and the 99th percentile, which one late block of a hundred does not change', () => {
  const { blocks, seal } = start()
  for (let i = 0; i < 100; i++) seal(200)
  seal(700)
  expect(blocks.read()).toEqual({ perSec: 100 / 20.5, intervalP99Ms: 200 })
  seal(500)
  expect(blocks.read().intervalP99Ms).toBe(500)
})

it('devnet/timing/blockIntervals: forgets blocks after a minute, and the rate falls while no block arrives', () => {
  const { blocks, seal, pass } = start()
  seal(0)
  seal(5_000)
  for (let i = 0; i < 59; i++) seal(1_000)
  expect(blocks.read()).toEqual({ perSec: 1, intervalP99Ms: 1_000 })
  pass(30_000)
  expect(blocks.read().perSec).toBeCloseTo(29 / 59, 5)
  pass(60_000)
  expect(blocks.read()).toEqual({ perSec: 0, intervalP99Ms: undefined })
})

it('devnet/timing/blockIntervals: keeps the newest thousand arrivals of a chain that catches up', () => {
  const { blocks, seal } = start()
  seal(0)
  seal(1_000, 1_000_000)
  for (let i = 0; i < 5_000; i++) seal(1)
  expect(blocks.read()).toEqual({ perSec: 1_000, intervalP99Ms: 1 })
})
