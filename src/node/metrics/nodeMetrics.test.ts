import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, expect, it } from 'vitest'
import { networkOf } from '#chainspec/networks'
import type { DriverStatus } from '#consensus/status'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { emptyRoot as someHash } from '#types/ids'
import { nodeFault } from '../faults.ts'
import { createNodeMetrics } from './nodeMetrics.ts'

const { config } = networkOf('base')
const datadir = mkdtempSync(join(tmpdir(), 'basalt-metrics-'))
afterAll(() => rmSync(datadir, { recursive: true }))

const l1 = (number: number, timestamp: number) => ({ number, timestamp, hash: someHash, parentHash: someHash })
const l2 = (number: number, timestamp: number) => ({ ...l1(number, timestamp), l1Origin: l1(1, 1), sequenceNumber: 0 })
const status: DriverStatus = {
  phase: 'deriving',
  l1: { latest: l1(70, 990), safe: undefined, finalized: l1(60, 900) },
  origin: l1(69, 980),
  heads: { unsafe: l2(500, 999), safe: l2(490, 979), finalized: l2(400, 800) },
  labels: 'l1',
  wait: undefined,
  waits: [],
  resets: 3,
  fault: undefined,
}

it('node/metrics/nodeMetrics: measures ages by the wall clock and store sizes, also under the names of other clients', async () => {
  const registry = new Registry()
  using meter = createNodeMetrics({ registry, clock: createManualClock(1_000_000) }, { mode: 'all', datadir, config })
  mkdirSync(join(datadir, 'chain/journal'), { recursive: true })
  writeFileSync(join(datadir, 'chain/data.mdb'), new Uint8Array(10_000).fill(1))
  writeFileSync(join(datadir, 'chain/journal/1'), new Uint8Array(5_000).fill(1))
  meter.collect({ status, heads: undefined, problems: [] })
  const lines = (await registry.metrics()).split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      'basalt_node_head_age_seconds{head="l1"} 10',
      'basalt_node_head_age_seconds{head="unsafe"} 1',
      'basalt_node_head_age_seconds{head="finalized"} 200',
      'basalt_node_build_info{mode="all"} 1',
      'op_node_default_refs_number{layer="l1",type="l1_head"} 70',
      'op_node_default_refs_number{layer="l1",type="l1_derived"} 69',
      'op_node_default_refs_number{layer="l2",type="l2_safe"} 490',
      'op_node_default_refs_latency{layer="l2",type="l2_unsafe"} 1',
      'op_node_default_pipeline_resets_total 3',
      'op_node_default_derivation_idle 0',
      'base_node_block_labels{label="unsafe"} 500',
      'base_node_derivation_l1_origin 69',
      'basalt_node_fork_state{fork="regolith"} 1',
      'basalt_node_fork_state{fork="denim"} 0',
    ]),
  )
  expect(lines.filter((line) => line.includes('l1_safe'))).toEqual([])
  const bytes = Number(lines.find((line) => line.startsWith('basalt_node_store_bytes{store="chain"}'))?.split(' ')[1])
  expect(bytes).toBeGreaterThanOrEqual(15_000)
  expect(bytes).toBeLessThan(100_000)
  expect(lines).toContain('basalt_node_store_bytes{store="consensus"} 0')

  meter.collect({ status: { ...status, resets: 4 }, heads: undefined, problems: [] })
  expect(await registry.metrics()).toContain('op_node_default_pipeline_resets_total 4')
})

it('node/metrics/nodeMetrics: measures ages of its own heads in execution mode, without names of consensus clients', async () => {
  const registry = new Registry()
  using meter = createNodeMetrics(
    { registry, clock: createManualClock(1_000_000) },
    { mode: 'execution', datadir: join(datadir, 'none'), config },
  )
  meter.collect({ status: undefined, heads: status.heads, problems: [] })
  const text = await registry.metrics()
  expect(text).toContain('basalt_node_head_age_seconds{head="safe"} 21')
  expect(text).not.toMatch(/op_node|base_node/)
})

it('node/metrics/nodeMetrics: counts faults in the log by code, unknown codes as other', async () => {
  const registry = new Registry()
  using meter = createNodeMetrics({ registry, clock: createManualClock() }, { mode: 'all', datadir, config })
  const log = meter.counting(silentLog)
  log.child('l1').warn('failed', { error: nodeFault('OPTION_MISSING', { mode: 'all', option: 'x' }) })
  log.error('failed', { code: 'ECONNREFUSED' })
  const text = await registry.metrics()
  expect(text).toContain('basalt_faults_total{code="OPTION_MISSING"} 1')
  expect(text).toContain('basalt_faults_total{code="other"} 1')
  expect(text).toContain('basalt_faults_total{code="PORT_IN_USE"} 0')
})

it('node/metrics/nodeMetrics: shows the start of the process and each reason of /readyz, a text without a code as other', async () => {
  const registry = new Registry()
  using meter = createNodeMetrics({ registry, clock: createManualClock(1_000_000) }, { mode: 'all', datadir, config })
  const problems = ['the unsafe head is not known yet', 'a text of a later version']
  meter.collect({ status, heads: undefined, problems })
  const unready = async () =>
    (await registry.metrics()).match(/^basalt_node_unready_state\{reason="\w+"\} 1$/gm)?.map((line) => line.split('"')[1])
  expect(await unready()).toEqual(['HEAD_UNKNOWN', 'other'])
  expect(await registry.metrics()).toContain('\nbasalt_node_start_seconds 1000\n')
  meter.collect({ status, heads: undefined, problems: [] })
  expect(await unready()).toBeUndefined()
})
