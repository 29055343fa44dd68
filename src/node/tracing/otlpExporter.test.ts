import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { Send } from '#lib/jsonHttp'
import { createLog } from '#lib/log'
import { createManualClock, settle } from '#test/harness/clock'
import { traceMetrics } from '../metrics.ts'
import { exporterLimits, OtlpExporter, tracesEndpoint } from './otlpExporter.ts'
import type { Span } from './span.ts'

type Sent = { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly json: Body }
type Body = {
  readonly resourceSpans: readonly [{ readonly resource: unknown; readonly scopeSpans: readonly [{ readonly spans: readonly unknown[] }] }]
}

const span: Span = {
  ...{ traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8), parentSpanId: 'ef'.repeat(8), name: 'insert' },
  ...{ startMs: 1_700_000_000_000.25, endMs: 1_700_000_000_002.5 },
  attributes: { 'block.number': 7, 'block.ratio': 0.5, 'block.hash': '0x01', isOwn: true },
  error: 'refused',
}

function exporterOf(answer: () => { status: number; body?: unknown } | 'dead' | 'hangs') {
  const registry = new Registry()
  const clock = createManualClock()
  const lines: string[] = []
  const sent: Sent[] = []
  const fetch: Send = async (url, { headers, body = '', signal }) => {
    const given = answer()
    if (given === 'hangs') return await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    if (given === 'dead') throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    sent.push({ url, headers, json: JSON.parse(body) as Body })
    return new Response(JSON.stringify(given.body ?? {}), { status: given.status })
  }
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const exporter = new OtlpExporter(
    { clock, log, fetch, metrics: traceMetrics.register(registry) },
    {
      url: 'http://user:pass@collector:4318',
      headers: { 'x-key': 'k3y' },
      resource: { version: '1.2.3', attributes: { 'service.name': 'basalt' } },
    },
  )
  const counts = async () => (await registry.metrics()).split('\n').filter((line) => /^basalt_trace/.test(line))
  return { exporter, clock, lines, sent, counts }
}

const spansOf = ({ json }: Sent): readonly unknown[] => json.resourceSpans[0].scopeSpans[0].spans

it('node/tracing/otlpExporter: sends spans in the JSON form of OTLP', async () => {
  const { exporter, clock, sent, counts } = exporterOf(() => ({ status: 200, body: { partialSuccess: {} } }))
  exporter.add([span, { traceId: span.traceId, spanId: span.spanId, name: 'block', startMs: 5, endMs: 4, attributes: {} }])
  await clock.advanceMs(exporterLimits.intervalMs)
  await settle()
  expect(sent).toEqual([
    {
      url: 'http://collector:4318/v1/traces',
      headers: expect.objectContaining({ 'x-key': 'k3y', authorization: 'Basic dXNlcjpwYXNz', 'content-type': 'application/json' }),
      json: {
        resourceSpans: [
          {
            resource: { attributes: [{ key: 'service.name', value: { stringValue: 'basalt' } }] },
            scopeSpans: [
              {
                scope: { name: 'basalt', version: '1.2.3' },
                spans: [
                  {
                    ...{ traceId: span.traceId, spanId: span.spanId, parentSpanId: span.parentSpanId, name: 'insert', kind: 1 },
                    ...{ startTimeUnixNano: '1700000000000250000', endTimeUnixNano: '1700000000002500000' },
                    attributes: [
                      { key: 'block.number', value: { intValue: '7' } },
                      { key: 'block.ratio', value: { doubleValue: 0.5 } },
                      { key: 'block.hash', value: { stringValue: '0x01' } },
                      { key: 'isOwn', value: { boolValue: true } },
                    ],
                    status: { code: 2, message: 'refused' },
                  },
                  {
                    ...{ traceId: span.traceId, spanId: span.spanId, name: 'block', kind: 1, attributes: [] },
                    ...{ startTimeUnixNano: '5000000', endTimeUnixNano: '5000000' },
                  },
                ],
              },
            ],
          },
        ],
      },
    },
  ])
  expect(await counts()).toContain('basalt_trace_spans_total{outcome="exported"} 2')
})

it('node/tracing/otlpExporter: a dead collector costs one line and a bounded queue, and gets the oldest spans when it is back', async () => {
  let isDead = true
  let attempts = 0
  const { exporter, clock, lines, sent, counts } = exporterOf(() => {
    attempts++
    return isDead ? 'dead' : { status: 200 }
  })
  for (let i = 0; i < 100; i++) exporter.add(Array.from({ length: 100 }, (_none, at) => ({ ...span, name: `${i * 100 + at}` })))
  for (let i = 0; i < 300; i++) await clock.advanceMs(2_000)
  expect(attempts).toBeLessThan(20)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/traces not exported, retrying.*|"collector":"collector:4318","reason":"ECONNREFUSED"/)
  expect(lines[0]).not.toMatch(/k3y|pass/)
  expect(await counts()).toEqual([
    'basalt_trace_spans_total{outcome="exported"} 0',
    `basalt_trace_spans_total{outcome="dropped"} ${10_000 - exporterLimits.queue}`,
    'basalt_trace_spans_total{outcome="rejected"} 0',
    `basalt_trace_queue_entries ${exporterLimits.queue}`,
  ])
  isDead = false
  for (let i = 0; i < 100; i++) await clock.advanceMs(2_000)
  expect(sent.flatMap(spansOf)).toHaveLength(exporterLimits.queue)
  expect(sent.map((one) => spansOf(one).length)).toEqual(Array(8).fill(exporterLimits.batch))
  expect(spansOf(sent[0] ?? expect.fail())[0]).toMatchObject({ name: '0' })
  expect(lines[1]).toContain('traces are exported again')
  expect(await counts()).toContain('basalt_trace_queue_entries 0')
})

it.each<[string, number, unknown, readonly [exported: number, rejected: number], boolean]>([
  ['a refused batch is dropped', 400, {}, [0, 2], true],
  ['a busy collector gets the batch again', 503, {}, [0, 0], true],
  ['spans that it rejects are counted', 200, { partialSuccess: { rejectedSpans: '1', errorMessage: 'k3y' } }, [1, 1], false],
  ['a nonsense answer counts as taken', 200, { partialSuccess: { rejectedSpans: 'x' } }, [2, 0], false],
])('node/tracing/otlpExporter: %s', async (_what, status, body, [exported, rejected], isLogged) => {
  const { exporter, clock, lines, counts } = exporterOf(() => ({ status, body }))
  exporter.add([span, span])
  await clock.advanceMs(exporterLimits.intervalMs)
  await settle()
  const waiting = 2 - exported - rejected
  expect(await counts()).toEqual([
    `basalt_trace_spans_total{outcome="exported"} ${exported}`,
    'basalt_trace_spans_total{outcome="dropped"} 0',
    `basalt_trace_spans_total{outcome="rejected"} ${rejected}`,
    `basalt_trace_queue_entries ${waiting}`,
  ])
  expect(lines.length).toBe(isLogged ? 1 : 0)
  expect(lines.join('')).not.toContain('k3y')
})

it('node/tracing/otlpExporter: sends what waits at its end, but not to a dead collector', async () => {
  const alive = exporterOf(() => ({ status: 200 }))
  alive.exporter.add([span])
  await alive.exporter[Symbol.asyncDispose]()
  expect(alive.sent).toHaveLength(1)
  const dead = exporterOf(() => 'dead')
  dead.exporter.add([span])
  await dead.clock.advanceMs(exporterLimits.intervalMs)
  await settle()
  await dead.exporter[Symbol.asyncDispose]()
  expect(await dead.counts()).toContain('basalt_trace_spans_total{outcome="dropped"} 1')
})

it('node/tracing/otlpExporter: does not wait for a collector that hangs at its end', async () => {
  const hanging = exporterOf(() => 'hangs')
  hanging.exporter.add([span])
  const ended = hanging.exporter[Symbol.asyncDispose]()
  await settle()
  await hanging.clock.advanceMs(exporterLimits.closeTimeoutMs)
  await ended
  expect(await hanging.counts()).toContain('basalt_trace_spans_total{outcome="dropped"} 1')
})

it.each([
  ['http://collector:4318', 'http://collector:4318/v1/traces'],
  ['http://collector:4318/', 'http://collector:4318/v1/traces'],
  ['https://host/otlp', 'https://host/otlp/v1/traces'],
  ['https://host/v1/traces', 'https://host/v1/traces'],
  ['https://host/otlp?token=1', 'https://host/otlp/v1/traces?token=1'],
])('node/tracing/otlpExporter: traces of %s go to %s', (base, url) => {
  expect(tracesEndpoint(base).url).toBe(url)
})
