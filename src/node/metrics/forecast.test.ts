import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { DriverStatus } from '#consensus/status'
import { createManualClock } from '#test/harness/clock'
import { emptyRoot as someHash } from '#types/ids'
import { createForecast, lagSec } from './forecast.ts'

const l1 = (number: number, timestamp: number) => ({ number, timestamp, hash: someHash, parentHash: someHash })
const l2 = (number: number, timestamp: number) => ({ ...l1(number, timestamp), l1Origin: l1(1, 1), sequenceNumber: 0 })
const status = (origin: number, latest: number): DriverStatus => ({
  phase: 'deriving',
  l1: { latest: l1(latest, latest * 12), safe: undefined, finalized: undefined },
  origin: l1(origin, origin * 12),
  heads: { unsafe: l2(500, 900), safe: l2(490, 880), finalized: l2(400, 800) },
  labels: 'l1',
  wait: undefined,
  waits: [],
  resets: 0,
  fault: undefined,
})

it.each<[string, DriverStatus, number | undefined]>([
  ['the L1 time between derivation and the head of L1', status(10, 60), 600],
  ['0 at the next L1 block', status(59, 60), 0],
  ['unknown before derivation has an origin', { ...status(10, 60), origin: undefined }, undefined],
  ['the age of the head of a followed chain', { ...status(10, 60), labels: 'source' }, 100],
])('node/metrics/forecast: the lag is %s', (_what, now, seconds) => {
  expect(lagSec(now, 1_000_000)).toBe(seconds)
})

it('node/metrics/forecast: forecasts the end of a sync by its rate, and nothing of a disk that it has watched for a minute', async () => {
  const clock = createManualClock(0)
  const registry = new Registry()
  let origin = 0
  using forecast = createForecast({ clock, registry, status: () => status(origin, 1_000) }, { datadir: '/', minFreeBytes: 0 })
  for (let step = 0; step < 6; step++) {
    origin += 10
    await clock.advanceMs(10_000)
  }
  forecast.collect()
  const text = await registry.metrics()
  // 60 of 1,000 L1 blocks in 60 s; 48 s of L1 time are four blocks
  expect(Number(/^basalt_node_sync_left_seconds (\S+)/m.exec(text)?.[1])).toBeCloseTo(936)
  expect(text).toMatch(/basalt_node_disk_left_seconds nan/i)
})
