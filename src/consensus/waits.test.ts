import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { Fault } from '#lib/fault'
import { createLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { consensusMetrics } from './metrics.ts'
import { dueStep, type Escalation, escalations, ladders, type WaitReason, waitReasons } from './waitLadders.ts'
import { Waits } from './waits.ts'

const hourMs = 3_600_000
const fault = new Fault('L1_UNREACHABLE', 'retry', 'no endpoint answers', 'check them', {})

function create() {
  const [clock, registry, lines] = [createManualClock(), new Registry(), [] as Record<string, unknown>[]]
  const log = createLog('debug', { write: (line) => void lines.push(JSON.parse(line)) })
  const waits = new Waits({ clock, log, metrics: consensusMetrics.register(registry) })
  /** Enters once a second, as the driver does, and returns when each step was due. */
  async function run(reason: WaitReason, seconds: number): Promise<[number, Escalation][]> {
    const steps: [number, Escalation][] = []
    for (let second = 0; second <= seconds; second++) {
      const step = waits.enter(reason, fault)
      if (step !== 'retry') steps.push([second, step])
      await clock.advanceMs(1_000)
    }
    return steps
  }
  return { clock, registry, lines, waits, run }
}

it.each<[WaitReason, number, Escalation | undefined]>([
  ['l1-head', 299, undefined],
  ['l1-head', 86_400, 'retry'],
  ['l1-poll', 86_400, 'retry'],
  ['l1-block', 29, undefined],
  ['l1-block', 30, 'retry'],
  ['l1-block', 60, 'back-fill'],
  ['l1-block', 180, 'reset'],
  ['l1-blobs', 60, 'back-fill'],
  ['l1-blobs', 180, 'reset'],
  ['start-point', 86_400, 'retry'],
  ['engine', 9, undefined],
  ['engine', 10, 'retry'],
  ['engine', 60, 'reset'],
  ['reset', 599, 'retry'],
  ['reset', 600, 're-anchor'],
  ['source-head', 86_400, 'retry'],
  ['source-block', 30, 'back-fill'],
  ['source-block', 120, 'reset'],
  ['source-proofs', 86_400, 'retry'],
  ['gap', 1, 'back-fill'],
  ['gap', 120, 'reset'],
  ['gap', 600, 're-anchor'],
])('consensus/waits: the step for %s after %i s is %s', (reason, seconds, step) => {
  expect(dueStep(ladders[reason], seconds * 1_000)).toBe(step)
})

it('consensus/waits: every wait has a deadline, and each higher step is later', () => {
  for (const reason of waitReasons) {
    expect(ladders[reason].retry, reason).toBeGreaterThan(0)
    const higher = escalations.slice(1).flatMap((step) => ladders[reason][step] ?? [])
    expect(higher, reason).toEqual(higher.toSorted((a, b) => a - b))
  }
})

it('consensus/waits: repeats a step after the time it took to become due, until the next one is due', async () => {
  expect(await create().run('l1-block', 600)).toEqual([
    [60, 'back-fill'],
    [120, 'back-fill'],
    [180, 'reset'],
    [360, 'reset'],
    [540, 'reset'],
  ])
})

it('consensus/waits: logs and counts the start, the deadline, a step and the end', async () => {
  const { waits, run, lines, registry, clock } = create()
  await run('engine', 60)
  expect(waits.current).toMatchObject([{ reason: 'engine', failures: 61, step: 'reset', isOverdue: true, forMs: 61_000, fault }])
  expect(await registry.metrics()).toContain('basalt_consensus_wait_seconds{reason="engine"} 60\n')
  expect(await registry.metrics()).toContain('basalt_consensus_escalations_total{reason="engine",step="reset"} 1\n')
  await clock.advanceMs(5_000)
  waits.publish()
  expect(await registry.metrics()).toContain('basalt_consensus_wait_seconds{reason="engine"} 66\n')
  waits.leave('engine')
  waits.leave('engine')
  expect(waits.current).toEqual([])
  expect(await registry.metrics()).toContain('basalt_consensus_wait_seconds{reason="engine"} 0\n')
  expect(lines.map(({ level, msg, reason }) => [level, msg, reason])).toEqual([
    ['debug', 'wait started', 'engine'],
    ['warn', 'long wait', 'engine'],
    ['warn', 'wait escalated', 'engine'],
    ['info', 'wait ended', 'engine'],
  ])
  expect(lines[2]).toMatchObject({ step: 'reset', seconds: 60, failures: 61, code: 'L1_UNREACHABLE' })
})

it('consensus/waits: a wait that ends and begins again starts at the first step', async () => {
  const { waits, run } = create()
  await run('gap', 5)
  waits.leave('gap')
  expect(waits.enter('gap')).toBe('retry')
  expect(waits.current).toMatchObject([{ step: 'retry', failures: 0, forMs: 0 }])
})

it.each([5 * hourMs, -5 * hourMs])(
  'consensus/waits: a wall clock that jumps by %i ms neither escalates nor hides a wait',
  async (jumpMs) => {
    const { waits, run, clock } = create()
    await run('l1-block', 20)
    clock.jumpMs(jumpMs)
    expect(await run('l1-block', 8)).toEqual([])
    expect(waits.current).toMatchObject([{ isOverdue: true, forMs: 30_000, sinceMs: expect.any(Number) }])
    expect(await run('l1-block', 40)).toEqual([[30, 'back-fill']])
  },
)

it('consensus/waits: lists waits oldest first', async () => {
  const { waits, clock } = create()
  waits.enter('l1-head')
  await clock.advanceMs(1_000)
  waits.enter('engine', fault)
  expect(waits.current.map(({ reason, forMs }) => [reason, forMs])).toEqual([
    ['l1-head', 1_000],
    ['engine', 0],
  ])
  expect([waits.has('engine'), waits.has('gap')]).toEqual([true, false])
})
