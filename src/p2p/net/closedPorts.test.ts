import { expect, it } from 'vitest'
import { logTo } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { closedPorts, type PortFacts } from './closedPorts.ts'
import { PortWatch } from './portWatch.ts'

const open: PortFacts = {
  ...{ sinceStartMs: 3_600_000, isPublic: true, searches: true, hasAnswer: true },
  ...{ hasInbound: true, hasOutbound: true, failedDials: 20 },
}

it.each<[string, Partial<PortFacts>, readonly string[]]>([
  ['none when peers connect in both directions', {}, []],
  ['UDP when no node answers discovery for a minute', { hasAnswer: false, sinceStartMs: 60_000 }, ['discovery']],
  ['none in the first minute', { hasAnswer: false, hasInbound: false, hasOutbound: false, sinceStartMs: 59_000 }, []],
  ['not UDP without a search', { hasAnswer: false, searches: false }, []],
  ['TCP outwards when all dials fail', { hasInbound: false, hasOutbound: false }, ['outbound']],
  ['nothing before three dials', { hasInbound: false, hasOutbound: false, failedDials: 2 }, []],
  ['TCP inwards when no peer dials in a quarter of an hour', { hasInbound: false }, ['inbound']],
  ['not TCP inwards on loopback', { hasInbound: false, isPublic: false }, []],
])('p2p/net/closedPorts: reports %s', (_, facts, expected) => {
  expect(closedPorts({ ...open, ...facts })).toEqual(expected)
})

it('p2p/net/portWatch: names a closed port once an hour, until a peer connects through it', async () => {
  const clock = createManualClock()
  const lines: unknown[] = []
  const log = logTo(
    (_, message, fields) => lines.push([message, fields]),
    () => log,
  )
  const facts = () => ({ searches: true, hasAnswer: true, failedDials: 0 })
  const watch = new PortWatch({ clock, log, port: 9_222, isPublic: true, facts })
  watch.connected('outbound')
  for (let minute = 0; minute < 120; minute++) {
    await clock.advanceMs(60_000)
    watch.check()
  }
  expect(lines).toEqual(Array.from({ length: 2 }, () => [expect.stringContaining('TCP port may be closed inwards'), { port: 9_222 }]))
  watch.connected('inbound')
  await clock.advanceMs(7_200_000)
  watch.check()
  expect(lines).toHaveLength(2)
})
