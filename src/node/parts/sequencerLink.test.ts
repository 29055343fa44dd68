import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import type { Fetch } from '#lib/jsonHttp'
import { createLog, silentLog } from '#lib/log'
import { createManualClock, settle } from '#test/harness/clock'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import { parseHash } from '#types/ids'
import type { PoolOutcome } from '#types/pooledTransaction'
import { hashTransaction } from '#types/transaction'
import { createSequencerLink } from './sequencerLink.ts'

const raw = Uint8Array.of(2, 0xc0)
const hash = parseHash(`0x${'12'.repeat(32)}`)

type Served = { readonly url: string; readonly bodies: string[] } & AsyncDisposable

/** A sequencer that answers every request with one text. */
async function serve(status: number, text: string): Promise<Served> {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      bodies.push(body)
      response.writeHead(status, { 'content-type': 'application/json' }).end(text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function linkTo(url: string, added: (raw: Uint8Array) => Promise<PoolOutcome> = async () => ({ kind: 'added', hash })) {
  const kept: Uint8Array[] = []
  const lines: string[] = []
  const add = (bytes: Uint8Array): Promise<PoolOutcome> => {
    kept.push(bytes)
    return added(bytes)
  }
  const log = createLog('warn', { write: (line) => lines.push(line) })
  return Object.assign(createSequencerLink({ fetch, clock: systemClock, random: () => 1, log, pool: { add } }, url), { kept, lines })
}

it('node/parts/sequencerLink: sends the bytes unchanged, returns the hash, and adds the transaction to the local pool', async () => {
  await using served = await serve(200, JSON.stringify({ jsonrpc: '2.0', id: 1, result: hash }))
  const link = linkTo(served.url)
  expect(await link.send(raw)).toEqual({ kind: 'result', result: hash })
  expect(served.bodies.map((body) => JSON.parse(body) as unknown)).toEqual([
    { jsonrpc: '2.0', id: 1, method: 'eth_sendRawTransaction', params: ['0x02c0'] },
  ])
  expect([link.kept, link.lines]).toEqual([[raw], []])
})

it('node/parts/sequencerLink: sends user and password of the URL as a header', async () => {
  const sent: [string, string | null][] = []
  const recording: Fetch = async (url, init) => {
    sent.push([String(url), new Headers(init?.headers).get('authorization')])
    return new Response(JSON.stringify({ result: hash }))
  }
  const deps = { fetch: recording, clock: systemClock, random: () => 1, log: silentLog, pool: undefined }
  expect(await createSequencerLink(deps, 'http://me:p%40ss@sequencer/key').send(raw)).toEqual({ kind: 'result', result: hash })
  expect(sent).toEqual([['http://sequencer/key', `Basic ${btoa('me:p@ss')}`]])
})

const error = { code: -32000, message: 'nonce too low: next nonce 4, tx nonce 0', data: { any: ['thing', null] } }
it.each<[string, number, unknown, object]>([
  ['an error, with its data', 200, { jsonrpc: '2.0', id: 1, error }, { kind: 'error', ...error }],
  ['an error with HTTP 400', 400, { jsonrpc: '2.0', id: 1, error }, { kind: 'error', ...error }],
  ['too many requests (429)', 429, {}, { kind: 'limited', retryAfterMs: expect.closeTo(5_000, -2) }],
  ['HTTP 401', 401, 'no', { kind: 'unanswered' }],
  ['something else', 200, { hello: 'world' }, { kind: 'unanswered' }],
  ['an error without a code', 200, { error: { message: 'x' } }, { kind: 'unanswered' }],
  ['a result that is not a string', 200, { result: { a: 1 } }, { kind: 'unanswered' }],
  ['a list', 200, [1], { kind: 'unanswered' }],
  ['a body larger than any answer', 200, 'x'.repeat(200_000), { kind: 'unanswered' }],
])('node/parts/sequencerLink: keeps no transaction when the answer is %s', async (_case, status, answer, expected) => {
  await using served = await serve(status, JSON.stringify(answer))
  const link = linkTo(served.url)
  expect(await link.send(raw)).toEqual(expected)
  expect(link.kept).toEqual([])
})

type Scripted = { readonly status: number; readonly headers?: Record<string, string>; readonly json?: unknown } | 'down'

/** Connects a link on a manual clock to a sequencer with scripted answers, the last one repeated. */
function scripted(...answers: readonly Scripted[]) {
  const clock = createManualClock()
  const asked: unknown[] = []
  const counts: Partial<Record<string, number>> = {}
  const heads = scriptedFeed()
  const respond: typeof fetch = async (_url, init) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? 'down'
    asked.push(JSON.parse(String(init?.body)))
    if (answer === 'down') throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } })
    return new Response(JSON.stringify(answer.json ?? null), { status: answer.status, headers: answer.headers ?? {} })
  }
  const lines: string[] = []
  const log = createLog('warn', { write: (line) => lines.push(line) })
  const onCount = (state: string, count: number): void => {
    counts[state] = count
  }
  const link = createSequencerLink({ fetch: respond, clock, random: () => 0, log, pool: undefined, heads, onCount }, 'http://sequencer')
  async function after<T>(ms: number, promise: Promise<T>): Promise<T> {
    for (let passed = 0; passed < ms; passed += 100) {
      await settle()
      await clock.advanceMs(100)
    }
    return await promise
  }
  return { link, clock, asked, lines, counts, heads, after }
}

const taken = { status: 200, json: { jsonrpc: '2.0', id: 1, result: hash } }
const refused = (code: number, message: string): Scripted => ({ status: 200, json: { jsonrpc: '2.0', id: 1, error: { code, message } } })
const own = hashTransaction(raw)

it('node/parts/sequencerLink: ends unanswered after attempts for eight seconds when no sequencer answers, and logs one line for many', async () => {
  const { link, asked, lines, counts, after } = scripted('down')
  const answers = await after(9_000, Promise.all(Array.from({ length: 5 }, () => link.send(raw))))
  expect(answers).toEqual(Array(5).fill({ kind: 'unanswered' }))
  expect([asked.length, lines.length, counts]).toEqual([35, 1, { sending: 0, unanswered: 1 }])
})

it.each<[string, Scripted]>([
  ['has the transaction from an attempt whose answer was lost', refused(-32000, 'already known')],
  ['takes it now', taken],
])('node/parts/sequencerLink: sends again after a failed request: the sequencer %s', async (_case, last) => {
  const { link, asked, after, clock } = scripted('down', { status: 502 }, last)
  const sent = link.send(raw)
  await settle()
  expect(await link.forwarded(own)).toEqual({ state: 'sending', tries: 1, ageMs: 0 })
  expect(await after(1_000, sent)).toMatchObject({ kind: 'result' })
  expect(asked).toHaveLength(3)
  await clock.advanceMs(1_000)
  expect(await link.forwarded(own)).toEqual({ state: 'taken', tries: 3, ageMs: 2_000 })
})

it('node/parts/sequencerLink: does not retry after an error; a refused repeat does not change the state of the first', async () => {
  const error = { code: -32000, message: 'nonce too low' }
  const { link, asked } = scripted(refused(error.code, error.message), taken, refused(-32000, 'already known'))
  expect(await link.send(raw)).toEqual({ kind: 'error', ...error })
  expect([asked.length, await link.forwarded(own)]).toEqual([1, { state: 'refused', tries: 1, ageMs: 0, error }])
  expect(await link.send(raw)).toMatchObject({ kind: 'result' })
  expect(await link.send(raw)).toMatchObject({ kind: 'error', message: 'already known' })
  expect(await link.forwarded(own)).toMatchObject({ state: 'taken', tries: 3 })
})

it('node/parts/sequencerLink: waits out a short pause of the sequencer, and sends nothing during a long one', async () => {
  const limited = (seconds: string): Scripted => ({ status: 429, headers: { 'retry-after': seconds } })
  const { link, asked, after, clock } = scripted(limited('1'), taken, limited('30'), taken)
  expect(await after(1_100, link.send(raw))).toMatchObject({ kind: 'result' })
  expect(await link.send(Uint8Array.of(2, 0xc1))).toEqual({ kind: 'limited', retryAfterMs: 30_000 })
  await clock.advanceMs(10_000)
  expect(await link.send(Uint8Array.of(2, 0xc2))).toEqual({ kind: 'limited', retryAfterMs: 20_000 })
  expect(asked).toHaveLength(3)
  expect(await link.forwarded(hashTransaction(Uint8Array.of(2, 0xc1)))).toMatchObject({ state: 'limited', tries: 1 })
  expect(await link.status(own)).toEqual({ kind: 'failed', reason: 'over rate limit' })
  expect(asked).toHaveLength(3)
  await clock.advanceMs(20_000)
  expect(await link.send(raw)).toMatchObject({ kind: 'result' })
})

it('node/parts/sequencerLink: notices and counts transactions of a new block', async () => {
  const { link, heads, counts } = scripted(taken)
  await link.send(raw)
  expect(counts).toEqual({ sending: 0, taken: 1 })
  heads.tell({ hash, block: { header: {} as never, transactions: [Uint8Array.of(1), raw] } })
  expect(counts).toEqual({ sending: 0, taken: 0, included: 1 })
  link[Symbol.dispose]()
  expect(heads.listeners).toBe(0)
})

it('node/parts/sequencerLink: sends a condition with its transaction', async () => {
  const { link, asked } = scripted(taken)
  await link.send(raw, { blockNumberMax: '0x5' })
  expect(asked).toEqual([
    { jsonrpc: '2.0', id: 1, method: 'eth_sendRawTransactionConditional', params: ['0x02c0', { blockNumberMax: '0x5' }] },
  ])
})

it('node/parts/sequencerLink: does not add a transaction with a condition to the local pool', async () => {
  await using served = await serve(200, JSON.stringify({ result: hash }))
  const link = linkTo(served.url)
  expect(await link.send(raw, { blockNumberMax: '0x5' })).toEqual({ kind: 'result', result: hash })
  expect(link.kept).toEqual([])
})

it.each<[string, Scripted, object]>([
  ['answers', { status: 200, json: { result: { status: 'Known' } } }, { kind: 'status', status: 'Known' }],
  ['does not know the method', refused(-32601, 'Method not found'), { kind: 'failed', reason: 'Method not found' }],
  ['limits the rate', { status: 429 }, { kind: 'failed', reason: 'HTTP 429' }],
  ['is unreachable', 'down', { kind: 'failed', reason: 'ECONNREFUSED' }],
  ['answers in another form', { status: 200, json: { result: 'Known' } }, { kind: 'failed', reason: 'HTTP 200 with no JSON-RPC response' }],
])('node/parts/sequencerLink: returns the status of a transaction when the sequencer %s', async (_case, answer, expected) => {
  const { link, asked } = scripted(answer)
  expect(await link.status(own)).toEqual(expected)
  expect(asked).toEqual([{ jsonrpc: '2.0', id: 1, method: 'base_transactionStatus', params: [own] }])
})

it.each<[string, () => Promise<PoolOutcome>]>([
  ['refuses it', async () => ({ kind: 'refused', refusal: { kind: 'pool-full' } })],
  ['fails', () => Promise.reject(new Error('gone'))],
])('node/parts/sequencerLink: logs a warning only when the local pool %s', async (_case, added) => {
  await using served = await serve(200, JSON.stringify({ result: hash }))
  const link = linkTo(served.url, added)
  expect(await link.send(raw)).toEqual({ kind: 'result', result: hash })
  expect(link.lines).toHaveLength(1)
})

it('node/parts/sequencerLink: waits 8 s for a sequencer that does not answer, with at most 256 unanswered transactions', async () => {
  const clock = createManualClock()
  const silent: typeof fetch = (_url, init) =>
    new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))))
  const link = createSequencerLink({ fetch: silent, clock, random: () => 1, log: silentLog, pool: undefined }, 'http://sequencer')
  const sent = Array.from({ length: 256 }, () => link.send(raw))
  expect(await link.send(raw)).toEqual({ kind: 'busy' })
  await clock.advanceMs(8_000)
  await settle()
  expect(new Set((await Promise.all(sent)).map(({ kind }) => kind))).toEqual(new Set(['unanswered']))
  const next = link.send(raw)
  await clock.advanceMs(8_000)
  expect(await next).toEqual({ kind: 'unanswered' })
})
