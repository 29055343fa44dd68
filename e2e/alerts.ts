// npm run test:alerts -- [--only TEXT]... [--keep]: a devnet, a node in two processes, Prometheus and Alertmanager with the files of deploy/. Each alert
// fires in a fault and ends after it. Times of rules are a sixtieth. Needs the Debian packages prometheus and prometheus-alertmanager.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { alertRules } from '#test/deploy/rules'
import { cases, type FaultCase } from './alerts/cases.ts'
import { type ActiveAlert, type Monitoring, type Notification, startMonitoring } from './alerts/monitoring.ts'
import { createWorld, type World } from './alerts/world.ts'
import { eventually } from './nodeProcess.ts'

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true, default: [] }, keep: { type: 'boolean', default: false } },
})
const isWhole = values.only.length === 0
const fireWithinMs = 150_000
const endWithinMs = 150_000
/** Time that the alerts fire at least: Alertmanager sends notifications of a group every five seconds. */
const holdMs = 8_000
/** Time after a start in which Prometheus has ranges of ten seconds. */
const settleMs = 20_000

for (const program of ['prometheus', 'prometheus-alertmanager']) {
  if (spawnSync(program, ['--version']).error === undefined) continue
  console.error(`${program} is not installed (Debian package ${program})`)
  process.exit(77)
}

/**
 * Panels that may have no data: a rate of the last ten minutes, in a node that was just started; states of transactions, of which there is none; the fill of an
 * anchored state, which these nodes have not.
 */
const quietPanels = [
  'Basalt: L1 and data availability: Requests per L1 block',
  'Basalt: RPC: Forwarded transactions',
  'Basalt: proofs: Fill of an anchored state',
  'Basalt: proofs: Accounts and slots filled',
]

const nameOf = ({ labels }: ActiveAlert): string =>
  labels['alertname'] === 'BasaltNotReady' ? `BasaltNotReady:${labels['reason']}` : (labels['alertname'] ?? '')

type Outcome = {
  readonly fault: string
  readonly alerts: Readonly<Record<string, { firedMs?: number; endedMs?: number }>>
  readonly error?: string
}

async function runCase(world: World, monitoring: Monitoring, fault: FaultCase): Promise<Outcome> {
  const alerts: Record<string, { firedMs?: number; endedMs?: number }> = Object.fromEntries(fault.alerts.map((name) => [name, {}]))
  const firing = async (): Promise<readonly string[]> => (await monitoring.active()).filter(({ state }) => state === 'firing').map(nameOf)
  try {
    await eventually(
      `${fault.alerts.join(', ')} before the fault`,
      endWithinMs,
      async () => {
        const now = await firing()
        return !fault.alerts.some((name) => now.includes(name)) || now.join()
      },
      500,
    )
    const beganMs = performance.now()
    await fault.begin(world)
    try {
      await eventually(
        `${fault.alerts.join(', ')} fires`,
        fireWithinMs,
        async () => {
          const now = await firing()
          for (const name of now) if (alerts[name] !== undefined) alerts[name].firedMs ??= Math.round(performance.now() - beganMs)
          return Object.values(alerts).every(({ firedMs }) => firedMs !== undefined) || now.join()
        },
        500,
      )
      await delay(holdMs)
    } finally {
      await fault.end(world)
    }
    const endMs = performance.now()
    await eventually(
      `${fault.alerts.join(', ')} ends`,
      endWithinMs,
      async () => {
        const now = await firing()
        for (const name of fault.alerts)
          if (!now.includes(name) && alerts[name]) alerts[name].endedMs = Math.round(performance.now() - endMs)
        return !fault.alerts.some((name) => now.includes(name)) || now.join()
      },
      500,
    )
    return { fault: fault.name, alerts }
  } catch (error) {
    return { fault: fault.name, alerts, error: String(error) }
  }
}

const folder = mkdtempSync(join(tmpdir(), 'basalt-alerts-'))
const outcomes: Outcome[] = []
const chosen = cases.filter(({ name }) => isWhole || values.only.some((text) => name.includes(text)))
let problems: string[] = []
{
  await using world = await createWorld(join(folder, 'world'))
  const urls = [world.execution.url('metrics'), world.consensus.url('metrics'), world.devnet.started.urls.control]
  const targets = urls.map((url) => new URL(url).host)
  await using monitoring = await startMonitoring(join(folder, 'monitoring'), targets)
  await delay(settleMs)
  for (const fault of chosen) {
    console.error(fault.name)
    const outcome = await runCase(world, monitoring, fault)
    outcomes.push(outcome)
    await delay(holdMs)
    console.error(`  ${outcome.error ?? JSON.stringify(outcome.alerts)}`)
  }
  await delay(settleMs)
  const { queries, wrong, empty } = await monitoring.panels()
  console.error(`${queries} queries of panels, ${wrong.length} wrong; panels without data: ${empty.join(', ')}`)
  problems = [...wrong, ...(isWhole ? empty.filter((panel) => !quietPanels.includes(panel)).map((panel) => `no data: ${panel}`) : [])]
  const namesIn = (some: readonly FaultCase[]): readonly string[] =>
    some.flatMap(({ alerts }) => alerts.map((name) => name.split(':')[0] ?? ''))
  const names = namesIn(chosen)
  const expected = [
    ...names.map((alert): Notification => ({ alert, status: 'firing' })),
    ...namesIn(chosen.filter(({ restarts }) => !restarts)).map((alert): Notification => ({ alert, status: 'resolved' })),
  ]
  await eventually('notifications of all alerts', 60_000, async () => {
    const missing = expected.filter(
      ({ alert, status }) => !monitoring.notifications.some((one) => one.alert === alert && one.status === status),
    )
    return missing.length === 0 || JSON.stringify(missing)
  }).catch((error: unknown) => problems.push(String(error)))
  if (isWhole) problems.push(...alertRules.filter(({ alert }) => !names.includes(alert)).map(({ alert }) => `${alert} has no fault`))
}
const failed = outcomes.filter(({ error }) => error !== undefined).length + problems.length
if (values.keep || failed > 0) console.error(`data kept in ${folder}`)
else rmSync(folder, { recursive: true, force: true })
console.log(JSON.stringify({ failed, outcomes, problems }))
process.exitCode = failed > 0 ? 1 : 0
