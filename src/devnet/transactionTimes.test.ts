import { expect, it } from 'vitest'
import { hashOf } from '#test/harness/chain/blocks'
import { createTransactionClock } from './transactionTimes.ts'

function start() {
  let nowMs = 1_000
  const times = createTransactionClock({ elapsedMs: () => nowMs })
  return { times, pass: (ms: number) => (nowMs += ms) }
}

it('devnet/transactionTimes: from sending to each stage, the median of those that got there', () => {
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

it('devnet/transactionTimes: a stage counts once, a transaction that nobody saw being sent never', () => {
  const { times, pass } = start()
  times.sent(hashOf('a'))
  pass(50)
  times.reached('preconfirmed', [hashOf('a'), hashOf('deposit')])
  pass(500)
  times.sent(hashOf('a'))
  times.reached('preconfirmed', [hashOf('a')])
  expect(times.read().preconfirmed).toBe(50)
})

it('devnet/transactionTimes: only the newest transactions count, and what is never included is forgotten', () => {
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
