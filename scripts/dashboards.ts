import { type Dashboard, dashboards, type Panel } from './dashboardPanels.ts'

const datasource = { type: 'prometheus', uid: 'basalt-prometheus' }
const chosen = 'instance=~"$instance"'
const width = { stat: 4, timeseries: 8 } as const
const height = { stat: 4, timeseries: 7 } as const
const columns = 24

/** Panel in Grafana's format, without its place. */
function panelJson({ title, unit, queries, isStat }: Panel, id: number) {
  const type = isStat ? 'stat' : 'timeseries'
  return {
    id,
    type,
    title,
    datasource,
    fieldConfig: { defaults: { unit, ...(isStat ? {} : { custom: { showPoints: 'never', fillOpacity: 5 } }) }, overrides: [] },
    options: isStat
      ? { reduceOptions: { calcs: ['lastNotNull'] }, graphMode: 'none', colorMode: 'none', textMode: 'auto' }
      : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: queries.map(([query, legendFormat], i) => ({
      refId: String.fromCharCode(65 + i),
      expr: query.replaceAll('@', chosen),
      legendFormat,
    })),
  }
}

type Placed = ReturnType<typeof panelJson> & {
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
}

/** Places panels in lines from left to right. */
function placed(panels: readonly Panel[]): readonly Placed[] {
  let [x, y, lineHeight] = [0, 0, 0]
  return panels.map((panel, i) => {
    const json = panelJson(panel, i + 1)
    const type = panel.isStat ? 'stat' : 'timeseries'
    const [w, h] = [width[type], height[type]]
    if (x + w > columns || (lineHeight > 0 && h !== lineHeight)) [x, y] = [0, y + lineHeight]
    const gridPos = { x, y, w, h }
    x += w
    lineHeight = h
    return { ...json, gridPos }
  })
}

/** A dashboard in Grafana's JSON format. */
function dashboardJson(name: string, { title, panels }: Dashboard): string {
  const instances = {
    name: 'instance',
    label: 'node',
    type: 'query',
    datasource,
    query: 'label_values(up{job="basalt"}, instance)',
    refresh: 2,
    multi: true,
    includeAll: true,
    current: { text: 'All', value: '$__all' },
  }
  const link = {
    ...{ type: 'dashboards', tags: ['basalt'], title: 'Basalt', tooltip: '', icon: 'external link' },
    ...{ asDropdown: true, keepTime: true, includeVars: true, targetBlank: false },
  }
  const json = {
    uid: `basalt-${name}`,
    title,
    tags: ['basalt'],
    schemaVersion: 39,
    editable: false,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: { list: [instances] },
    links: [link],
    panels: placed(panels),
  }
  return `${JSON.stringify(json, null, 1)}\n`
}

/** Files of deploy/grafana/dashboards, by their paths. */
export const dashboardFiles: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(dashboards).map(([name, dashboard]) => [`deploy/grafana/dashboards/${name}.json`, dashboardJson(name, dashboard)]),
)
