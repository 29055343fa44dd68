import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/process.ts'

type Target = { readonly expr: string; readonly legendFormat: string }
type Dashboard = {
  readonly title: string
  readonly panels: readonly { readonly title: string; readonly targets: readonly Target[] }[]
  readonly templating: { readonly list: readonly { readonly query: string }[] }
}

/** Answer of Prometheus's HTTP API. */
export type Answer<Data> = { readonly status: string; readonly error?: string; readonly data: Data }
/** Reads a path of the API. */
type Get = <Data>(path: string) => Promise<Answer<Data>>

type Series = { readonly metric: Readonly<Record<string, string>> }

export type PanelFindings = {
  readonly queries: number
  /** queries that Prometheus refuses, and legends with a label that a series lacks */
  readonly wrong: readonly string[]
  /** panels without data */
  readonly empty: readonly string[]
}

/** Range of the queries of panels, and their step. */
const [rangeSec, stepSec] = [60, 5]

/** Path of the query of a variable: Grafana's `label_values(series, label)`. */
function variablePath(query: string): string {
  const [, series = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(query) ?? []
  return `/api/v1/label/${label}/values?match[]=${encodeURIComponent(series)}`
}

/** Path of the query of a panel, with Grafana's variables for all nodes. */
function rangePath(expr: string): string {
  const query = expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '30s')
  const end = Math.floor(Date.now() / 1_000)
  return `/api/v1/query_range?query=${encodeURIComponent(query)}&start=${end - rangeSec}&end=${end}&step=${stepSec}`
}

/** @returns the number of series, and what is wrong */
async function runTarget(get: Get, { expr, legendFormat }: Target): Promise<{ readonly rows: number; readonly wrong: readonly string[] }> {
  const { status, error = '', data } = await get<{ readonly result: readonly Series[] }>(rangePath(expr))
  if (status !== 'success') return { rows: 0, wrong: [error] }
  const labels = [...legendFormat.matchAll(/{{(\w+)}}/g)].map(([, label = '']) => label)
  const missing = labels.filter((label) => data.result.some(({ metric }) => metric[label] === undefined))
  return { rows: data.result.length, wrong: missing.map((label) => `no label ${label} in ${expr}`) }
}

/** Runs the queries of all variables and panels of the dashboards over a range of time, as Grafana does. */
export async function runPanels(get: Get): Promise<PanelFindings> {
  const wrong: string[] = []
  const empty: string[] = []
  let queries = 0
  for (const file of globSync(join(root, 'deploy/grafana/dashboards/*.json'))) {
    const { title, panels, templating } = JSON.parse(readFileSync(file, 'utf8')) as Dashboard
    for (const { query } of templating.list) {
      const { status, data } = await get<readonly string[]>(variablePath(query))
      if (status !== 'success' || data.length === 0) wrong.push(`${title}: no values of ${query}`)
    }
    for (const panel of panels) {
      const outcomes = await Promise.all(panel.targets.map((target) => runTarget(get, target)))
      queries += outcomes.length
      wrong.push(...outcomes.flatMap((outcome) => outcome.wrong.map((text) => `${title}: ${panel.title}: ${text}`)))
      if (outcomes.every(({ rows }) => rows === 0)) empty.push(`${title}: ${panel.title}`)
    }
  }
  return { queries, wrong, empty }
}
