import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { PublishedSchedule } from '#chainspec/publishedSchedule'
import type { Fetch } from '#lib/jsonHttp'
import { createLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { type Address, zeroAddress } from '#types/ids'
import { createReceipt } from '#types/receipt'
import { createL1Source, defaultL1Options } from './l1Source.ts'
import { l1Metrics } from './metrics.ts'

const contract: Address = `0x${'74'.repeat(20)}` as Address
const minuteMs = 60_000
const hourMs = 60 * minuteMs

const word = (value: number | bigint): string => value.toString(16).padStart(64, '0')
const list = (...times: readonly number[]): string => `0x${[32, times.length, ...times].map(word).join('')}`
const minimum = `0x${word((1n << 96n) | (4n << 64n) | (2n << 32n))}`
const version = { major: 1, minor: 4, patch: 2, preRelease: 0 }

/** Reply to getSchedule(): its hex, a JSON-RPC error, raw text, or none. minimumProtocolVersion() is 1.4.2 everywhere. */
type Answer = string | { readonly error: object } | { readonly raw: string } | 'never'
const reverted = { error: { code: 3, message: 'execution reverted: secret-text', data: '0x' } }

function watched(answers: Record<string, Answer>, maxRequestsPerSec?: number) {
  const clock = createManualClock()
  const lines: Record<string, unknown>[] = []
  const asked: string[] = []
  const published: PublishedSchedule[] = []
  const fetch: Fetch = async (url, init) => {
    const { host } = new URL(String(url))
    const { method, params } = JSON.parse(String(init?.body)) as { method: string; params: [{ to: string; data: string }, string] }
    expect([method, params[0].to, params[1]]).toEqual(['eth_call', contract, 'latest'])
    asked.push(`${host} ${params[0].data}`)
    const answer = params[0].data === '0x26fadbe2' ? (answers[host] ?? expect.fail(host)) : minimum
    if (answer === 'never') return new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))))
    if (typeof answer === 'object' && 'raw' in answer) return new Response(answer.raw)
    return new Response(JSON.stringify({ jsonrpc: '2.0', id: 0, ...(typeof answer === 'string' ? { result: answer } : answer) }))
  }
  const log = createLog('debug', { write: (line) => void lines.push(JSON.parse(line)) })
  const source = createL1Source(
    { fetch, clock, random: () => 0, log, metrics: l1Metrics.register(new Registry()) },
    {
      ...defaultL1Options,
      ...{ rpcUrls: Object.keys(answers).map((host) => `http://${host}`), beaconUrls: [], chainId: 1 },
      ...(maxRequestsPerSec !== undefined && { maxRequestsPerSec }),
    },
  )
  const watch = source.watchProtocolVersions({ contract, onPublished: (schedule) => void published.push(schedule) })
  return { clock, asked, published, watch, takeLines: () => lines.splice(0) }
}

it('l1/protocolVersionsWatch: reads both values at the start and once an hour, and reports a change once', async () => {
  const answers: Record<string, Answer> = { a: list(1, 2) }
  const { clock, asked, published, watch, takeLines } = watched(answers)
  await watch.first
  expect(asked).toEqual(['a 0x26fadbe2', 'a 0x5c4d37d2'])
  expect(published).toEqual([{ times: [1, 2], minimum: version }])
  await clock.advanceMs(2 * hourMs)
  expect([asked.length, published.length]).toEqual([6, 1])
  answers['a'] = list(1, 3)
  await clock.advanceMs(hourMs)
  expect(published.slice(1)).toEqual([{ times: [1, 3], minimum: version }])
  expect(takeLines()).toEqual([])
  watch[Symbol.dispose]()
  expect(clock.waiting).toBe(0)
})

it('l1/protocolVersionsWatch: reads again soon after a block with a log of the contract, once for many such blocks', async () => {
  const { clock, asked, watch } = watched({ a: list(1) })
  await watch.first
  const blockWith = (address: Address) => ({
    ...({ ref: {}, header: {}, transactions: [] } as never as Parameters<typeof watch.onBlock>[0]),
    receipts: [
      createReceipt({ type: 2, succeeded: true, cumulativeGasUsed: 1n, logs: [{ address, topics: [], data: new Uint8Array(0) }] }),
    ],
  })
  watch.onBlock(blockWith(zeroAddress))
  await clock.advanceMs(minuteMs)
  expect(asked).toHaveLength(2)
  for (let block = 0; block < 100; block++) watch.onBlock(blockWith(contract))
  await clock.advanceMs(minuteMs)
  expect(asked).toHaveLength(4)
  await clock.advanceMs(hourMs)
  expect(asked).toHaveLength(6)
  watch[Symbol.dispose]()
  watch.onBlock(blockWith(contract))
  expect(clock.waiting).toBe(0)
})

it('l1/protocolVersionsWatch: a schedule counts when more than half of the endpoints with one return it', async () => {
  const answers: Record<string, Answer> = { a: list(1, 2), b: list(1, 2), liar: list(1, 2, 5), d: reverted }
  const { clock, published, watch, takeLines } = watched(answers)
  await watch.first
  expect(published).toEqual([{ times: [1, 2], minimum: version }])
  answers['b'] = 'never'
  await clock.advanceMs(hourMs + minuteMs)
  expect(published).toHaveLength(1)
  expect(takeLines().filter(({ level }) => level === 'warn')).toMatchObject([
    { msg: expect.stringContaining('different fork schedules'), endpoints: 2 },
  ])
  answers['b'] = list(1, 2, 5)
  await clock.advanceMs(6 * minuteMs)
  expect(published.slice(1)).toEqual([{ times: [1, 2, 5], minimum: version }])
})

it.each<[string, Answer]>([
  ['a contract that reverts', reverted],
  ['a missing method', { error: { code: -32_601, message: 'secret-text' } }],
  ['a rate limit', { error: { code: -32_005, message: 'limit exceeded' } }],
  ['malformed ABI', `0x${word(32)}${word(9)}`],
  ['an array of 2^40 elements', `0x${word(32)}${word(2n ** 40n)}`],
  ['an array of 300 elements', list(...Array<number>(300).fill(1))],
  ['a huge response', { raw: JSON.stringify({ id: 0, result: list(1), pad: 'secret-text'.repeat(10_000) }) }],
  ['no JSON', { raw: '<html>secret-text</html>' }],
  ['a number', { raw: '{"jsonrpc":"2.0","id":0,"result":5}' }],
  ['no response', 'never'],
])(
  'l1/protocolVersionsWatch: publishes nothing on %s, logs one debug line without text of the endpoint, and retries',
  async (_what, answer) => {
    const answers: Record<string, Answer> = { a: answer }
    const { clock, asked, published, watch, takeLines } = watched(answers)
    await clock.advanceMs(minuteMs)
    await watch.first
    const lines = takeLines()
    expect(lines).toMatchObject([{ level: 'debug', endpoint: 'a' }])
    expect(JSON.stringify(lines)).not.toContain('secret-text')
    expect([asked, published]).toEqual([['a 0x26fadbe2'], []])
    answers['a'] = list(7)
    await clock.advanceMs(6 * minuteMs)
    expect(published).toEqual([{ times: [7], minimum: version }])
  },
)

it('l1/protocolVersionsWatch: an empty result publishes nothing and is no error', async () => {
  const { published, watch, takeLines } = watched({ a: '0x' })
  await watch.first
  expect([published, takeLines()]).toEqual([[], []])
})

it('l1/protocolVersionsWatch: keeps the last schedule while endpoints fail', async () => {
  const answers: Record<string, Answer> = { a: list(7) }
  const { clock, published, watch } = watched(answers)
  await watch.first
  answers['a'] = reverted
  await clock.advanceMs(3 * hourMs)
  answers['a'] = list(7)
  await clock.advanceMs(hourMs)
  expect(published).toHaveLength(1)
})

it('l1/protocolVersionsWatch: waits for the budget of the endpoint', async () => {
  const { clock, asked } = watched({ a: list(1) }, 1)
  await clock.advanceMs(500)
  expect(asked).toHaveLength(1)
  await clock.advanceMs(1_000)
  expect(asked).toHaveLength(2)
})

it('l1/protocolVersionsWatch: ends without a line when disposed during a request', async () => {
  const { clock, published, watch, takeLines } = watched({ a: 'never' })
  await clock.advanceMs(5_000)
  watch[Symbol.dispose]()
  await clock.advanceMs(hourMs)
  expect([takeLines(), published, clock.waiting]).toEqual([[], [], 0])
})
