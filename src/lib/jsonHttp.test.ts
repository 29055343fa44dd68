import { getEventListeners } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import { systemClock } from './clock.ts'
import { requestJson } from './jsonHttp.ts'

const clock = createManualClock(Date.UTC(2026, 10, 21, 20, 0, 0))
const limits = { timeoutMs: 1_000, maxBodyBytes: 100 }
/** Date header of a server whose clock is one hour ahead of the local clock. */
const ahead = 'Sat, 21 Nov 2026 21:00:00 GMT'

it.each([
  ['seconds', { 'retry-after': '7' }, 7_000],
  ['a date, relative to the Date header of the server', { 'retry-after': 'Sat, 21 Nov 2026 21:00:30 GMT', date: ahead }, 30_000],
  ['a date, relative to the local clock', { 'retry-after': 'Sat, 21 Nov 2026 20:01:00 GMT' }, 60_000],
  ['a date in the past', { 'retry-after': 'Sat, 21 Nov 2026 19:59:00 GMT' }, 5_000],
  ['more than the longest wait', { 'retry-after': '86400' }, 600_000],
  ['a date one year ahead', { 'retry-after': 'Sun, 21 Nov 2027 20:00:00 GMT' }, 600_000],
  ['missing', {}, 5_000],
  ['not a number', { 'retry-after': 'soon' }, 5_000],
  ['a date in another format', { 'retry-after': '2026-11-21T20:01:00Z' }, 5_000],
  ['a day that does not exist', { 'retry-after': 'Sat, 41 Nov 2026 20:01:00 GMT' }, 5_000],
  ['a negative number', { 'retry-after': '-3' }, 5_000],
])('lib/jsonHttp: waits as Retry-After requests when it is %s', async (_what, headers, retryAfterMs) => {
  const answer = new Response('', { status: 429, headers: headers as Record<string, string> })
  const outcome = await requestJson({ fetch: async () => answer, clock }, limits, { url: 'http://l1.example' })
  expect(outcome).toEqual({ kind: 'rate-limited', retryAfterMs })
})

const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
it.each([
  ['a code', refused, 'ECONNREFUSED'],
  ['several addresses that all fail', new AggregateError([refused, new Error('other')]), 'ECONNREFUSED'],
  ['an empty AggregateError', new AggregateError([]), 'AggregateError'],
  ['a message that may quote the URL', new Error('http://key@host'), 'Error'],
])('lib/jsonHttp: reports the reason of a failed connection: %s', async (_what, cause, reason) => {
  const failing = async (): Promise<never> => Promise.reject(new TypeError('fetch failed', { cause }))
  expect(await requestJson({ fetch: failing, clock }, limits, { url: 'http://a' })).toEqual({ kind: 'unreachable', reason })
})

it('lib/jsonHttp: names a port that fetch blocks', async () => {
  const outcome = await requestJson({ fetch, clock }, limits, { url: 'http://127.0.0.1:1' })
  expect(outcome).toEqual({ kind: 'unreachable', reason: 'port blocked by fetch (bad port)' })
})

/** Starts a real HTTP server for one test. */
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
  it('posts JSON with the given headers and parses the JSON response', async () => {
    await using server = await serve((request, response) => {
      const { method, headers } = request
      response.end(JSON.stringify({ method, type: headers['content-type'], mine: headers['x-mine'] }))
    })
    const posted = await requestJson(real, wide, { url: server.url, headers: { 'x-mine': '1' }, body: { a: 1 } })
    expect(posted).toEqual({ kind: 'answer', status: 200, json: { method: 'POST', type: 'application/json', mine: '1' } })
    expect(await requestJson(real, wide, { url: server.url })).toMatchObject({ json: { method: 'GET' } })
  })

  it.each<[string, RequestListener, unknown]>([
    [
      'a response that is not JSON',
      (_request, response) => response.end('<html>'),
      { kind: 'bad-answer', reason: '6 bytes that are not JSON' },
    ],
    [
      'a response above the limit',
      (_request, response) => response.end(`"${'x'.repeat(1_000)}"`),
      { kind: 'bad-answer', reason: 'more than 1000 bytes' },
    ],
    ['an endless body', (_request, response) => response.write('x'.repeat(10_000)), { kind: 'bad-answer', reason: 'more than 1000 bytes' }],
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
      { kind: 'refused', status: 401 },
    ],
    ['HTTP 403 with a long body', (_request, response) => response.writeHead(403).end('x'.repeat(500)), { kind: 'refused', status: 403 }],
    ['HTTP 503', (_request, response) => response.writeHead(503).end(), { kind: 'unreachable', reason: 'HTTP 503' }],
    [
      'a redirect',
      (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      { kind: 'unreachable', reason: expect.any(String) },
    ],
    ['a broken connection', (_request, response) => response.destroy(), { kind: 'unreachable', reason: 'UND_ERR_SOCKET' }],
  ])('returns an outcome for %s', async (_what, listener, outcome) => {
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

  it('times out by the given clock', async () => {
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

  it('rejects with the abort reason before and during the request, and leaves no listener on the signal', async () => {
    const reason = new Error('closing')
    await expect(requestJson(real, wide, { url: 'http://127.0.0.1:1' }, AbortSignal.abort(reason))).rejects.toBe(reason)
    const stop = new AbortController()
    await using server = await serve(() => stop.abort(reason))
    await expect(requestJson(real, wide, { url: server.url }, stop.signal)).rejects.toBe(reason)
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
  })
})
