import { expect, it } from 'vitest'
import { SealMargin } from './sealMargin.ts'

it('consensus/sequencer/sealMargin: is a little longer than the longest of the last eight seals', () => {
  const margin = new SealMargin()
  expect(margin.ms(2_000)).toBe(50)
  margin.took(300)
  margin.took(120)
  expect(margin.ms(2_000)).toBe(310)
  for (let sealed = 0; sealed < 8; sealed++) margin.took(40)
  expect(margin.ms(2_000)).toBe(50)
})

it('consensus/sequencer/sealMargin: is never zero and at most half the block time', () => {
  const margin = new SealMargin()
  margin.took(0)
  expect(margin.ms(1_000)).toBe(30)
  margin.took(60_000)
  expect(margin.ms(1_000)).toBe(500)
  expect(margin.ms(200)).toBe(100)
})
