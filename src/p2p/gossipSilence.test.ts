import { expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import { GossipSilence } from './gossipSilence.ts'

it('p2p/gossipSilence: connected peers without a block for a minute are a problem, with the most frequent reason (P2P_SILENT)', async () => {
  const clock = createManualClock()
  const silence = new GossipSilence(clock)
  silence.report(3, {})
  await clock.advanceMs(59_000)
  expect(silence.problem()).toBeUndefined()
  silence.report(3, { invalid_signer: 2, timestamp_future: 5 })
  silence.report(3, { invalid_signer: 2 })
  await clock.advanceMs(1_000)
  expect(silence.problem()).toContain('no block from 3 connected peers for 60 s; most messages were rejected: timestamp_future')
  expect(silence.sinceBlockMs).toBeUndefined()
  silence.accepted()
  expect(silence.problem()).toBeUndefined()
  await clock.advanceMs(61_000)
  expect(silence.sinceBlockMs).toBe(61_000)
  expect(silence.problem()).toMatch(/no block from 3 connected peers for 61 s$/)
})

it('p2p/gossipSilence: a node without peers is not silent', async () => {
  const clock = createManualClock()
  const silence = new GossipSilence(clock)
  await clock.advanceMs(600_000)
  silence.report(0, {})
  expect(silence.problem()).toBeUndefined()
})
