import { expect, it } from 'vitest'
import { defaultServerLimits } from '#rpc/server/httpServer'
import { answerBytesOf, httpLimits, wsLimits } from './serverLimits.ts'

it('node/memory/serverLimits: servers keep their usual limits without a bound', () => {
  expect(defaultServerLimits).toMatchObject(httpLimits(answerBytesOf(Number.POSITIVE_INFINITY, 1)))
})

it('node/memory/serverLimits: both servers of all threads together have less than half of the memory', () => {
  const [maxBytes, threads] = [512_000_000, 3]
  const bytes = answerBytesOf(maxBytes, threads)
  const sum = [httpLimits(bytes), wsLimits(bytes)].reduce(
    (all, { maxHeldBytes = 0, maxUnreadTotalBytes = 0 }) => all + maxHeldBytes + maxUnreadTotalBytes,
    0,
  )
  expect(sum * threads).toBeLessThan(maxBytes / 2)
})
