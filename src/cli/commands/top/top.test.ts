import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { parseMetrics } from '#monitor/metricText'
import type { Readings } from '#monitor/readings'
import { type NodeSample, sampleOf } from '#monitor/sample'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { serveNode } from '#test/harness/process/nodeServer'
import { runCli } from '../../run.ts'
import { columnsOf } from '../../screen.ts'
import { bar, History, sparkline } from './history.ts'
import { keyOf } from './keys.ts'
import { topView } from './topView.ts'

const metrics = (blocks: number, calls: number): string => `\
basalt_execution_blocks_total ${blocks}
basalt_execution_gas_total ${blocks * 8e6}
basalt_execution_transactions_total ${blocks * 100}
basalt_execution_stage_milliseconds_total{stage="transactions"} ${blocks * 100}
basalt_rpc_call_seconds_bucket{class="point-read",le="0.001"} ${calls}
basalt_rpc_call_seconds_bucket{class="point-read",le="+Inf"} ${calls}
basalt_rpc_call_seconds_count{class="point-read"} ${calls}
`
const readings = (atMs: number, blocks: number, calls: number): Readings => ({
  nowMs: 1_800_000_000_000 + atMs,
  elapsedMs: atMs,
  rpc: { kind: 'silent', reason: 'ECONNREFUSED' },
  metrics: { kind: 'reached', value: parseMetrics(metrics(blocks, calls)) },
  ready: { kind: 'reached', value: { ready: true, problems: [] } },
  rollupConfig: undefined,
})

function history(): { history: History; sample: NodeSample } {
  const history = new History()
  let sample = sampleOf(readings(0, 0, 0))
  for (let at = 1; at <= 30; at++) {
    sample = sampleOf(readings(at * 1_000, at * 5, at * 1_000), readings((at - 1) * 1_000, (at - 1) * 5 + (at % 3), (at - 1) * 1_000))
    history.add(sample)
  }
  return { history, sample }
}

it('cli/commands/top: shows rates, courses, stages and times of calls', () => {
  const { history: past, sample } = history()
  const text = topView(sample, past, 1, { columns: 80, rows: 40 }).join('\n')
  expect(text).toMatch(/blocks\/s {12}5\.0 {2}[▁▂▃▄▅▆▇█]{30}\n/)
  expect(text).toMatch(/Mgas\/s {13}40\.0 {2}[▇▅█]{30}\n/)
  expect(text).toContain('transactions  ██████████░░░░░░░░░░ 50 % of a core')
  expect(text).toMatch(/point-read {11}1,000 {5}0\.50 ms {5}0\.99 ms/)
})

it.each([
  [80, 24],
  [200, 60],
  [40, 10],
  [1, 1],
])('cli/commands/top: a view of %i×%i fits in every panel', (columns, rows) => {
  const { history: past, sample } = history()
  for (let selected = 0; selected < 5; selected++) {
    const lines = topView(sample, past, selected, { columns, rows })
    if (columns >= 80) expect(Math.max(...lines.map(columnsOf))).toBeLessThanOrEqual(columns)
    if (rows >= 24) expect(lines.length).toBeLessThanOrEqual(rows)
  }
})

it('cli/commands/top: texts of a node cannot control the terminal', () => {
  const hostile = sampleOf({
    ...readings(0, 0, 0),
    ready: { kind: 'reached', value: { ready: false, problems: ['a\u001b[2Jb\r\nc'] } },
    metrics: {
      kind: 'reached',
      value: parseMetrics('basalt_cache_held_bytes{cache="\u001b]0;x\u0007"} 1\nbasalt_cache_limit_bytes{cache="\u001b]0;x\u0007"} 1\n'),
    },
  })
  const text = topView(hostile, new History(), 0, { columns: 200, rows: 100 }).join('\n')
  expect(text).toContain('a [2Jb  c')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
  expect(text.replaceAll(/\u001b\[\d*m/g, '')).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
})

it('cli/commands/top: bars and courses are in proportion, also of nothing', () => {
  expect([bar(0.5, 4), bar(7, 4), bar(-1, 4), bar(Number.NaN, 4)]).toEqual(['██░░', '████', '░░░░', '░░░░'])
  expect([sparkline([0, 1, 2]), sparkline([]), sparkline([0, 0])]).toEqual(['▁▅█', '', '▁▁'])
})

it('cli/commands/top: knows its keys, and no others', () => {
  expect(['q', '\u0003', '1', '5', '\t', '\u001b[Z'].map(keyOf)).toEqual([
    { kind: 'quit' },
    { kind: 'quit' },
    { kind: 'panel', at: 0 },
    { kind: 'panel', at: 4 },
    { kind: 'move', by: 1 },
    { kind: 'move', by: -1 },
  ])
  expect(['6', '0', 'x', '', '\u001b[6~', 'qq'].map(keyOf)).toEqual(Array(6).fill(undefined))
})

it('cli/commands/top: --json prints one sample with rates, and needs no terminal', async () => {
  let scrapes = 0
  await using node = await serveNode({
    otherPages: (path) => (path === '/metrics' ? { body: metrics(++scrapes * 5, 0) } : { body: '{"ready":true}' }),
  })
  const io = scriptedIo({ clock: systemClock })
  const code = await runCli(['top', '--url', node.url, '--metrics-url', node.url, '--json'], io)
  const sample = JSON.parse(io.written.out) as NodeSample
  expect(code).toBe(0)
  expect(io.written.out.match(/\n/g)).toHaveLength(1)
  expect(sample.rates?.blocksPerSec).toBeGreaterThan(2)
  expect(sample.status.ready).toBe(true)
})

it('cli/commands/top: --json with --interval prints samples until it is interrupted', async () => {
  await using node = await serveNode({ pages: { '/metrics': { body: metrics(1, 1) } } })
  const io = scriptedIo({ clock: systemClock })
  const ended = runCli(['top', '--url', node.url, '--metrics-url', node.url, '--json', '--interval', '200ms'], io)
  while (io.written.out.split('\n').length < 4) await systemClock.delay(50)
  io.interrupt()
  expect(await ended).toBe(0)
  for (const line of io.written.out.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('rates')
})

it.each<[string, string[], number, RegExp]>([
  ['without a terminal', ['--url', 'http://127.0.0.1:9'], 2, /is not a terminal: use --json.*\(BAD_USAGE\)/],
  ['with an interval that is too short', ['--json', '--interval', '1ms'], 2, /--interval.*is not a time from 200ms to 3600s.*\(BAD_FLAG\)/],
  [
    'when no node answers',
    ['--json', '--url', 'http://127.0.0.1:9', '--metrics-url', 'http://127.0.0.1:9'],
    4,
    /no node answers.*\(NODE_SILENT\)/,
  ],
])('cli/commands/top: fails in one line %s', async (_when, args, code, line) => {
  const io = scriptedIo({ clock: systemClock })
  expect(await runCli(['top', ...args], io)).toBe(code)
  expect(io.written.err).toMatch(line)
  expect(io.written.err.match(/\n/g)).toHaveLength(1)
})
