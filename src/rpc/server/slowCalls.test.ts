import { Buffer } from 'node:buffer'
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createLog, silentLog } from '#lib/log'
import { createManualClock, settle } from '#test/harness/clock'
import type { CallContext } from '../context.ts'
import { createGates } from '../limits/gates.ts'
import { rpcMetrics } from '../metrics.ts'
import { createRegistry, methodsOf, type ParamCodec, param } from '../registry.ts'
import { ShareCaller } from './caller.ts'
import { createDispatcher } from './dispatch.ts'
import { createSlowLog, type SlowCall, slowLogLimits } from './slowCalls.ts'
import { UnreadTotal } from './unread.ts'

const text: ParamCodec<string> = { doc: 'text', parse: String }

function lineLog(clock = createManualClock()) {
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) })
  return { clock, log, lines }
}

const call: SlowCall = { ...{ method: 'eth_call', cost: 'execution', ms: 1234.6, queueMs: 200.2, answerBytes: 70 }, params: ['0x12'] }

it('rpc/server/slowCalls: a line has method, class, times, size, parameters and the network of the client', () => {
  const { clock, log, lines } = lineLog()
  const slow = createSlowLog({ clock, log }, 1_000)
  slow.note({ ...call, address: '203.0.113.77', errorCode: -32000 })
  slow.note({ ...call, address: '2001:db8:1:2:3::4' })
  for (const cost of ['submit', 'submit-sync'] as const) slow.note({ ...call, cost, params: [`0x${'f8'.repeat(200)}`] })
  expect(lines).toMatchObject([
    {
      ...{ level: 'warn', msg: 'slow request', method: 'eth_call', class: 'execution', ms: 1235, queueMs: 200, answerBytes: 70 },
      ...{ client: '203.0.113.0/24', errorCode: -32000, params: '[0x12]' },
    },
    { client: '2001:db8:1::/48' },
    { params: '(1 not shown)' },
    { params: '(1 not shown)' },
  ])
})

it('rpc/server/slowCalls: bounds the lines of a window, and counts those left out', async () => {
  const { clock, log, lines } = lineLog()
  const traced: SlowCall[] = []
  const slow = createSlowLog({ clock, log, onSlow: (one) => void traced.push(one) }, 1_000)
  for (let i = 0; i < 5_000; i++) slow.note(call)
  expect([lines.length, traced.length]).toEqual([slowLogLimits.lines, slowLogLimits.lines])
  await clock.advanceMs(slowLogLimits.windowMs)
  slow.note(call)
  slow.note(call)
  expect(lines.slice(slowLogLimits.lines).map(({ dropped }) => dropped)).toEqual([5_000 - slowLogLimits.lines, undefined])
})

it('rpc/server/slowCalls: a call is slow by its whole time, and the time until its turn is part of it', async () => {
  const { clock, log, lines } = lineLog()
  const ends: (() => void)[] = []
  const registry = createRegistry<CallContext>([
    methodsOf<CallContext>()({
      ...{ name: 'eth_getLogs', doc: 'Test.', params: [param('what', text)], result: { doc: 'text', encode: String }, cost: 'trace' },
      ...{ example: { params: [] } },
      run: (_context, what) =>
        what === 'bad' ? Promise.reject(new Error('internal')) : new Promise<string>((resolve) => ends.push(() => resolve(what))),
    }),
  ])
  const metrics = new Registry()
  const gates = createGates()
  const dispatcher = createDispatcher(
    {
      ...{ registry, gates, clock, log: silentLog, metrics: rpcMetrics.register(metrics), slow: createSlowLog({ clock, log }, 1_000) },
      contextOf: (cancellation: CallContext['cancellation']) => ({ cancellation }),
    },
    { maxBatch: 10, maxResponseBytes: 10_000 },
  )
  const caller = new ShareCaller(new UnreadTotal({ log: silentLog }, 1_000_000).join('http', () => {}).share(), undefined, {
    remoteAddress: '::ffff:10.1.2.3',
  })
  const ask = (what: string) =>
    dispatcher.answer(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [what] })), caller)
  // four calls of this class run at once
  const first = ['a', 'b', 'c', 'd'].map((what) => ask(what))
  const last = ask('e')
  await clock.advanceMs(999)
  for (const end of ends.splice(0)) end()
  await Promise.all(first)
  await settle()
  expect(lines).toEqual([])
  await clock.advanceMs(501)
  for (const end of ends.splice(0)) end()
  await last
  expect(lines).toMatchObject([{ method: 'eth_getLogs', class: 'trace', ms: 1500, queueMs: 999, client: '10.1.2.0/24', params: '[e]' }])
  await ask('bad')
  expect(lines).toHaveLength(1)
  const scraped = await metrics.metrics()
  expect(scraped).toContain('basalt_rpc_method_calls_total{method="eth_getLogs",outcome="result"} 5')
  expect(scraped).toContain('basalt_rpc_method_calls_total{method="eth_getLogs",outcome="error"} 1')
  expect(scraped).toContain('basalt_rpc_method_milliseconds_total{method="eth_getLogs"} 5496')
  expect(scraped).not.toContain('eth_call')
})
