import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import type { Endpoint } from '#lib/endpoint'
import { createLog } from '#lib/log'
import { createManualClock, settle } from '#test/harness/clock'
import { endpointsOf } from './endpoint.ts'
import { type Ask, Failover } from './failover.ts'
import { l1Fault } from './faults.ts'
import { l1Metrics } from './metrics.ts'

const { signal } = new AbortController()

/** Endpoints a, b, c …; each has a delay in ms and a result: a string is its answer, a fault is thrown, undefined is an answer too. */
type Plan = { ms: number; does: string | Error | undefined }
function endpointsWith(plans: Record<string, Plan>, hasBudget: (endpoint: Endpoint) => boolean = () => true) {
  const clock = createManualClock()
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const registry = new Registry()
  const endpoints = endpointsOf(Object.keys(plans).map((name) => `http://${name}`))
  const failover = new Failover({ clock, random: () => 0, log, metrics: l1Metrics.register(registry), hasBudget }, 'rpc', endpoints)
  const asked: string[] = []
  const stopped: string[] = []
  const ask: Ask<string | undefined> = async ({ name }, stop) => {
    const { ms, does } = plans[name] ?? expect.fail(name)
    asked.push(name)
    stop.addEventListener('abort', () => stopped.push(name), { once: true })
    if (ms > 0) await clock.delay(ms, stop)
    if (does instanceof Error) throw does
    return does
  }
  const run = () => failover.run('head', signal, ask).catch((error: unknown) => error)
  const find = () => failover.find('head', signal, ask).catch((error: unknown) => error)
  /** Many quick answers, so that the usual time is known. */
  const learn = async (times = 20) => {
    for (let i = 0; i < times; i++) {
      const answer = run()
      await clock.advanceMs(50)
      await answer
    }
    asked.length = 0
  }
  return { clock, lines, registry, failover, endpoints, asked, stopped, run, find, learn }
}
const unreachable = l1Fault('L1_UNREACHABLE', { endpoint: 'a', asked: 'x', reason: 'ECONNREFUSED' })
const limited = l1Fault('L1_RATE_LIMITED', { endpoint: 'a', asked: 'x', retryAfterMs: 90_000 })
const wrongChain = (endpoint: string) => l1Fault('L1_WRONG_CHAIN', { endpoint, what: 'chain id', expected: '1', found: '5' })

describe('l1/failover', () => {
  it('queries a second endpoint when the first is slow; the first answer wins and the other request is aborted', async () => {
    const plans = { a: { ms: 10, does: 'from a' }, b: { ms: 30, does: 'from b' } }
    const { clock, asked, stopped, run, learn } = endpointsWith(plans)
    await learn()
    expect(asked).toEqual([])
    plans.a.ms = 5_000
    const answer = run()
    await clock.advanceMs(99)
    expect(asked).toEqual(['a'])
    await clock.advanceMs(31)
    expect(await answer).toBe('from b')
    expect([asked, stopped]).toEqual([['a', 'b'], ['a']])
    expect(clock.waiting).toBe(0)
  })

  it('limits hedged requests, and demotes an endpoint that loses repeatedly', async () => {
    const plans = { a: { ms: 10, does: 'from a' }, b: { ms: 10, does: 'from b' } }
    const { clock, asked, lines, run, learn } = endpointsWith(plans)
    await learn()
    plans.a.ms = 2_000
    for (let i = 0; i < 3; i++) {
      const answer = run()
      await clock.advanceMs(3_000)
      expect(await answer).toBe('from b')
    }
    expect(asked).toEqual(['a', 'b', 'a', 'b', 'a', 'b'])
    expect(lines.join()).toContain('slower than others')
    asked.length = 0
    for (let i = 0; i < 3; i++) {
      const answer = run()
      await clock.advanceMs(100)
      await answer
    }
    expect(asked).toEqual(['b', 'b', 'b'])
    // both slow for a long time: one request in twenty is hedged
    plans.b.ms = 2_000
    asked.length = 0
    for (let i = 0; i < 200; i++) {
      const answer = run()
      await clock.advanceMs(9_000)
      await answer
    }
    expect(asked.length).toBeLessThanOrEqual(200 * 1.05 + 3)
  })

  it('skips an endpoint with a used-up quota at once, for as long as it demands', async () => {
    const plans: Record<string, Plan> = { a: { ms: 0, does: limited }, b: { ms: 0, does: 'from b' } }
    const { clock, asked, run } = endpointsWith(plans)
    expect(await run()).toBe('from b')
    plans['a'] = { ms: 0, does: 'from a' }
    expect(await run()).toBe('from b')
    await clock.advanceMs(89_999)
    expect(await run()).toBe('from b')
    await clock.advanceMs(1)
    expect(await run()).toBe('from a')
    expect(asked).toEqual(['a', 'b', 'b', 'b', 'a'])
  })

  it('pauses a failed endpoint, longer after each failure in a row; the fault has the wait when all are paused', async () => {
    const plans: Record<string, Plan> = { a: { ms: 0, does: unreachable } }
    const { clock, run, registry, lines } = endpointsWith(plans)
    for (const restMs of [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
      expect(await run()).toMatchObject({ code: 'L1_UNREACHABLE', data: { retryAfterMs: restMs } })
      expect(await registry.metrics()).toContain('basalt_l1_usable_peers{api="rpc"} 0')
      await clock.advanceMs(restMs)
    }
    plans['a'] = { ms: 0, does: 'back' }
    expect(await run()).toBe('back')
    expect(lines.at(-1)).toContain('responds again')
    expect(await registry.metrics()).toContain('basalt_l1_usable_peers{api="rpc"} 1')
  })

  it('excludes an endpoint of another L1 with one log line; fatal when all are excluded (L1_WRONG_CHAIN)', async () => {
    const plans: Record<string, Plan> = { a: { ms: 0, does: wrongChain('a') }, b: { ms: 0, does: 'from b' } }
    const { clock, asked, lines, run } = endpointsWith(plans)
    expect([await run(), await run()]).toEqual(['from b', 'from b'])
    await clock.advanceMs(3_600_000)
    expect(await run()).toBe('from b')
    expect(asked).toEqual(['a', 'b', 'b', 'b'])
    expect(lines.filter((line) => line.includes('L1_WRONG_CHAIN'))).toHaveLength(1)
    plans['b'] = { ms: 0, does: unreachable }
    expect(await run()).toMatchObject({ code: 'L1_UNREACHABLE', severity: 'retry' })
    plans['b'] = { ms: 0, does: wrongChain('b') }
    await clock.advanceMs(60_000)
    expect(await run()).toMatchObject({ code: 'L1_WRONG_CHAIN', severity: 'fatal' })
    expect(await run()).toMatchObject({ code: 'L1_WRONG_CHAIN', severity: 'fatal' })
  })

  it('queries the next endpoint when one has no answer; undefined only when all have none', async () => {
    const plans: Record<string, Plan> = { a: { ms: 0, does: undefined }, b: { ms: 0, does: 'from b' } }
    const { find } = endpointsWith(plans)
    expect(await find()).toBe('from b')
    plans['b'] = { ms: 0, does: undefined }
    expect(await find()).toBeUndefined()
    plans['b'] = { ms: 0, does: unreachable }
    expect(await find()).toMatchObject({ code: 'L1_UNREACHABLE' })
  })

  it('does not blame an endpoint that succeeded since for the failure of another', async () => {
    const plans: Record<string, Plan> = { a: { ms: 0, does: limited }, b: { ms: 0, does: 'from b' } }
    const { clock, find } = endpointsWith(plans)
    expect(await find()).toBe('from b')
    await clock.advanceMs(90_000)
    Object.assign(plans, { a: { ms: 0, does: undefined }, b: { ms: 0, does: unreachable } })
    expect(await find()).toMatchObject({ code: 'L1_UNREACHABLE', data: { retryAfterMs: 500 } })
  })

  it('queries an endpoint last when it has no budget or is behind', async () => {
    const plans: Record<string, Plan> = { a: { ms: 0, does: 'from a' }, b: { ms: 0, does: 'from b' } }
    let isSpent = true
    const { clock, run, failover, endpoints } = endpointsWith(plans, ({ name }) => name === 'b' || !isSpent)
    expect(await run()).toBe('from b')
    isSpent = false
    expect(await run()).toBe('from a')
    failover.demote(endpoints[0] ?? expect.fail())
    expect(await run()).toBe('from b')
    await clock.advanceMs(600_000)
    expect(await run()).toBe('from a')
  })

  it("an abort ends a request at once with its reason, and aborts the endpoint's request", async () => {
    const plans = { a: { ms: 10_000, does: 'from a' }, b: { ms: 10_000, does: 'from b' } }
    const { clock, failover, lines } = endpointsWith(plans)
    const abort = new AbortController()
    const answer = failover.run('head', abort.signal, (_endpoint, stop) => clock.delay(10_000, stop)).catch((error: unknown) => error)
    await clock.advanceMs(3_000)
    abort.abort(new Error('enough'))
    expect(await answer).toMatchObject({ message: 'enough' })
    await settle()
    expect([clock.waiting, lines]).toEqual([0, []])
  })

  it("rethrows an error that is not an endpoint's failure", async () => {
    const { run } = endpointsWith({ a: { ms: 0, does: new TypeError('an internal error') }, b: { ms: 0, does: 'from b' } })
    expect(await run()).toBeInstanceOf(TypeError)
  })
})
