import { expect, it } from 'vitest'
import { hashOf } from '#test/harness/chain/blocks'
import { createTransactionClock } from './transactionTimes.ts'

function start() {
  let nowMs = 1_000
  const times = createTransactionClock({ elapsedMs: () => nowMs, nowMs: () => nowMs + 1_000_000 })
  return { times, pass: (ms: number) => (nowMs += ms) }
}

it('devnet/timing/transactionTimes: the median time from sending to each stage', () => {
  const { times, pass } = start()
  const hashes = ['a', 'b', 'c'].map(hashOf)
  for (const hash of hashes) times.sent(hash)
  hashes.forEach((hash, at) => {
    pass(100)
    times.reached('preconfirmed', [hash])
    if (at === 2) times.reached('sealed', [hash])
  })
  expect(times.read()).toEqual({ preconfirmed: 200, sealed: 300, safe: undefined })
})

it('devnet/timing/transactionTimes: counts a stage once, and ignores a transaction whose sending is unknown', () => {
  const { times, pass } = start()
  times.sent(hashOf('a'))
  pass(50)
  times.reached('preconfirmed', [hashOf('a'), hashOf('deposit')])
  pass(500)
  times.sent(hashOf('a'))
  times.reached('preconfirmed', [hashOf('a')])
  expect(times.read().preconfirmed).toBe(50)
})

it('devnet/timing/transactionTimes: counts only the newest transactions, and drops those never included', () => {
  const { times, pass } = start()
  for (let i = 0; i < 300; i++) times.sent(hashOf(`slow ${i}`))
  pass(9_000)
  times.reached(
    'safe',
    Array.from({ length: 300 }, (_, i) => hashOf(`slow ${i}`)),
  )
  times.sent(hashOf('lost'))
  for (let i = 0; i < 20_000; i++) times.sent(hashOf(`late ${i}`))
  pass(10)
  times.reached('safe', [hashOf('lost')])
  times.reached(
    'safe',
    Array.from({ length: 200 }, (_, i) => hashOf(`late ${i}`)),
  )
  expect(times.read().safe).toBe(10)
})
