import { expect, it } from 'vitest'
import { consensusFault } from '#consensus/faults'
import { stateSourceFault } from '#l2/faults'
import { createManualClock } from '#test/harness/clock'
import { type AnchorFacts, watchAnchor } from './anchorWatch.ts'

const leftOut = (label: string): AnchorFacts =>
  ({ follow: { refusal: consensusFault('SOURCE_LEAVES_OUT', { label, number: 7, hash: '0x7' }) }, driver: { waits: [] } }) as never
const lacking = {
  follow: undefined,
  driver: { waits: [{ reason: 'engine', fault: stateSourceFault('STATE_UNAVAILABLE', { part: 'a slot', number: 7, reason: 'none' }) }] },
} as never
const sound: AnchorFacts = { follow: undefined, driver: { waits: [] } }

function watched() {
  const clock = createManualClock()
  const world = { facts: sound, isPartial: true }
  const watch = watchAnchor(
    clock,
    () => world.isPartial,
    () => world.facts,
  )
  const seen: unknown[] = []
  watch.lost.catch((error: unknown) => seen.push(error))
  return { clock, world, seen, watch }
}

it.each<[string, AnchorFacts, number]>([
  ['the followed chain does not contain the anchor for a minute', leftOut('finalized'), 60_000],
  ['no source has the state for ten minutes', lacking, 600_000],
])('node/anchorWatch: the anchor is lost when %s (ANCHOR_LOST)', async (_what, facts, ms) => {
  const { clock, world, seen } = watched()
  world.facts = facts
  await clock.advanceMs(ms - 5_000)
  world.facts = sound
  await clock.advanceMs(10_000)
  world.facts = facts
  await clock.advanceMs(ms)
  expect(seen).toEqual([])
  await clock.advanceMs(10_000)
  expect(seen).toMatchObject([{ code: 'ANCHOR_LOST' }])
})

it('node/anchorWatch: a safe block that the followed chain lacks is no loss, and a whole state has no anchor', async () => {
  const { clock, world, seen } = watched()
  world.facts = leftOut('safe')
  await clock.advanceMs(120_000)
  world.isPartial = false
  await clock.advanceMs(10_000)
  world.facts = lacking
  await clock.advanceMs(1_200_000)
  expect(seen).toEqual([])
})
