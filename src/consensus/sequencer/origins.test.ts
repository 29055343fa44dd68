import { expect, it } from 'vitest'
import type { L1Block } from '#derive/ports'
import { createManualClock, type ManualClock } from '#test/harness/clock'
import { createMemoryL1, l1Fault, type MemoryL1 } from '#test/harness/consensus/l1'
import { L1Trail } from '../l1Trail.ts'
import { Origins } from './origins.ts'

const { signal } = new AbortController()

async function begin(): Promise<{ l1: MemoryL1; trail: L1Trail; clock: ManualClock; origins: Origins; first: L1Block }> {
  const l1 = createMemoryL1(1_000)
  for (let mined = 0; mined < 4; mined++) l1.mine()
  const [trail, clock] = [new L1Trail(), createManualClock()]
  const origins = new Origins({ l1, trail, clock }, signal)
  const first = (await origins.current(l1.at(1), 100)) ?? expect.fail()
  return { l1, trail, clock, origins, first }
}

it('consensus/sequencer/origins: fetches the next block once, and none beyond the last possible origin', async () => {
  const { l1, origins, first } = await begin()
  expect(await origins.next(first, 1, 100)).toBeUndefined()
  expect(l1.calls.ref).toBe(0)
  const next = (await origins.next(first, 4, 100)) ?? expect.fail()
  expect(next.ref).toEqual(l1.at(2))
  expect(await origins.next(first, 4, 100)).toBe(next)
  expect(await origins.current(next.ref, 100)).toBe(next)
  expect(l1.calls).toMatchObject({ ref: 1, block: 2 })
})

it('consensus/sequencer/origins: does not look up a block by number that derivation has read', async () => {
  const { l1, trail, origins, first } = await begin()
  trail.add(l1.at(2))
  expect((await origins.next(first, 4, 100))?.ref).toEqual(l1.at(2))
  expect(l1.calls.ref).toBe(0)
})

it('consensus/sequencer/origins: does not return a block that derivation contradicts', async () => {
  const { l1, trail, origins, first } = await begin()
  const old = await origins.next(first, 4, 100)
  l1.rollBack(3)
  l1.mine()
  expect(await origins.next(first, 4, 100)).toBe(old)
  trail.add(l1.at(2))
  expect((await origins.next(first, 4, 100))?.ref).toEqual(l1.at(2))
})

it('consensus/sequencer/origins: waits a bounded time for an unresponsive L1 and then uses its late answer; retries a failing L1 after a pause', async () => {
  const { l1, clock, origins, first } = await begin()
  let answer = (): void => {}
  const { block } = l1
  l1.block = async (at, until) => {
    await new Promise<void>((resolve) => {
      answer = resolve
    })
    return block(at, until)
  }
  const asked = origins.next(first, 4, 100)
  await clock.advanceMs(100)
  expect(await asked).toBeUndefined()
  expect(await origins.next(first, 4, 0)).toBeUndefined()
  answer()
  await clock.advanceMs(0)
  const next = (await origins.next(first, 4, 0)) ?? expect.fail()
  l1.block = block
  l1.failNext('ref', l1Fault('L1_TIMEOUT', {}))
  expect(await origins.next(next, 4, 100)).toBeUndefined()
  expect(await origins.next(next, 4, 100)).toBeUndefined()
  expect(l1.calls.ref).toBe(2)
  await clock.advanceMs(250)
  expect((await origins.next(next, 4, 100))?.ref).toEqual(l1.at(3))
})

it('consensus/sequencer/origins: an error that a retry cannot help ends the sequencer', async () => {
  const { l1, origins, first } = await begin()
  l1.failNext('ref', new Error('broken'))
  await expect(origins.next(first, 4, 100)).rejects.toThrow('broken')
})
