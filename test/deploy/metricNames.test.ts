import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { unknownMetrics } from './references.ts'
import { alertRules, root } from './rules.ts'

type Dashboard = {
  readonly uid: string
  readonly panels: readonly { readonly title: string; readonly targets: readonly { expr: string }[] }[]
}
const dashboards = globSync('deploy/grafana/dashboards/*.json', { cwd: root }).map(
  (file) => JSON.parse(readFileSync(join(root, file), 'utf8')) as Dashboard,
)

it('deploy: every metric, label and value in a rule is in the reference of metrics', () => {
  expect(alertRules.length).toBeGreaterThanOrEqual(20)
  expect(alertRules.flatMap(({ alert, expr }) => unknownMetrics(expr).map((name) => [alert, name]))).toEqual([])
  expect(alertRules.filter(({ expr }) => !/\b(?:basalt_|up\{)/.test(expr))).toEqual([])
})

it('deploy: every metric, label and value in a panel is in the reference of metrics', () => {
  expect(dashboards.map(({ uid }) => uid).sort()).toEqual(
    ['import', 'l1', 'overview', 'p2p', 'proofs', 'rpc'].map((name) => `basalt-${name}`),
  )
  const queries = dashboards.flatMap(({ uid, panels }) =>
    panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ uid, title, expr }))),
  )
  expect(queries.length).toBeGreaterThan(70)
  expect(queries.filter(({ expr }) => unknownMetrics(expr).length > 0 || !expr.includes('basalt_'))).toEqual([])
})

it('deploy: finds an unknown metric, label and value', () => {
  expect(unknownMetrics('rate(basalt_no_such_total[5m])')).toEqual(['basalt_no_such_total'])
  expect(unknownMetrics('basalt_node_head_age_seconds{head="pending"} > 1')).toHaveLength(1)
  expect(unknownMetrics('basalt_node_head_age_seconds{name="safe"} > 1')).toHaveLength(1)
  expect(unknownMetrics('basalt_p2p_gossip_latency_seconds')).toHaveLength(1)
  expect(unknownMetrics('basalt_node_head_age_seconds{instance=~"$instance",head="safe"} > 1')).toEqual([])
})

it('deploy: the alerts have different names, a severity, a summary and a runbook', () => {
  expect(new Set(alertRules.map(({ alert }) => alert)).size).toBe(alertRules.length)
  for (const { alert, labels, annotations } of alertRules) {
    expect([alert, labels['severity']]).toEqual([alert, expect.stringMatching(/^(critical|warning)$/)])
    expect([alert, annotations['summary']]).toEqual([alert, expect.stringContaining('{{ $labels.instance }}')])
    expect(annotations['runbook_url']).toBe(`docs/runbooks/${alert === 'BasaltNotReady' ? '{{ $labels.reason }}' : alert}.md`)
  }
})
