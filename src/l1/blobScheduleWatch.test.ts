import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { blobScheduleOf } from '#chainspec/blobFee'
import type { Fetch } from '#lib/jsonHttp'
import { createLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { createL1Source, defaultL1Options } from './l1Source.ts'
import { l1Metrics } from './metrics.ts'

const startSec = 1_780_000_000
const bpo3Sec = startSec + 86_400
const hourMs = 3_600_000
const forkOf = (activationTime: number, target: number, max: number, baseFeeUpdateFraction: number) => ({
  ...{ activationTime, blobSchedule: { baseFeeUpdateFraction, max, target }, chainId: '0x1', forkId: '0x07c9462e' },
})
const bpo2 = forkOf(1_767_747_671, 14, 21, 11_684_671)
/** Has the ratio of BPO2, so no header shows it while blobs are cheap. */
const bpo3 = forkOf(bpo3Sec, 28, 42, 23_369_342)
const same = { result: { current: bpo2, next: null, last: null } }
const other = { result: { current: bpo2, next: bpo3, last: bpo3 } }
const missing = { error: { code: -32_601, message: 'the method eth_config does not exist' } }

type Answer = object | 'never' | { readonly raw: string }

/** Watches endpoints whose answers are read from the record at each request, by host. */
function watched(answers: Record<string, Answer>, maxRequestsPerSec?: number) {
  const clock = createManualClock(startSec * 1_000)
  const lines: Record<string, unknown>[] = []
  const asked: string[] = []
  const askedAtMs: number[] = []
  const registry = new Registry()
  const fetch: Fetch = async (url, init) => {
    const { host } = new URL(String(url))
    asked.push(`${host} ${JSON.parse(String(init?.body)).method}`)
    askedAtMs.push(clock.elapsedMs())
    const answer = answers[host] ?? expect.fail(host)
    if (answer === 'never') return new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))))
    return new Response('raw' in answer ? String(answer.raw) : JSON.stringify({ jsonrpc: '2.0', id: 0, ...answer }))
  }
  const log = createLog('debug', { write: (line) => void lines.push(JSON.parse(line)) })
  const source = createL1Source(
    { fetch, clock, random: () => 0, log, metrics: l1Metrics.register(registry) },
    {
      ...defaultL1Options,
      rpcUrls: Object.keys(answers).map((host) => `http://${host}`),
      beaconUrls: [],
      chainId: 1,
      blobSchedule: blobScheduleOf({ l1ChainId: 1 }) ?? expect.fail(),
      ...(maxRequestsPerSec !== undefined && { maxRequestsPerSec }),
    },
  )
  const watch = source.watchBlobSchedule()
  const gauge = async () => (await registry.getSingleMetric('basalt_l1_other_blob_schedule_peers')?.get())?.values[0]?.value
  const takeLines = () => lines.splice(0)
  return { clock, source, asked, askedAtMs, watch, gauge, takeLines }
}

it('l1/blobScheduleWatch: requests eth_config once an hour, and logs nothing while endpoints report the schedule in use', async () => {
  const { clock, asked, gauge, takeLines, watch } = watched({ a: same, b: same })
  await clock.advanceMs(hourMs / 2)
  expect(asked).toEqual(['a eth_config', 'b eth_config'])
  await clock.advanceMs(2 * hourMs)
  expect(asked).toHaveLength(6)
  expect([takeLines(), await gauge()]).toEqual([[], 0])
  watch[Symbol.dispose]()
  expect(clock.waiting).toBe(0)
})

it('l1/blobScheduleWatch: warns each hour of another next schedule, and counts the endpoint until it agrees', async () => {
  const answers: Record<string, Answer> = { a: same, b: other }
  const { clock, gauge, takeLines } = watched(answers)
  await clock.advanceMs(hourMs / 2)
  const warning = {
    ...{ level: 'warn', msg: 'L1 endpoint reports another blob schedule', endpoint: 'b', activationSec: bpo3Sec, leftSec: 86_390 },
    reported: 'target 28, max 42, baseFeeUpdateFraction 23369342',
    inUse: 'target 14, max 21, baseFeeUpdateFraction 11684671',
    fix: expect.stringContaining('--l1.chain-config FILE'),
  }
  expect(takeLines()).toMatchObject([warning])
  expect(await gauge()).toBe(1)
  await clock.advanceMs(hourMs)
  expect(takeLines()).toMatchObject([{ ...warning, leftSec: 82_790 }])
  answers['b'] = missing
  await clock.advanceMs(hourMs)
  expect([takeLines().map(({ level }) => level), await gauge()]).toEqual([['debug'], 1])
  answers['b'] = same
  await clock.advanceMs(hourMs)
  expect([takeLines(), await gauge()]).toEqual([[], 0])
})

it('l1/blobScheduleWatch: keeps to a warning after the activation', async () => {
  const { clock, gauge, takeLines } = watched({ a: { result: { current: { ...bpo3, activationTime: startSec - 60 } } } })
  await clock.advanceMs(hourMs / 2)
  expect(takeLines()).toMatchObject([{ level: 'warn', activationSec: startSec - 60, leftSec: 0 }])
  expect(await gauge()).toBe(1)
})

it.each<[string, Answer]>([
  ['a missing method', missing],
  ['a rate limit', { error: { code: -32_005, message: 'limit exceeded' } }],
  ['a malformed result', { result: { current: { ...bpo3, activationTime: 'secret-text' } } }],
  ['another chain', { result: { current: { ...bpo3, chainId: '0xaa36a7' } } }],
  ['no JSON', { raw: '<html>secret-text</html>' }],
  ['a huge response with another schedule', { raw: JSON.stringify({ id: 0, ...other, pad: 'secret-text'.repeat(10_000) }) }],
  ['deep nesting', { raw: `{"id":0,"result":${'['.repeat(30_000)}${']'.repeat(30_000)}}` }],
  ['no response', 'never'],
])('l1/blobScheduleWatch: logs one debug line without text of the endpoint, and nothing else, on %s', async (_what, answer) => {
  const { clock, asked, gauge, takeLines } = watched({ a: answer })
  await clock.advanceMs(hourMs / 2)
  const lines = takeLines()
  expect(lines).toMatchObject([{ level: 'debug', endpoint: 'a' }])
  expect(JSON.stringify(lines)).not.toContain('secret-text')
  expect([asked.length, await gauge()]).toEqual([1, 0])
  await clock.advanceMs(hourMs)
  expect(asked).toHaveLength(2)
})

it('l1/blobScheduleWatch: waits for the budget of the endpoint', async () => {
  const { clock, source, askedAtMs } = watched({ a: same }, 1)
  await clock.advanceMs(9_600)
  await source.preflight(new AbortController().signal)
  await clock.advanceMs(hourMs / 2)
  expect(askedAtMs).toEqual([9_600, 10_600])
})

it('l1/blobScheduleWatch: ends without a line when disposed during a request', async () => {
  const { clock, takeLines, watch } = watched({ a: 'never' })
  await clock.advanceMs(15_000)
  watch[Symbol.dispose]()
  await clock.advanceMs(hourMs)
  expect([takeLines(), clock.waiting]).toEqual([[], 0])
})
