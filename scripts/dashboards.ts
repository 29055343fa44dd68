import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueJustifyMode,
  BigValueTextMode,
  type DashboardLink,
  type DataQuery,
  type Dashboard as GrafanaDashboard,
  type Panel as GrafanaPanel,
  GraphDrawStyle,
  type GraphFieldConfig,
  type GridPos,
  LegendDisplayMode,
  PercentChangeColorMode,
  SortOrder,
  TooltipDisplayMode,
  type VariableModel,
  VariableRefresh,
  VisibilityMode,
  VizOrientation,
} from '@grafana/schema'
import type { Options as StatOptions } from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen.js'
import type { Options as GraphOptions } from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen.js'
import { type Dashboard, dashboards, type Panel } from './dashboardPanels.ts'

/** Query of Grafana's data source for Prometheus. */
type PrometheusQuery = DataQuery & {
  readonly expr: string
  readonly legendFormat: string
  readonly range: boolean
  readonly instant: boolean
}

const datasource = { type: 'prometheus', uid: 'basalt-prometheus' }
const chosen = 'instance=~"$instance"'
const width = { stat: 4, timeseries: 8 } as const
const height = { stat: 4, timeseries: 7 } as const
const columns = 24

const statOptions: StatOptions = {
  reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
  graphMode: BigValueGraphMode.None,
  colorMode: BigValueColorMode.None,
  textMode: BigValueTextMode.Auto,
  justifyMode: BigValueJustifyMode.Auto,
  orientation: VizOrientation.Auto,
  showPercentChange: false,
  percentChangeColorMode: PercentChangeColorMode.Standard,
  wideLayout: true,
}
const graphOptions: GraphOptions = {
  legend: { showLegend: true, displayMode: LegendDisplayMode.List, placement: 'bottom', calcs: [] },
  tooltip: { mode: TooltipDisplayMode.Multi, sort: SortOrder.Descending },
}
const graphStyle: GraphFieldConfig = { drawStyle: GraphDrawStyle.Line, showPoints: VisibilityMode.Never, fillOpacity: 5 }

type Placed = GrafanaPanel & { readonly gridPos: GridPos }

/** Panel in Grafana's format. */
function panelJson({ title, unit, queries, isStat }: Panel, id: number, gridPos: GridPos): Placed {
  const targets = queries.map(([query, legendFormat], i) => {
    const expr = query.replaceAll('@', chosen)
    // a value for each point of the panel; a single value is the last one
    return { refId: String.fromCharCode(65 + i), expr, legendFormat, range: true, instant: false } satisfies PrometheusQuery
  })
  return {
    id,
    type: isStat ? 'stat' : 'timeseries',
    title,
    datasource,
    gridPos,
    fieldConfig: { defaults: { unit, ...(isStat ? {} : { custom: { ...graphStyle } }) }, overrides: [] },
    options: isStat ? { ...statOptions } : { ...graphOptions },
    targets,
  }
}

/** Places panels in lines from left to right. */
function placed(panels: readonly Panel[]): readonly Placed[] {
  let [x, y, lineHeight] = [0, 0, 0]
  return panels.map((panel, i) => {
    const type = panel.isStat ? 'stat' : 'timeseries'
    const [w, h] = [width[type], height[type]]
    if (x + w > columns || (lineHeight > 0 && h !== lineHeight)) [x, y] = [0, y + lineHeight]
    const json = panelJson(panel, i + 1, { x, y, w, h })
    x += w
    lineHeight = h
    return json
  })
}

/** A dashboard in Grafana's JSON format. */
function dashboardJson(name: string, { title, panels }: Dashboard): string {
  const instances: VariableModel = {
    name: 'instance',
    label: 'node',
    type: 'query',
    datasource,
    query: 'label_values(up{job="basalt"}, instance)',
    refresh: VariableRefresh.onTimeRangeChanged,
    multi: true,
    includeAll: true,
    current: { text: 'All', value: '$__all' },
  }
  const link: DashboardLink = {
    type: 'dashboards',
    tags: ['basalt'],
    title: 'Basalt',
    tooltip: '',
    icon: 'external link',
    asDropdown: true,
    keepTime: true,
    includeVars: true,
    targetBlank: false,
  }
  const json: GrafanaDashboard = {
    uid: `basalt-${name}`,
    title,
    tags: ['basalt'],
    schemaVersion: 39,
    editable: false,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: { list: [instances] },
    links: [link],
    panels: [...placed(panels)],
  }
  return `${JSON.stringify(json, null, 1)}\n`
}

/** Files of deploy/grafana/dashboards, by their paths. */
export const dashboardFiles: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(dashboards).map(([name, dashboard]) => [`deploy/grafana/dashboards/${name}.json`, dashboardJson(name, dashboard)]),
)
