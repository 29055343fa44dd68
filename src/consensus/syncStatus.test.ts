import { expect, it } from 'vitest'
import { createWorld } from '#test/harness/consensus/execution'
import type { Hash } from '#types/ids'
import { progressOf } from './status.ts'
import { outputAtBlock, safeHeadAtL1Block, syncStatusOf } from './syncStatus.ts'

const storageRoot = `0x${'34'.repeat(32)}` as Hash

async function derived() {
  const world = createWorld({ holocene: 0 })
  world.l1.mine({ batches: [1, 2].map((number) => ({ number, origin: 2, tag: 'a' })) })
  world.l1.mine({ batches: [3, 4].map((number) => ({ number, origin: 3, tag: 'a' })) })
  world.l1.mine()
  world.l1.finalize(3)
  const session = world.start()
  await session.toTip()
  return { world, session }
}

it('consensus/syncStatus: has the L1 labels, the block read last, and the heads', async () => {
  const { world, session } = await derived()
  const status = syncStatusOf(session.driver.status())
  expect(status).toMatchObject({ currentL1: world.l1.at(5), headL1: world.l1.at(5), safeL1: world.l1.at(3), finalizedL1: world.l1.at(3) })
  expect([status.unsafeL2, status.safeL2, status.finalizedL2].map((ref) => ref?.number)).toEqual([4, 4, 2])
})

it('consensus/syncStatus: has no values before the start', () => {
  const { driver } = createWorld().start()
  expect(Object.values(syncStatusOf(driver.status())).every((value) => value === undefined)).toBe(true)
})

it('consensus/syncStatus: the safe head at an L1 block is that of the last L1 block up to it that made any block safe', async () => {
  const { session } = await derived()
  const status = session.driver.status()
  const at = (l1Number: number): unknown => {
    const entry = safeHeadAtL1Block(session.store, status, l1Number)
    return entry && [entry.l1.number, entry.safe.number]
  }
  expect([1, 2, 3, 4, 5, 99].map(at)).toEqual([undefined, [2, 0], [3, 2], [4, 4], [4, 4], [4, 4]])
})

it('consensus/syncStatus: skips a record whose label is not set yet', async () => {
  const { session } = await derived()
  const status = session.driver.status()
  session.store.append([{ l1: { number: 5, hash: storageRoot }, safe: { number: 9, hash: storageRoot } }])
  expect(safeHeadAtL1Block(session.store, status, 5)?.safe.number).toBe(4)
})

it('consensus/syncStatus: before Isthmus, the output of a block has the storage root from the state', async () => {
  const { world, session } = await derived()
  const asked: number[] = []
  const deps = {
    config: world.config,
    engine: session.engine,
    messagePasserStorageRoot: async ({ number }: { number: number }) => {
      asked.push(number)
      return storageRoot
    },
  }
  const output = await outputAtBlock(deps, 3)
  expect(output).toMatchObject({ block: { number: 3, l1Origin: { number: 3 } }, messagePasserStorageRoot: storageRoot })
  expect(asked).toEqual([3])
  expect(await outputAtBlock(deps, 5)).toBeUndefined()
})

it('consensus/status: the progress target is the last block whose time is not after the L1 head', async () => {
  const { world, session } = await derived()
  expect(progressOf(world.config, session.driver.status())).toEqual({ l1Block: 5, l1Target: 5, l2Block: 4, l2Target: 18 })
})
