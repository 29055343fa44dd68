import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { counter, defineMetrics, gauge, histogram } from './metrics.ts'

const table = defineMetrics({
  frames: counter('basalt_test_frames_total', 'Frames by outcome', { place: ['append', 'gap'] }),
  head: gauge('basalt_test_head_block_number', 'Number of the head'),
  took: histogram('basalt_test_import_seconds', 'Time of an import', [0.1, 1]),
})

it('lib/metrics: a series exists with value zero before its first event, and counts', async () => {
  const registry = new Registry()
  const metrics = table.register(registry)
  metrics.frames.inc({ place: 'gap' })
  metrics.frames.inc({ place: 'gap' }, 2)
  metrics.head.set({}, 7)
  metrics.took.observe({}, 0.5)
  const text = await registry.metrics()
  expect(text).toContain('basalt_test_frames_total{place="append"} 0')
  expect(text).toContain('basalt_test_frames_total{place="gap"} 3')
  expect(text).toContain('basalt_test_head_block_number 7')
  expect(text).toContain('basalt_test_import_seconds_bucket{le="1"} 1')
})

it('lib/metrics: two registries do not share values', async () => {
  const [first, second] = [new Registry(), new Registry()]
  table.register(first).head.set({}, 1)
  table.register(second).head.set({}, 2)
  expect(await first.metrics()).toContain('basalt_test_head_block_number 1')
  expect(await second.metrics()).toContain('basalt_test_head_block_number 2')
})

it('lib/metrics: rejects a label value outside the closed set, by type and at run time', () => {
  const metrics = table.register(new Registry())
  // @ts-expect-error not in the set
  expect(() => metrics.frames.inc({ place: 'elsewhere' })).toThrow(RangeError)
})

it.each([
  ['a counter without _total', () => defineMetrics({ a: counter('basalt_test_frames', '') })],
  ['a gauge without a unit', () => defineMetrics({ a: gauge('basalt_test_depth', '') })],
  ['a name without the project prefix', () => defineMetrics({ a: gauge('test_depth_bytes', '') })],
  ['a duplicate name', () => defineMetrics({ a: counter('basalt_test_a_total', ''), b: counter('basalt_test_a_total', '') })],
])('lib/metrics: rejects %s', (_what, define) => {
  expect(define).toThrow(RangeError)
})
