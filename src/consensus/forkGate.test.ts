import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { PublishedSchedule } from '#chainspec/publishedSchedule'
import { createLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { createWorld } from '#test/harness/consensus/execution'
import { mineSix } from '#test/harness/consensus/unsafe'
import { ForkGate, isForkStop } from './forkGate.ts'
import { consensusMetrics } from './metrics.ts'

const daySec = 86_400
const nowSec = 1_700_000_000
const { config: rollup } = createWorld()
const config = {
  ...rollup,
  genesis: { ...rollup.genesis, l2TimeSec: nowSec - 90 * daySec },
  schedule: { ...rollup.schedule, holocene: nowSec - 60 * daySec, isthmus: nowSec + 20 * daySec },
}
/** The built-in times as L1 publishes them. */
const times = [0, 0, 0, 0, 0, 0, nowSec - 60 * daySec, 0, nowSec + 20 * daySec, 0, 0, 0, 0, 0]
const next = { major: 1, minor: 6, patch: 0, preRelease: 0 }

function gateOf(stopsOnDifference = false) {
  const clock = createManualClock(nowSec * 1_000)
  const registry = new Registry()
  const lines: Record<string, unknown>[] = []
  const log = createLog('warn', { write: (line) => void lines.push(JSON.parse(line)) })
  const gate = new ForkGate({ clock, log, metrics: consensusMetrics.register(registry) }, { config, stopsOnDifference })
  const gauge = async (name: string, labels: object = {}) => {
    const found = await registry.getSingleMetric(`basalt_consensus_${name}`)?.get()
    return found?.values.find((value) => JSON.stringify(value.labels) === JSON.stringify(labels))?.value
  }
  /** Lets time pass, with a report every six hours as at polls of L1. */
  async function pass(days: number): Promise<void> {
    for (let quarter = 0; quarter < 4 * days; quarter++) {
      await clock.advanceMs((daySec / 4) * 1_000)
      gate.report()
    }
  }
  return { clock, gate, gauge, pass, takeLines: () => lines.splice(0) }
}

it('consensus/forkGate: stops nothing and warns of nothing while L1 publishes the built-in times, or nothing', async () => {
  for (const published of [{ times }, { times: [] }]) {
    const { gate, gauge, pass, takeLines } = gateOf(true)
    gate.publish(published)
    await pass(3)
    expect([takeLines(), gate.problems(), gate.faultAt(nowSec + 999 * daySec)]).toEqual([[], [], undefined])
    expect(await gauge('unsupported_fork_seconds')).toBe(Number.POSITIVE_INFINITY)
    expect(await gauge('fork_schedule_differs_state')).toBe(0)
  }
})

it('consensus/forkGate: stops before the first block of an unknown fork on L1, at its time exactly (UNSUPPORTED_FORK)', () => {
  const { gate } = gateOf()
  const at = nowSec + 30 * daySec
  gate.publish({ times: [...times, at] })
  expect(gate.faultAt(at - 1)).toBeUndefined()
  const fault = gate.faultAt(at)
  expect(fault).toMatchObject({
    code: 'UNSUPPORTED_FORK',
    severity: 'fatal',
    message: expect.stringContaining('fork 14 of the schedule on L1'),
  })
  expect(() => gate.refuse(at)).toThrow(fault)
  expect(isForkStop(fault)).toBe(true)
  gate.publish({ times: [...times, at + 60] })
  expect([gate.faultAt(at), gate.faultAt(at + 60)?.code]).toEqual([undefined, 'UNSUPPORTED_FORK'])
})

it('consensus/forkGate: warns of an unknown fork from 14 days ahead once a day, and counts the seconds down', async () => {
  const { gate, gauge, pass, takeLines } = gateOf()
  gate.publish({ times: [...times, nowSec + 16 * daySec] })
  await pass(1)
  expect(takeLines()).toEqual([])
  expect(await gauge('unsupported_fork_seconds')).toBe(15 * daySec)
  await pass(3)
  expect(takeLines()).toEqual(
    [14, 13, 12].map((days) => expect.objectContaining({ level: 'warn', fork: '14 of the schedule on L1', leftSec: days * daySec })),
  )
  await pass(20)
  expect(await gauge('unsupported_fork_seconds')).toBe(0)
})

it('consensus/forkGate: reports a difference with both times once per change and once a day, and stops nothing by itself', async () => {
  const { gate, gauge, pass, takeLines } = gateOf()
  const earlier = times.with(8, nowSec + 19 * daySec)
  gate.publish({ times: earlier })
  const warning = {
    ...{ level: 'warn', msg: 'L1 publishes another fork time', fork: 'isthmus', effect: 'the node follows the built-in time' },
    ...{ builtIn: String(nowSec + 20 * daySec), published: String(nowSec + 19 * daySec) },
  }
  expect(takeLines()).toMatchObject([warning])
  await pass(2)
  expect(takeLines()).toMatchObject([warning, warning])
  expect(gate.faultAt(nowSec + 30 * daySec)).toBeUndefined()
  expect(await gauge('fork_schedule_differs_state')).toBe(1)
  expect(await gauge('fork_activation_seconds', { fork: 'isthmus', source: 'published' })).toBe(nowSec + 19 * daySec)
  expect(await gauge('fork_activation_seconds', { fork: 'isthmus', source: 'built_in' })).toBe(nowSec + 20 * daySec)
  gate.publish({ times: earlier.with(8, 0) })
  expect(takeLines()).toMatchObject([{ ...warning, published: 'no time' }])
  gate.publish({ times })
  await pass(2)
  expect([takeLines(), await gauge('fork_schedule_differs_state')]).toEqual([[], 0])
})

it.each([
  ['an earlier published time', nowSec + 19 * daySec, nowSec + 19 * daySec],
  ['a later published time', nowSec + 25 * daySec, nowSec + 20 * daySec],
  ['no published time', 0, nowSec + 20 * daySec],
])('consensus/forkGate: with --forks.from-l1, %s stops at the earlier time (FORK_SCHEDULE_DIFFERS)', (_what, published, at) => {
  const { gate } = gateOf(true)
  gate.publish({ times: times.with(8, published) })
  expect(gate.faultAt(at - 1)).toBeUndefined()
  expect(gate.faultAt(at)).toMatchObject({ code: 'FORK_SCHEDULE_DIFFERS', severity: 'fatal', data: { fork: 'isthmus', timestampSec: at } })
  expect(isForkStop(gate.faultAt(at))).toBe(true)
})

it.each<[string, PublishedSchedule, number]>([
  ['above ours, 23 hours before a fork', { times: [...times, nowSec + daySec - 3_600], minimum: next }, 1],
  ['above ours, two days before a fork', { times: [...times, nowSec + 2 * daySec], minimum: next }, 0],
  ['above ours, no fork ahead', { times: times.slice(0, 8), minimum: next }, 0],
  ['ours, 23 hours before a fork', { times: [...times, nowSec + daySec - 3_600], minimum: { ...next, minor: 5 } }, 0],
])('consensus/forkGate: minimum protocol version %s', (_what, published, problems) => {
  const { gate, takeLines } = gateOf()
  gate.publish(published)
  expect(gate.problems()).toHaveLength(problems)
  for (const problem of gate.problems()) expect(problem).toContain('1.6.0')
  const isAbove = published.minimum?.minor === 6
  expect(takeLines().filter(({ minimum }) => minimum === '1.6.0')).toHaveLength(isAbove ? 1 : 0)
})

it('consensus/driver: an unknown fork that L1 publishes while it derives stops it, with the blocks before it labelled (UNSUPPORTED_FORK)', async () => {
  const world = createWorld({ holocene: 0 })
  mineSix(world)
  const session = world.start(undefined, { commitBlocks: 100, commitMs: 1_000_000 })
  const at = world.genesis.timestamp + 22
  const build = session.engine.build
  session.engine.build = async (parent, ...rest) => {
    if (parent.number === 3) session.driver.forks.publish({ times: [...Array<number>(14).fill(0), at] })
    return await build(parent, ...rest)
  }
  await expect(session.toTip()).rejects.toMatchObject({ code: 'UNSUPPORTED_FORK', data: { activationSec: at } })
  expect(session.driver.status()).toMatchObject({ phase: 'stopped', fault: { code: 'UNSUPPORTED_FORK' }, heads: { safe: { number: 10 } } })
  expect(session.engine.durable.chain.at(-1)?.timestamp).toBe(at - 2)
})

it('consensus/driver: an unsafe block at an unknown fork is not inserted, the one before it is (UNSUPPORTED_FORK)', async () => {
  const made = createWorld({ holocene: 0 })
  mineSix(made)
  const maker = made.start()
  await maker.toTip()
  await maker.stop()
  const blocks = maker.engine.durable.chain.slice(1)
  const session = createWorld({ holocene: 0 }).start()
  await session.toTip()
  const at = made.genesis.timestamp + 6
  session.driver.forks.publish({ times: [...Array<number>(14).fill(0), at] })
  const { signal } = new AbortController()
  // a source may invent a time, which must not end the node
  const untimely = blocks.slice(0, 1).map((block) => ({ ...block, timestamp: at }))
  expect(await session.driver.inbox.insert(untimely, signal)).toMatchObject({ kind: 'refused' })
  expect(await session.driver.inbox.insert(blocks.slice(0, 2), signal)).toMatchObject({ kind: 'inserted' })
  await expect(session.driver.inbox.insert(blocks.slice(2, 3), signal)).rejects.toMatchObject({ code: 'UNSUPPORTED_FORK' })
  expect(session.engine.durable.heads.unsafe.number).toBe(2)
  await session.stop()
})
