import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { unknownSettings } from './references.ts'
import { root } from './rules.ts'

const read = (file: string): string => readFileSync(join(root, file), 'utf8')

type Container = {
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly args: readonly string[]
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly volumeMounts: readonly { readonly name: string }[]
} & Readonly<
  Record<'startupProbe' | 'livenessProbe' | 'readinessProbe', { readonly httpGet: { readonly path: string; readonly port: string } }>
>
type Resource = {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly ports?: readonly { readonly targetPort: string }[]
    readonly serviceName?: string
    readonly ingress?: readonly {
      readonly from?: readonly { readonly podSelector?: object; readonly namespaceSelector?: object }[]
      readonly ports?: readonly { readonly port: number }[]
    }[]
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[]
    readonly template?: {
      readonly metadata: { readonly annotations: Readonly<Record<string, string>> }
      readonly spec: {
        readonly containers: readonly Container[]
        readonly volumes: readonly { readonly name: string }[]
        readonly securityContext: object
        readonly enableServiceLinks: boolean
      }
    }
  }
}
const base = 'deploy/kubernetes/base'
const resources = (parse(read(`${base}/kustomization.yaml`)) as { resources: readonly string[] }).resources.flatMap((file) =>
  parseAllDocuments(read(`${base}/${file}`)).map((document) => document.toJS() as Resource),
)
const ofKind = (kind: string): readonly Resource[] => resources.filter((resource) => resource.kind === kind)

it('deploy: every flag and variable of units, manifests and their settings exists', () => {
  const files = globSync(['deploy/systemd/*', 'deploy/kubernetes/**/*.yaml'], { cwd: root })
  expect(files.length).toBeGreaterThan(8)
  expect(files.flatMap((file) => unknownSettings(read(file).replaceAll(/#.*/g, '')).map((name) => [file, name]))).toEqual([])
  expect(unknownSettings('--no.such x BASALT_NO_SUCH')).toEqual(['no.such', 'BASALT_NO_SUCH'])
})

it('deploy/kubernetes: the pod is not root, writes to its volumes only, and has the three probes on the port of the health thread', () => {
  const [set] = ofKind('StatefulSet')
  const { containers = [], volumes = [], securityContext, enableServiceLinks } = set?.spec.template?.spec ?? {}
  const [container] = containers
  if (container === undefined) throw new Error('no container')
  expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  expect(
    [container.startupProbe, container.livenessProbe, container.readinessProbe].map(({ httpGet }) => [httpGet.path, httpGet.port]),
  ).toEqual([
    ['/healthz', 'health'],
    ['/healthz', 'health'],
    ['/readyz', 'health'],
  ])
  for (const { name, containerPort } of container.ports) {
    const flag = `--${name}.port=${containerPort}`
    expect(name.startsWith('p2p') || container.args.includes(flag) ? '' : flag).toBe('')
  }
  const known = [...volumes.map(({ name }) => name), ...(set?.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name)]
  expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(known.sort())
  // a Service of the name basalt would set BASALT_PORT and others
  expect(enableServiceLinks).toBe(false)
})

it('deploy/kubernetes: services lead to ports of the pod, and a budget limits disruptions', () => {
  const [set] = ofKind('StatefulSet')
  const ports = set?.spec.template?.spec.containers[0]?.ports.map(({ name }) => name)
  const services = ofKind('Service')
  for (const { spec } of services) for (const { targetPort } of spec.ports ?? []) expect(ports).toContain(targetPort)
  expect(services.map(({ metadata }) => metadata.name)).toContain(set?.spec.serviceName)
  expect(ofKind('PodDisruptionBudget')[0]?.spec).toMatchObject({ maxUnavailable: 1 })
  expect(ofKind('NetworkPolicy')).toHaveLength(1)
})

it('deploy/kubernetes: Prometheus reaches the annotated port from its own namespace, and no other port but those of peers', () => {
  const [set] = ofKind('StatefulSet')
  const scraped = Number(set?.spec.template?.metadata.annotations['prometheus.io/port'])
  const rules = ofKind('NetworkPolicy')[0]?.spec.ingress ?? []
  const outer = rules.filter(({ from = [] }) => !from.some(({ podSelector }) => podSelector))
  expect(outer.map(({ from, ports }) => [from, new Set(ports?.map(({ port }) => port))])).toEqual([
    [[{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }], new Set([scraped])],
    [undefined, new Set([9222, 30303])],
  ])
})

type Compose = {
  readonly services: Readonly<Record<string, Readonly<Partial<Record<'volumes' | 'profiles' | 'ports', readonly string[]>>>>>
}

it('compose.yaml: the profile monitoring mounts files that exist, and a list of targets for each layout', () => {
  const { services } = parse(read('compose.yaml'), { merge: true }) as Compose
  const monitoring = Object.entries(services).filter(([, { profiles }]) => profiles?.includes('monitoring'))
  expect(monitoring.map(([name]) => name)).toEqual(['prometheus', 'alertmanager', 'grafana'])
  const mounted = monitoring.flatMap(([, { volumes = [] }]) => volumes).map((volume) => volume.replace(/\$\{MONITORED:-(\w+)\}/, '$1'))
  const files = mounted.filter((volume) => volume.startsWith('./')).map((volume) => volume.split(':')[0] ?? '')
  expect(files.length).toBeGreaterThan(5)
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
  for (const layout of ['halves', 'single']) {
    const [{ targets }] = parse(read(`deploy/prometheus/targets/${layout}.yaml`)) as [{ targets: readonly string[] }]
    for (const target of targets) expect(Object.keys(services)).toContain(target.split(':')[0])
  }
})

it('compose.yaml: a second project that the documentation starts beside another one publishes no port of its defaults', () => {
  const { services } = parse(read('compose.yaml'), { merge: true }) as Compose
  const published = Object.values(services).flatMap(({ profiles, ports = [] }) => (profiles?.includes('monitoring') ? [] : ports))
  const defaults = new Map(
    published.flatMap((port) => [...port.matchAll(/\$\{(HOST_\w+_PORT):-(\d+)\}/g)]).map(([, name, port]) => [name, port]),
  )
  expect([...defaults.keys()]).toEqual(expect.arrayContaining(['HOST_HTTP_PORT', 'HOST_P2P_PORT', 'HOST_EXECUTION_P2P_PORT']))
  for (const page of ['docs/operators.md', 'docs/migrate.md']) {
    const command = /\S*HOST_HTTP_PORT=[^`]*? docker compose -p \w+ up --detach/.exec(read(page))?.[0] ?? ''
    const given = new Map([...command.matchAll(/(HOST_\w+_PORT)=(\d+)/g)].map(([, name, port]) => [name, port]))
    expect([page, [...defaults].filter(([name, port]) => (given.get(name) ?? port) === port)]).toEqual([page, []])
    expect([page, new Set(given.values()).size]).toEqual([page, given.size])
  }
  const table = read('docs/operators.md')
  expect([...defaults.keys(), 'P2P_ADDR', 'PUBLISH_ADDR'].filter((name) => !table.includes(`\`${name}\``))).toEqual([])
})

type Provisioned = {
  readonly datasources?: readonly {
    readonly uid: string
    readonly type: string
    readonly url: string
    readonly jsonData: { readonly timeInterval: string }
  }[]
  readonly providers?: readonly { readonly type: string; readonly options: { readonly path: string } }[]
}

it('deploy/grafana: the provisioned data source is that of all panels, and the provisioned folder is mounted', () => {
  const provisioned = (file: string): Provisioned => parse(read(`deploy/grafana/provisioning/${file}`)) as Provisioned
  const [source] = provisioned('datasources/basalt.yaml').datasources ?? []
  const sources = globSync('deploy/grafana/dashboards/*.json', { cwd: root }).flatMap((file) =>
    [...read(file).matchAll(/"datasource": \{\s+"type": "(\w+)",\s+"uid": "([\w-]+)"/g)].map(([, type, uid]) => `${type} ${uid}`),
  )
  expect(sources.length).toBeGreaterThan(70)
  expect([...new Set(sources)]).toEqual([`${source?.type} ${source?.uid}`])
  // the interval of rates is at least four of these
  const { global: interval } = parse(read('deploy/prometheus/prometheus.yaml')) as { global: { scrape_interval: string } }
  expect(source?.jsonData.timeInterval).toBe(interval.scrape_interval)
  const { services } = parse(read('compose.yaml'), { merge: true }) as Compose
  const [provider] = provisioned('dashboards/basalt.yaml').providers ?? []
  const volumes = services['grafana']?.volumes ?? []
  expect(volumes).toContain(`./deploy/grafana/dashboards:${provider?.options.path}:ro`)
  expect(volumes).toContain('./deploy/grafana/provisioning:/etc/grafana/provisioning:ro')
  expect(Object.keys(services)).toContain(new URL(source?.url ?? '').hostname)
})

it('deploy/grafana: the types of the dashboards are those of the version in compose.yaml', () => {
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> }
  expect(read('compose.yaml')).toContain(`grafana/grafana:${devDependencies['@grafana/schema']}}`)
})
