import { Counter, Gauge, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createLog } from '#lib/log'
import { ThreadLink } from '#lib/threadLink'
import { createManualClock, settle } from '#test/harness/clock'
import { rpcThreadsMetrics } from '../metrics.ts'
import type { MetricValues } from './rpcWorkerProtocol.ts'
import { ThreadReadings } from './threadReadings.ts'

type OfThread = { metrics(): MetricValues | Promise<MetricValues> }

/** Returns a thread that is reached as another thread is: by cloned messages. */
function thread(metrics: OfThread['metrics']) {
  const link: ThreadLink<OfThread, object> = new ThreadLink<OfThread, object>({
    post: (message) => there.receive(structuredClone(message)),
    here: {},
    onFailure: (error) => expect.fail(String(error)),
  })
  const there: ThreadLink<object, OfThread> = new ThreadLink<object, OfThread>({
    post: (message) => link.receive(structuredClone(message)),
    here: { metrics },
    onFailure: (error) => expect.fail(String(error)),
  })
  return { link }
}

function readingsOf(clock = createManualClock()) {
  const registry = new Registry()
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const readings = new ThreadReadings({ clock, log, metrics: rpcThreadsMetrics.register(registry) })
  const shown = async (): Promise<readonly string[]> =>
    (await registry.metrics()).split('\n').filter((line) => /^basalt_node_rpc_(?:unmeasured|metric_failures)/.test(line))
  return { clock, lines, readings, shown }
}

const valuesOf = (name: string): MetricValues => [{ name, help: '', type: 'gauge', aggregator: 'sum', values: [] } as never]
const counts = (unmeasured: number, late: number, failed: number) => [
  `basalt_node_rpc_unmeasured_threads ${unmeasured}`,
  `basalt_node_rpc_metric_failures_total{why="late"} ${late}`,
  `basalt_node_rpc_metric_failures_total{why="failed"} ${failed}`,
]

it('node/threads/threadReadings: counts each scrape without the values of a thread, and logs the first (THREAD_UNMEASURED)', async () => {
  const { readings, lines, shown } = readingsOf()
  let values: MetricValues = valuesOf('before')
  const threads = [thread(() => values), thread(() => valuesOf('other'))]
  await readings.read(threads)
  expect([await shown(), lines]).toEqual([counts(0, 0, 0), []])
  // a function cannot be sent between threads
  values = [{ ...valuesOf('after')[0], collect: () => {} } as never]
  await readings.read(threads)
  await readings.read(threads)
  expect(readings.values).toEqual([valuesOf('before'), valuesOf('other')])
  expect(await shown()).toEqual(counts(1, 0, 2))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/"level":"warn".*could not be cloned.*THREAD_UNMEASURED/)
  values = valuesOf('after')
  await readings.read(threads)
  expect(readings.values).toEqual([valuesOf('after'), valuesOf('other')])
  expect(await shown()).toEqual(counts(0, 0, 2))
  expect(lines[1]).toMatch(/"level":"info".*read again/)
})

it('node/threads/threadReadings: keeps the earlier values of a thread that does not answer in time', async () => {
  const { readings, clock, lines, shown } = readingsOf()
  const answers: MetricValues[] = [valuesOf('first')]
  const threads = [thread(() => answers.shift() ?? new Promise(() => {}))]
  await readings.read(threads)
  const late = readings.read(threads)
  await settle()
  await clock.advanceMs(1_000)
  await late
  expect(readings.values).toEqual([valuesOf('first')])
  expect([await shown(), lines.length]).toEqual([counts(1, 1, 0), 1])
  readings.end(0)
  await readings.read([undefined])
  expect([readings.values, await shown()]).toEqual([[[]], counts(0, 1, 0)])
})

it('node/threads/threadReadings: keeps the counts of all threads that end in the same turn, and none of their gauges', async () => {
  const { readings } = readingsOf()
  const values = async (calls: number): Promise<MetricValues> => {
    const registry = new Registry()
    new Counter({ registers: [registry], name: 'calls_total', help: 'calls' }).inc(calls)
    new Gauge({ registers: [registry], name: 'open', help: 'open' }).set(calls)
    return await registry.getMetricsAsJSON()
  }
  await readings.read([thread(() => values(1)), thread(() => values(10)), thread(() => values(100))])
  for (const number of [0, 1, 2]) readings.end(number)
  const [first, second, third, ended = []] = await readings.all()
  expect([first, second, third]).toEqual([[], [], []])
  expect(ended.map(({ name, values: [value] }) => [name, value?.value])).toEqual([['calls_total', 111]])
})
