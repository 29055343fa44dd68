import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { resolveOptions } from './options.ts'
import { runDevnet } from './runDevnet.ts'

it('devnet: the further verifying nodes take unsafe blocks from gossip, ahead of L1', async () => {
  const deps = { clock: systemClock, random: Math.random, fetch, log: silentLog, version: '0' }
  await using devnet = await runDevnet(deps, resolveOptions({ nodes: 2, blockTimeSec: 1, l1BlockTimeSec: 12 }))
  const [peer] = devnet.nodes.peers
  const isAhead = (): boolean => {
    const heads = peer?.status()?.heads
    return heads !== undefined && heads.unsafe.number >= heads.safe.number + 3
  }
  // fails by the time-out of the test: nothing notifies of a head of consensus
  while (!isAhead()) await systemClock.delay(100)
  const head = devnet.nodes.sequencer.status()?.heads?.unsafe.number ?? 0
  expect(peer?.status()?.heads?.unsafe.number).toBeGreaterThanOrEqual(head - 5)
}, 300_000)

it.each([0, 9, 1.5])('devnet: refuses %s nodes (OPTION_UNSUPPORTED_HERE)', (nodes) => {
  expect(() => resolveOptions({ nodes })).toThrow(expect.objectContaining({ code: 'OPTION_UNSUPPORTED_HERE' }))
})
