import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { root } from '../../scripts/process.ts'
import { freePort } from '../devnet/process.ts'
import { eventually } from '../nodeProcess.ts'
import { type Answer, type PanelFindings, runPanels } from './panels.ts'

/** Times of the rules are this much shorter, and so are those of Alertmanager. */
const faster = 60

/** Divides durations of YAML files and ranges of queries: `5m` becomes `5s`; `12h` becomes `720s`. */
const shorter = (text: string): string =>
  text.replace(/(\[|: )(\d+)(s|m|h)\b/g, (_, before: string, count: string, unit: string) => {
    const seconds = Number(count) * { s: 1, m: 60, h: 3600 }[unit as 's' | 'm' | 'h']
    return `${before}${Math.max(1, Math.round(seconds / faster))}s`
  })

/** Divides the thresholds that are times or grow with time: of the head's age, of the start, of blocks behind the head, of repeated faults. */
const smaller = (rules: string): string =>
  rules
    .replaceAll('1800', String(1800 / faster))
    .replace(/(basalt_faults_total.*) > 20$/m, '$1 > 1')
    .replace('> 600', `> ${600 / faster}`)
    .replace('basalt_proofs_lag_blocks > 1000', `basalt_proofs_lag_blocks > ${Math.round(1000 / faster)}`)

export type ActiveAlert = { readonly state: 'pending' | 'firing'; readonly labels: Readonly<Record<string, string>> }
export type Notification = { readonly status: 'firing' | 'resolved'; readonly alert: string }

/** Prometheus and Alertmanager with the files of deploy/, and a receiver of notifications. */
export interface Monitoring extends AsyncDisposable {
  active(): Promise<readonly ActiveAlert[]>
  readonly notifications: readonly Notification[]
  /** Runs the queries of the dashboards. */
  panels(): Promise<PanelFindings>
}

/** @param targets addresses of /metrics */
export async function startMonitoring(folder: string, targets: readonly string[]): Promise<Monitoring> {
  await using starting = new AsyncDisposableStack()
  mkdirSync(folder, { recursive: true })
  const read = (file: string): string => readFileSync(join(root, 'deploy', file), 'utf8')
  const write = (name: string, text: string): string => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  const start = (program: string, args: readonly string[]): void => {
    const log = openSync(join(folder, `${program}.log`), 'w')
    const child: ChildProcess = spawn(program, args, { stdio: ['ignore', log, log] })
    child.on('error', (error) => console.error(`${program}: ${error.message} (Debian packages prometheus, prometheus-alertmanager)`))
    const kill = (): boolean => child.kill('SIGKILL')
    process.on('exit', kill)
    starting.defer(async () => {
      process.off('exit', kill)
      if (child.exitCode !== null) return
      child.kill()
      await once(child, 'exit')
    })
  }

  const notifications: Notification[] = []
  const hook = createServer(async (request, response) => {
    const { alerts } = (await json(request)) as { alerts: readonly { status: Notification['status']; labels: { alertname: string } }[] }
    notifications.push(...alerts.map(({ status, labels }) => ({ status, alert: labels.alertname })))
    response.end()
  })
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  starting.defer(() => void hook.close())
  const hookAddress = `127.0.0.1:${(hook.address() as AddressInfo).port}`

  const managerPort = await freePort()
  const managerConfig = shorter(read('alertmanager/alertmanager.yaml')).replaceAll('127.0.0.1:9099', hookAddress)
  start('prometheus-alertmanager', [
    `--config.file=${write('alertmanager.yaml', managerConfig)}`,
    `--storage.path=${join(folder, 'alertmanager')}`,
    `--web.listen-address=127.0.0.1:${managerPort}`,
    '--cluster.listen-address=',
  ])

  write('rules.yaml', smaller(shorter(read('prometheus/rules.yaml'))))
  write('targets.yaml', JSON.stringify([{ targets }]))
  const config = read('prometheus/prometheus.yaml').replaceAll('15s', '1s').replace('alertmanager:9093', `127.0.0.1:${managerPort}`)
  const port = await freePort()
  start('prometheus', [
    `--config.file=${write('prometheus.yaml', config)}`,
    `--storage.tsdb.path=${join(folder, 'prometheus')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ])
  const get = async <Data>(path: string): Promise<Answer<Data>> =>
    (await (await fetch(`http://127.0.0.1:${port}${path}`)).json()) as Answer<Data>
  await eventually('Prometheus evaluates the rules', 60_000, async () => {
    const { data } = await get<{ groups: readonly { rules: readonly { health: string }[] }[] }>('/api/v1/rules')
    return data.groups.every(({ rules }) => rules.every(({ health }) => health === 'ok'))
  })

  const parts = starting.move()
  return {
    notifications,
    active: async () => (await get<{ alerts: readonly ActiveAlert[] }>('/api/v1/alerts')).data.alerts,
    panels: () => runPanels(get),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}
