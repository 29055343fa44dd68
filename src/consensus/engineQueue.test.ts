import { expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import { type FollowWorld, follow, followConfig, genesisOnly, grow } from '#test/harness/consensus/follow'
import type { L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { checkEveryMs } from './engineQueue.ts'

const { signal } = new AbortController()
const common = grow(genesisOnly, 10)

/** Starts a queue at block 10; the execution half then moves to another chain by itself. @returns its head */
async function moved(chain: readonly Payload[]): Promise<{ world: FollowWorld; head: L2Ref }> {
  const world = await follow(common, { ours: common, safe: 5 })
  await world.stop()
  for (const payload of chain) await world.engine.insert(payload)
  const head = l2RefOf(followConfig, chain.at(-1) ?? expect.fail())
  await world.engine.setHeads({ ...world.engine.durable.heads, unsafe: head })
  await world.clock.advanceMs(checkEveryMs)
  return { world, head }
}

it('consensus/engineQueue: adopts a higher head of the execution half that contains its own', async () => {
  const { world, head } = await moved(grow(common, 14))
  await world.queue.check(signal)
  expect(world.queue.lost).toBeUndefined()
  expect(world.queue.heads).toMatchObject({ unsafe: { number: 14, hash: head.hash }, safe: { number: 5 } })
})

it('consensus/engineQueue: loses its heads to a higher head on another branch (HEAD_LOST)', async () => {
  const { world, head } = await moved(grow(grow(genesisOnly, 8), 14, 1))
  await world.queue.check(signal)
  expect(world.queue.lost).toMatchObject({ code: 'HEAD_LOST', data: { number: 10 } })
  expect(world.queue.heads?.unsafe.hash).toBe(head.hash)
})

it('consensus/engineQueue: does not adopt a higher head whose L1 origin derivation has read otherwise (HEAD_LOST)', async () => {
  const { world, head } = await moved(grow(common, 14))
  const { number } = head.l1Origin
  world.queue.trail.add({ number, hash: `0x${'ee'.repeat(32)}` as Hash })
  await world.queue.check(signal)
  expect(world.queue.lost).toMatchObject({ code: 'HEAD_LOST', data: { number: 10 } })
})
