import { getEventListeners } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import { systemClock } from './clock.ts'
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

const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
it.each([
  ['a code', refused, 'ECONNREFUSED'],
  ['several addresses, none of which answers', new AggregateError([refused, new Error('other')]), 'ECONNREFUSED'],
  ['no address at all', new AggregateError([]), 'AggregateError'],
  ['a text that may quote the URL', new Error('http://key@host'), 'Error'],
])('lib/jsonHttp: why nobody answers: %s', async (_what, cause, reason) => {
  const failing = async (): Promise<never> => Promise.reject(new TypeError('fetch failed', { cause }))
  expect(await requestJson({ fetch: failing, clock }, limits, { url: 'http://a' })).toEqual({ kind: 'unreachable', reason })
})

it('lib/jsonHttp: a port that fetch never asks is named as that', async () => {
  const outcome = await requestJson({ fetch, clock }, limits, { url: 'http://127.0.0.1:1' })
  expect(outcome).toEqual({ kind: 'unreachable', reason: 'a port that no request may go to (bad port)' })
})

/** A real server for one test. */
async function serve(listener: RequestListener) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/key-in-path?token=abc`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
const real = { fetch, clock: systemClock }
const wide = { timeoutMs: 5_000, maxBodyBytes: 1_000 }

describe('lib/jsonHttp', () => {
  it('posts JSON and reads JSON, with the headers given', async () => {
    await using server = await serve((request, response) => {
      const { method, headers } = request
      response.end(JSON.stringify({ method, type: headers['content-type'], mine: headers['x-mine'] }))
    })
    const posted = await requestJson(real, wide, { url: server.url, headers: { 'x-mine': '1' }, body: { a: 1 } })
    expect(posted).toEqual({ kind: 'answer', status: 200, json: { method: 'POST', type: 'application/json', mine: '1' } })
    expect(await requestJson(real, wide, { url: server.url })).toMatchObject({ json: { method: 'GET' } })
  })

  it.each<[string, RequestListener, unknown]>([
    ['no JSON', (_request, response) => response.end('<html>'), { kind: 'bad-answer', reason: '6 bytes that are no JSON' }],
    ['too much', (_request, response) => response.end(`"${'x'.repeat(1_000)}"`), { kind: 'bad-answer', reason: 'more than 1000 bytes' }],
    [
      'too much without an end',
      (_request, response) => response.write('x'.repeat(10_000)),
      { kind: 'bad-answer', reason: 'more than 1000 bytes' },
    ],
    [
      'HTTP 400 with JSON',
      (_request, response) => response.writeHead(400).end('{"error":1}'),
      { kind: 'answer', status: 400, json: { error: 1 } },
    ],
    ['HTTP 404 without', (_request, response) => response.writeHead(404).end('none'), { kind: 'answer', status: 404, json: undefined }],
    [
      'HTTP 429',
      (_request, response) => response.writeHead(429, { 'retry-after': '3' }).end(),
      { kind: 'rate-limited', retryAfterMs: 3_000 },
    ],
    [
      'HTTP 401',
      (_request, response) => response.writeHead(401, { 'content-length': 8 }).end('no token'),
      { kind: 'refused', status: 401, says: 'no token' },
    ],
    [
      'HTTP 403 at length',
      (_request, response) => response.writeHead(403).end('x'.repeat(500)),
      { kind: 'refused', status: 403, says: '' },
    ],
    ['HTTP 503', (_request, response) => response.writeHead(503).end(), { kind: 'unreachable', reason: 'HTTP 503' }],
    [
      'a redirect',
      (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      { kind: 'unreachable', reason: expect.any(String) },
    ],
    ['a connection that breaks', (_request, response) => response.destroy(), { kind: 'unreachable', reason: 'UND_ERR_SOCKET' }],
  ])('%s is an outcome', async (_what, listener, outcome) => {
    await using server = await serve(listener)
    const found = await requestJson(real, wide, { url: server.url, body: {} })
    expect(found).toEqual(outcome)
    expect(JSON.stringify(found)).not.toMatch(/key-in-path|abc/)
  })

  it('nobody there', async () => {
    const gone = await serve(() => {})
    await gone[Symbol.asyncDispose]()
    expect(await requestJson(real, wide, { url: gone.url })).toEqual({ kind: 'unreachable', reason: 'ECONNREFUSED' })
  })

  it('no answer in time, by the clock that is given', async () => {
    const manual = createManualClock()
    const asked = Promise.withResolvers<void>()
    await using server = await serve(() => asked.resolve())
    const outcome = requestJson({ fetch, clock: manual }, wide, { url: server.url })
    await asked.promise
    await manual.advanceMs(4_999)
    expect(manual.waiting).toBe(1)
    await manual.advanceMs(1)
    expect(await outcome).toEqual({ kind: 'unreachable', reason: 'no answer within 5 s' })
    expect(manual.waiting).toBe(0)
  })

  it('ends with the signal, before and while it is asked, and leaves nothing on it', async () => {
    const reason = new Error('closing')
    await expect(requestJson(real, wide, { url: 'http://127.0.0.1:1' }, AbortSignal.abort(reason))).rejects.toBe(reason)
    const stop = new AbortController()
    await using server = await serve(() => stop.abort(reason))
    await expect(requestJson(real, wide, { url: server.url }, stop.signal)).rejects.toBe(reason)
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
  })
})
