import { expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import { requestJson } from './jsonHttp.ts'

const clock = createManualClock(Date.UTC(2026, 10, 21, 20, 0, 0))
const limits = { timeoutMs: 1_000, maxBodyBytes: 100 }
/** a server whose clock is an hour ahead of ours */
const ahead = 'Sat, 21 Nov 2026 21:00:00 GMT'

it.each([
  ['seconds', { 'retry-after': '7' }, 7_000],
  ['a date, by the clock of the server', { 'retry-after': 'Sat, 21 Nov 2026 21:00:30 GMT', date: ahead }, 30_000],
  ['a date, by ours', { 'retry-after': 'Sat, 21 Nov 2026 20:01:00 GMT' }, 60_000],
  ['a date that is past', { 'retry-after': 'Sat, 21 Nov 2026 19:59:00 GMT' }, 5_000],
  ['longer than anyone waits', { 'retry-after': '86400' }, 600_000],
  ['a date in a year', { 'retry-after': 'Sun, 21 Nov 2027 20:00:00 GMT' }, 600_000],
  ['nothing', {}, 5_000],
  ['no number', { 'retry-after': 'soon' }, 5_000],
  ['a date of another kind', { 'retry-after': '2026-11-21T20:01:00Z' }, 5_000],
  ['a day that there is not', { 'retry-after': 'Sat, 41 Nov 2026 20:01:00 GMT' }, 5_000],
  ['less than nothing', { 'retry-after': '-3' }, 5_000],
])('lib/jsonHttp: Retry-After: %s', async (_what, headers, retryAfterMs) => {
  const answer = new Response('', { status: 429, headers: headers as Record<string, string> })
  const outcome = await requestJson({ fetch: async () => answer, clock }, limits, { url: 'http://l1.example' })
  expect(outcome).toEqual({ kind: 'rate-limited', retryAfterMs })
})
