import { expect, it } from 'vitest'
import { parseMetrics } from './metricText.ts'

it('monitor/metricText: reads values with their labels, infinities, escapes and time stamps', () => {
  const metrics = parseMetrics('# HELP a_total x\na_total 5\nb{c="d",e="f\\"}\\n"} 1.5e3 1700000000000\nb{c="g"} +Inf\nn NaN\n')
  expect(metrics.value('a_total')).toBe(5)
  expect(metrics.value('b', { c: 'd', e: 'f"}\n' })).toBe(1_500)
  expect(metrics.value('b', { c: 'g' })).toBe(Number.POSITIVE_INFINITY)
  expect(metrics.value('b', { c: 'd' })).toBeUndefined()
  expect(metrics.value('n')).toBeUndefined()
  expect(metrics.series('b')).toHaveLength(2)
})

it.each(['', '\u0000\u0001', 'a{b="c} 5', '{} 5', 'a{b="c"} five', 'a '.repeat(10_000)])(
  'monitor/metricText: skips a line without a sample (%#)',
  (text) => {
    expect(parseMetrics(text).series('a')).toEqual([])
  },
)

it('monitor/metricText: skips a line that is too long, as parsing takes quadratic time', () => {
  const startMs = performance.now()
  const metrics = parseMetrics(`a{${'b="",'.repeat(200_000)}} 1\na{b="${'x'.repeat(16_000_000)}"} 1\na{b="c"} 2`)
  expect(metrics.series('a')).toEqual([{ labels: { b: 'c' }, value: 2 }])
  expect(performance.now() - startMs).toBeLessThan(1_000)
})
