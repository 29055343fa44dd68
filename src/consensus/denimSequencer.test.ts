import { expect, it } from 'vitest'
import { createSequencerHost, derivedElsewhere, headOf, postRest, type SequencerRun } from '#test/harness/consensus/sequencer'
import { DeriveWorld, forksTo, genesisTimeSec, userTransaction } from '#test/harness/derive/world'
import { progressOf } from './status.ts'

/** Denim activates between two blocks: its first block is block 3, due at 6 s. */
const schedule = { ...forksTo('azul'), beryl: 0, cobalt: 0, denim: genesisTimeSec + 5 }
const number = (run: SequencerRun): number => headOf(run).blockNumber

it('consensus/sequencer: seals five blocks a second from the first Denim block on, also when it starts in the middle of a second', async () => {
  const world = new DeriveWorld(schedule)
  const host = createSequencerHost(world, (at) => [userTransaction(at)])
  const first = host.start()
  await host.pass(4)
  expect(number(first)).toBe(2)
  await host.pass(1.9)
  expect(number(first)).toBe(2)
  const heads: number[] = []
  for (const seconds of [0.1, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2]) {
    await host.pass(seconds)
    heads.push(number(first))
  }
  expect(heads).toEqual([3, 4, 5, 6, 7, 8, 9])
  await first.stop()
  await host.pass(1.3)
  const second = host.start()
  await host.pass(3)
  // 11.5 s after genesis: 27 blocks after block 3
  expect([number(second), headOf(second).timestamp]).toEqual([30, genesisTimeSec + 11])

  world.mine({ transactions: postRest(world, second) })
  await host.pass(3)
  const elsewhere = await derivedElsewhere(world)
  expect(second.engine.hashes().slice(0, elsewhere.length)).toEqual(elsewhere)
  expect(elsewhere.length).toBeGreaterThan(20)
  expect(second.ended()).toBeUndefined()
  // L1 is at 12 s
  expect(progressOf(world.config, second.driver.status()).l2Target).toBe(33)
})
