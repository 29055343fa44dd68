import { expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import { createSequencerHost, headOf } from '#test/harness/consensus/sequencer'
import { DeriveWorld, forksTo } from '#test/harness/derive/world'
import type { L2Ref } from '#types/blockRef'
import { hashFromBytes } from '#types/ids'
import { L1Trail } from '../l1Trail.ts'
import { planSeal } from './seal.ts'

const hash = (seed: number) => hashFromBytes(new Uint8Array(32).fill(seed))
const refOf = (number: number, seed: number, parent: number): L2Ref => ({
  ...{ number, hash: hash(seed), parentHash: hash(parent), timestamp: 2 * number },
  l1Origin: { number: 7, hash: hash(70) },
  sequenceNumber: 0,
})
const heads = { unsafe: refOf(5, 5, 4), safe: refOf(3, 3, 2), finalized: refOf(1, 1, 0) }
const { signal } = new AbortController()

it('consensus/tasks/seal: a block on the unsafe head becomes the unsafe head, and the labels do not move', () => {
  const block = refOf(6, 6, 5)
  expect(planSeal(heads, new L1Trail(), block)).toEqual({ ...heads, unsafe: block })
})

it('consensus/tasks/seal: refuses a block on another head or on a replaced origin', () => {
  expect(planSeal(heads, new L1Trail(), refOf(5, 6, 4))).toMatch(/unsafe head/)
  const trail = new L1Trail()
  trail.add({ number: 7, hash: hash(71) })
  expect(planSeal(heads, trail, refOf(6, 6, 5))).toMatch(/origin/)
})

it('consensus/tasks/seal: a refused block moves no head, and moves an engine back from the parent', async () => {
  const host = createSequencerHost(new DeriveWorld(forksTo('jovian')))
  const run = host.start()
  await host.pass(6)
  await run.sequencer.stop()
  const { chain } = run.engine.durable
  const late = chain[2] ?? expect.fail()
  const { setHeads } = run.engine.calls
  expect(await run.driver.sequenced.seal(late, signal)).toBeUndefined()
  expect(headOf(run).blockNumber).toBe(3)
  expect(run.engine.calls.setHeads).toBe(setHeads + 1)
  expect(run.engine.history.at(-1)?.unsafe).toEqual(l2RefOf(host.world.config, chain[3] ?? expect.fail()))
  expect(host.lines.some(({ msg }) => msg === 'sequenced block dropped')).toBe(true)
})
