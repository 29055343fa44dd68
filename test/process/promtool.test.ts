import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { alertRules, root, rulesFile } from '#test/deploy/rules'

const folder = mkdtempSync(join(tmpdir(), 'basalt-promtool-'))
afterAll(() => rmSync(folder, { recursive: true }))

const run = (...args: readonly string[]) => spawnSync('promtool', args, { encoding: 'utf8', cwd: join(root, 'deploy/prometheus') })
const isInstalled = spawnSync('promtool', ['--version']).error === undefined
const missing = 'promtool is not installed (Debian package prometheus)'

/** An alert with series, one value a minute, that make it fire at one minute and not at another. */
type Case = {
  readonly alert: string
  /** series without instance, and their values in promtool's notation; a sum above 1.8e308 is infinite, which older versions cannot read */
  readonly series: Readonly<Record<string, string>>
  readonly fires: number
  readonly not: readonly number[]
  readonly summary: string
  readonly labels?: Readonly<Record<string, string>>
}

const cases: readonly Case[] = [
  {
    alert: 'BasaltDown',
    series: { 'up{job="basalt",@}': '1x5 0x5 1x5' },
    fires: 8,
    not: [6, 12],
    summary: 'n:1 does not answer on /metrics',
  },
  {
    alert: 'BasaltRestarting',
    series: { 'basalt_node_start_seconds{@}': '100x5 200x5 300x5 400x100' },
    fires: 20,
    not: [12, 90],
    summary: 'n:1 has started 3 times within an hour',
  },
  {
    alert: 'BasaltNotReady',
    series: {
      'basalt_node_unready_state{@,reason="DISK_LOW"}': '0x5 1x5 0x5',
      'basalt_node_unready_state{@,reason="DERIVATION_BEHIND"}': '1x20',
    },
    fires: 8,
    not: [7, 13],
    summary: '/readyz of n:1 is 503: DISK_LOW',
    labels: { reason: 'DISK_LOW' },
  },
  {
    alert: 'BasaltMainThreadBusy',
    series: { 'basalt_node_loop_lag_seconds{@,quantile="0.99"}': '0.02x5 0.4x10 0.02x5' },
    fires: 12,
    not: [10, 18],
    summary: 'the main thread of n:1 is late by 400ms',
    labels: { quantile: '0.99' },
  },
  {
    alert: 'BasaltMemoryShort',
    series: { 'basalt_memory_pressure_state{@}': '0x5 1x15 0x5' },
    fires: 18,
    not: [15, 24],
    summary: 'n:1 is near --memory-max',
  },
  {
    alert: 'BasaltDiskFilling',
    series: { 'basalt_node_disk_left_seconds{@}': '1e9x5 172800x15 1e9x5' },
    fires: 18,
    not: [4, 15, 24],
    summary: 'the disk of n:1 is full in 2d 0h 0m 0s',
  },
  {
    alert: 'BasaltFaultsRepeating',
    series: { 'basalt_faults_total{@,code="L1_UNREACHABLE"}': '0x60 1+1x60 61x90' },
    fires: 110,
    not: [65, 205],
    summary: 'n:1 has logged L1_UNREACHABLE 50 times within an hour',
    labels: { code: 'L1_UNREACHABLE' },
  },
  {
    alert: 'BasaltHeadStalled',
    series: { 'basalt_consensus_l2_block_number{@,label="unsafe"}': '0+10x20 200x20 201+10x20', 'basalt_node_start_seconds{@}': '0x80' },
    fires: 38,
    not: [2, 29, 45],
    summary: 'the head of n:1 has not moved for ten minutes',
    labels: { label: 'unsafe' },
  },
  {
    alert: 'BasaltSyncStuck',
    series: { 'basalt_node_sync_left_seconds{@}': '100x5 1e308+1e308x20 100x5' },
    fires: 24,
    not: [18, 29],
    summary: 'n:1 is behind and does not catch up',
  },
  {
    alert: 'BasaltSafeHeadOld',
    series: {
      'basalt_node_head_age_seconds{@,head="safe"}': '60x5 3600x30',
      'basalt_node_head_age_seconds{@,head="l1_derived"}': '20x20 4000x20',
    },
    fires: 15,
    not: [8, 25],
    summary: 'n:1 has read L1, and its safe head is 1h 0m 0s old',
    labels: { head: 'safe' },
  },
  {
    alert: 'BasaltDerivationResets',
    series: { 'basalt_consensus_resets_total{@,by="engine"}': '0x5 1+1x12 13x90' },
    fires: 18,
    not: [8, 90],
    summary: 'derivation of n:1 was reset 13 times within an hour',
  },
  {
    alert: 'BasaltEngineFailing',
    series: { 'basalt_engine_requests_total{@,call="newPayload",outcome="failed"}': '0x5 1+1x10 11x20' },
    fires: 12,
    not: [5, 25],
    summary: 'n:1 does not reach its execution half',
  },
  {
    alert: 'BasaltForkUnsupported',
    series: { 'basalt_consensus_unsupported_fork_seconds{@}': '1e9x5 864000x5 1e9x5' },
    fires: 8,
    not: [5, 14],
    summary: 'n:1 stops in 10d 0h 0m 0s, before a fork that it does not know',
  },
  {
    alert: 'BasaltForkScheduleDiffers',
    series: { 'basalt_consensus_fork_schedule_differs_state{@}': '0x5 1x10 0x5' },
    fires: 12,
    not: [9, 18],
    summary: 'L1 publishes another fork time than n:1 has',
  },
  {
    alert: 'BasaltL1Down',
    series: { 'basalt_l1_usable_peers{@,api="rpc"}': '1x5 0x10 1x5' },
    fires: 10,
    not: [6, 18],
    summary: 'no L1 endpoint of n:1 is usable (rpc)',
    labels: { api: 'rpc' },
  },
  {
    alert: 'BasaltL1BlobScheduleDiffers',
    series: { 'basalt_l1_other_blob_schedule_peers{@}': '0x5 1x10 0x5' },
    fires: 12,
    not: [9, 18],
    summary: 'an L1 endpoint of n:1 has another blob schedule',
  },
  {
    alert: 'BasaltNoPeers',
    series: {
      'basalt_p2p_peer_connections{@,direction="inbound",client="base"}': '3x5 0x15 1x5',
      'basalt_p2p_peer_connections{@,direction="outbound",client="base"}': '3x5 0x15 0x5',
    },
    fires: 18,
    not: [14, 24],
    summary: 'n:1 has no peer',
  },
  {
    alert: 'BasaltCallsRefused',
    series: { 'basalt_rpc_limit_hits_total{@,limit="rate"}': '0x5 600+600x30 18600x20' },
    fires: 25,
    not: [12, 50],
    summary: 'n:1 refuses 10 calls a second by the limit rate',
    labels: { limit: 'rate' },
  },
  {
    alert: 'BasaltProofsStopped',
    series: { 'basalt_proofs_recording_state{@}': '1x5 0x5 1x5' },
    fires: 9,
    not: [6, 14],
    summary: 'n:1 no longer records proofs',
  },
  {
    alert: 'BasaltProofsBehind',
    series: { 'basalt_proofs_lag_blocks{@}': '10x5 1500x15 10x5' },
    fires: 18,
    not: [14, 24],
    summary: 'recorded proofs of n:1 are 1500 blocks behind the head',
  },
]

const at = (series: string): string => series.replace('@', 'instance="n:1"')

function testOf({ alert, series, fires, not, summary, labels = {} }: Case): object {
  const severity = alertRules.find((rule) => rule.alert === alert)?.labels['severity']
  const job = alert === 'BasaltDown' ? { job: 'basalt' } : {}
  const page = labels['reason'] ?? alert
  const exp_alerts = [
    {
      exp_labels: { severity, instance: 'n:1', ...job, ...labels },
      exp_annotations: { summary, runbook_url: `docs/runbooks/${page}.md` },
    },
  ]
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: at(name), values })),
    alert_rule_test: [
      { eval_time: `${fires}m`, alertname: alert, exp_alerts },
      ...not.map((minute) => ({ eval_time: `${minute}m`, alertname: alert, exp_alerts: [] })),
    ],
  }
}

it('deploy: promtool accepts the rules and the configuration', (context) => {
  context.skip(!isInstalled, missing)
  for (const args of [
    ['check', 'rules', 'rules.yaml'],
    ['check', 'config', 'prometheus.yaml'],
  ]) {
    const { status, stderr } = run(...args)
    expect([status, stderr]).toEqual([0, expect.any(String)])
  }
})

it('deploy: every alert has a case', () => {
  expect(cases.map(({ alert }) => alert).sort()).toEqual(alertRules.map(({ alert }) => alert).sort())
})

it.for(cases)('deploy: $alert fires on its series and ends', (one, context) => {
  context.skip(!isInstalled, missing)
  const file = join(folder, `${one.alert}.yaml`)
  writeFileSync(file, JSON.stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests: [testOf(one)] }))
  const { status, stdout, stderr } = run('test', 'rules', file)
  expect(`${status} ${stdout}${stderr}`).toMatch(/^0 /)
})
