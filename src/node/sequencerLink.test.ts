import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { createLog, silentLog } from '#lib/log'
import { createManualClock, settle } from '#test/harness/clock'
import { parseHash } from '#types/ids'
import type { PoolOutcome } from '#types/pooledTransaction'
import { createSequencerLink } from './sequencerLink.ts'

const raw = Uint8Array.of(2, 0xc0)
const hash = parseHash(`0x${'12'.repeat(32)}`)

type Served = { readonly url: string; readonly bodies: string[] } & AsyncDisposable

/** A sequencer that answers everything with one text. */
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
  return { ...createSequencerLink({ fetch, clock: systemClock, log, pool: { add } }, url), kept, lines }
}

it('node/sequencerLink: the bytes go out as they came, the hash comes back, and the pool here has it too', async () => {
  await using served = await serve(200, JSON.stringify({ jsonrpc: '2.0', id: 1, result: hash }))
  const link = linkTo(served.url)
  expect(await link.send(raw)).toEqual({ kind: 'result', result: hash })
  expect(served.bodies.map((body) => JSON.parse(body) as unknown)).toEqual([
    { jsonrpc: '2.0', id: 1, method: 'eth_sendRawTransaction', params: ['0x02c0'] },
  ])
  expect([link.kept, link.lines]).toEqual([[raw], []])
})

const error = { code: -32000, message: 'nonce too low: next nonce 4, tx nonce 0', data: { any: ['thing', null] } }
it.each<[string, number, unknown, object]>([
  ['an error, with its data', 200, { jsonrpc: '2.0', id: 1, error }, { kind: 'error', ...error }],
  ['an error with HTTP 400', 400, { jsonrpc: '2.0', id: 1, error }, { kind: 'error', ...error }],
  ['too many requests (429)', 429, {}, { kind: 'error', code: -32016, message: 'over rate limit' }],
  ['HTTP 500', 500, 'internal', { kind: 'unanswered' }],
  ['HTTP 401', 401, 'no', { kind: 'unanswered' }],
  ['something else', 200, { hello: 'world' }, { kind: 'unanswered' }],
  ['an error without a code', 200, { error: { message: 'x' } }, { kind: 'unanswered' }],
  ['a result that is no text', 200, { result: { a: 1 } }, { kind: 'unanswered' }],
  ['a list', 200, [1], { kind: 'unanswered' }],
  ['a body larger than any answer', 200, 'x'.repeat(200_000), { kind: 'unanswered' }],
])('node/sequencerLink: %s; nothing is kept', async (_what, status, answer, expected) => {
  await using served = await serve(status, JSON.stringify(answer))
  const link = linkTo(served.url)
  expect(await link.send(raw)).toEqual(expected)
  expect(link.kept).toEqual([])
})

it('node/sequencerLink: nobody there: unanswered, one line in the log for many', async () => {
  const link = linkTo('http://127.0.0.1:1')
  const answers = await Promise.all(Array.from({ length: 5 }, () => link.send(raw)))
  expect(answers).toEqual(Array(5).fill({ kind: 'unanswered' }))
  expect(link.lines).toHaveLength(1)
})

it.each<[string, () => Promise<PoolOutcome>]>([
  ['refuses it', async () => ({ kind: 'refused', refusal: { kind: 'pool-full' } })],
  ['fails', () => Promise.reject(new Error('gone'))],
])('node/sequencerLink: a pool here that %s is only a warning', async (_what, added) => {
  await using served = await serve(200, JSON.stringify({ result: hash }))
  const link = linkTo(served.url, added)
  expect(await link.send(raw)).toEqual({ kind: 'result', result: hash })
  expect(link.lines).toHaveLength(1)
})

it('node/sequencerLink: one that does not answer is waited for 8 s; 256 are on their way at most', async () => {
  const clock = createManualClock()
  const silent: typeof fetch = (_url, init) =>
    new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))))
  const link = createSequencerLink({ fetch: silent, clock, log: silentLog, pool: undefined }, 'http://sequencer')
  const sent = Array.from({ length: 256 }, () => link.send(raw))
  expect(await link.send(raw)).toEqual({ kind: 'busy' })
  await clock.advanceMs(8_000)
  await settle()
  expect(new Set((await Promise.all(sent)).map(({ kind }) => kind))).toEqual(new Set(['unanswered']))
  const next = link.send(raw)
  await clock.advanceMs(8_000)
  expect(await next).toEqual({ kind: 'unanswered' })
})
