import { expect, it } from 'vitest'
import { createDerivedHost } from '#test/harness/consensus/derived'
import { badTransaction, DeriveWorld, forksTo, userTransaction } from '#test/harness/derive/world'

const singular = { batches: 'singular', compression: 'zlib' } as const
const span = { batches: 'span', compression: 'zlib' } as const

/** Six L2 blocks for each L1 block, posted in the next one. */
function minePosted(world: DeriveWorld, l1Blocks: number, form: typeof singular | typeof span = singular): void {
  for (let i = 0; i < l1Blocks; i++)
    world.mine({
      transactions: world.post(
        world.sequence(6, (number) => [userTransaction(number)]),
        form,
      ),
    })
}

it.each([
  ['granite', singular],
  ['granite', span],
  ['jovian', singular],
  ['jovian', span],
] as const)(
  "consensus/pipeline: under %s, $1.batches batches, the safe chain equals the sequencer's, also after restarts",
  async (fork, form) => {
    const world = new DeriveWorld(forksTo(fork))
    minePosted(world, 5, form)
    const host = createDerivedHost(world)
    const first = host.start()
    await first.toTip()
    expect(first.driver.status().heads?.safe).toEqual(world.blocks[30]?.ref)
    await first.stop()
    minePosted(world, 2, form)
    const second = host.start()
    await second.toTip()
    expect(second.driver.status().heads?.safe).toEqual(world.blocks[42]?.ref)
    expect(second.driver.status().resets).toBe(0)
    expect(second.engine.history.every((heads) => heads.safe.number >= 30)).toBe(true)
    expect(second.driver.status().heads?.finalized.number).toBe(12)
  },
)

it.each([1, 20])('consensus/pipeline: an L1 reorg of %i blocks, with the batches posted again', async (depth) => {
  const world = new DeriveWorld(forksTo('jovian'))
  minePosted(world, 4)
  world.mineEmpty(20)
  const host = createDerivedHost(world)
  const session = host.start()
  await session.toTip()
  const posted = world.sequence(6)
  world.mine({ transactions: world.post(posted) })
  await session.toTip()
  expect(session.driver.status().heads?.safe).toEqual(world.blocks[30]?.ref)
  world.reorg(depth)
  world.mineEmpty(depth)
  await session.toTip()
  expect(session.driver.status().heads?.safe).toEqual(world.blocks[24]?.ref)
  world.mine({ transactions: world.post(posted) })
  await session.toTip()
  expect(session.driver.status().heads?.safe).toEqual(world.blocks[30]?.ref)
  expect(session.driver.status().resets).toBe(1)
})

it('consensus/pipeline: from Holocene on, an invalid block becomes its deposits, and the rest of its channel is dropped', async () => {
  const world = new DeriveWorld(forksTo('holocene'))
  const before = world.sequence(2)
  const faulty = [...before, ...world.sequence(1, () => [badTransaction]), ...world.sequence(2)]
  world.mine({ transactions: world.post(faulty) })
  const host = createDerivedHost(world)
  const session = host.start()
  await session.toTip()
  const { heads } = session.driver.status()
  expect(heads?.safe.number).toBe(3)
  expect(heads?.safe.parentHash).toBe(before.at(-1)?.ref.hash)
  expect((await session.engine.payload(3))?.transactions).toHaveLength(1)
})

it('consensus/pipeline: from Holocene on, a kill anywhere around an invalid block leads to the same chain', async () => {
  class Kill extends Error {}
  const mined = (): DeriveWorld => {
    const world = new DeriveWorld(forksTo('holocene'))
    world.mine({ transactions: world.post([...world.sequence(2), ...world.sequence(1, () => [badTransaction]), ...world.sequence(2)]) })
    world.mineEmpty(2)
    return world
  }
  const straight = createDerivedHost(mined()).start()
  await straight.toTip()
  for (let nth = 1; nth < 20; nth++) {
    const host = createDerivedHost(mined())
    let count = 0
    const effect = (): void => {
      if (++count >= nth) throw new Kill()
    }
    const killed = host.start(effect, { commitBlocks: 1 })
    await killed.toTip().catch((error: unknown) => {
      if (!(error instanceof Kill)) throw error
    })
    await killed.stop()
    const next = host.start()
    await next.toTip()
    expect(next.engine.hashes(), `kill ${nth}`).toEqual(straight.engine.hashes())
  }
})

it.each([singular, span])('consensus/pipeline: before Holocene, drops an invalid block of $batches batches', async (form) => {
  const world = new DeriveWorld(forksTo('granite'))
  const good = world.sequence(2)
  const head = world.blocks.length
  world.mine({ transactions: world.post([...good, ...world.sequence(1, () => [badTransaction])], form) })
  const host = createDerivedHost(world)
  const session = host.start()
  await session.toTip()
  expect(session.driver.status().heads?.safe.number).toBe(form.batches === 'span' ? 0 : 2)
  world.blocks.length = head
  world.mine({ transactions: world.post([...good, ...world.sequence(2)], form) })
  await session.toTip()
  expect(session.driver.status().heads?.safe).toEqual(world.blocks[4]?.ref)
})

it('consensus/pipeline: missing blobs reset derivation until they are there', async () => {
  const world = new DeriveWorld(forksTo('jovian'))
  const blobs = world.postBlobs(world.sequence(6), span, 300)
  const kept = [...world.blobs]
  world.mine({ transactions: [blobs] })
  world.blobs.clear()
  const host = createDerivedHost(world)
  const session = host.start()
  await session.until(() => session.driver.status().resets === 3)
  expect(session.driver.status().heads?.safe.number).toBe(0)
  for (const [hash, data] of kept) world.blobs.set(hash, data)
  await session.toTip()
  expect(session.driver.status().heads?.safe).toEqual(world.blocks[6]?.ref)
})
