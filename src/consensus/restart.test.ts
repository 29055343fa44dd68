import { expect, it } from 'vitest'
import { createWorld, type Session, type World } from '#test/harness/consensus/execution'
import type { Channel } from '#test/harness/consensus/l1'

class Kill extends Error {}

const holocene = { holocene: 0 }
const blocks = (from: number, to: number, origin: number, tag = 'a'): Channel => ({
  batches: Array.from({ length: to - from + 1 }, (_, at) => ({ number: from + at, origin, tag: `${tag}${from + at}` })),
})

/** L1 blocks with whole and split channels, an invalid block, a batch after a gap, and one L1 block without batches. */
function mineMixed({ l1 }: World): void {
  l1.mine(
    { batches: [...blocks(1, 1, 2).batches, { number: 2, origin: 2, tag: 'bad' }, ...blocks(3, 3, 2, 'void').batches] },
    blocks(2, 4, 2),
  )
  l1.mine(blocks(3, 6, 2), blocks(7, 9, 3))
  l1.mine()
  l1.mine({ batches: [...blocks(10, 10, 4).batches, { number: 11, origin: 4, tag: 'bad' }, ...blocks(12, 12, 4).batches] })
  l1.mine(blocks(15, 19, 6))
  l1.mine(blocks(11, 13, 6), blocks(14, 14, 6))
  l1.mine(blocks(15, 18, 6))
  l1.mine({ ...blocks(19, 21, 8), blob: 'x' })
}

const safeHeads = (world: World, session: Session): unknown[] =>
  Array.from({ length: world.l1.tip.number + 1 }, (_, l1Number) => session.store.atOrBelow(l1Number)?.safe)

async function straight(schedule: Parameters<typeof createWorld>[0]): Promise<{ hashes: readonly string[]; safe: readonly unknown[] }> {
  const world = createWorld(schedule)
  mineMixed(world)
  const session = world.start()
  await session.toTip()
  await session.stop()
  expect(session.driver.status().heads?.safe.number).toBe(21)
  return { hashes: session.engine.hashes(), safe: safeHeads(world, session) }
}

/** Kills the process at its nth effect; undefined when it reached the tip with fewer effects. */
async function killAt(world: World, nth: number, commitBlocks: number): Promise<Session | undefined> {
  let count = 0
  const effect = (name: string): void => {
    if (++count >= nth) throw new Kill(name)
  }
  const session = world.start(effect, { commitBlocks })
  const reached = await session.toTip().then(
    () => true,
    (error: unknown) => {
      if (!(error instanceof Kill)) throw error
      return false
    },
  )
  await session.stop()
  return reached ? undefined : session
}

it.each([
  ['Holocene', 1, holocene],
  ['Holocene', 2, holocene],
  ['Holocene', 100, holocene],
  ['before Holocene', 1, {}],
  ['before Holocene', 3, {}],
] as const)(
  'consensus/restart: %s, killed before and after each effect, commits of %i blocks: same chain, same safe heads, no head lost',
  async (_name, commitBlocks, schedule) => {
    const expected = await straight(schedule)
    let kills = 0
    for (let nth = 1; ; nth++) {
      const world = createWorld(schedule)
      mineMixed(world)
      const killed = await killAt(world, nth, commitBlocks)
      if (killed === undefined) break
      kills++
      const shown = killed.engine.durable.heads.safe
      const next = world.start(undefined, { commitBlocks })
      await next.toTip()
      await next.stop()
      expect(next.engine.hashes(), `kill ${nth}`).toEqual(expected.hashes)
      expect(safeHeads(world, next), `kill ${nth}`).toEqual(expected.safe)
      for (const heads of next.engine.history) expect(heads.safe.number, `kill ${nth}`).toBeGreaterThanOrEqual(shown.number)
    }
    expect(kills).toBeGreaterThan(40)
  },
)

it('consensus/restart: many kills lead to the same chain', async () => {
  const expected = await straight(holocene)
  const world = createWorld(holocene)
  mineMixed(world)
  let lives = 0
  for (let session = await killAt(world, 9, 1); session; session = await killAt(world, 9, 1)) lives++
  const last = world.start()
  await last.toTip()
  expect(lives).toBeGreaterThan(5)
  expect(last.engine.hashes()).toEqual(expected.hashes)
  expect(safeHeads(world, last)).toEqual(expected.safe)
})

it('consensus/restart: a kill during an L1 reorg leads to the chain of the new branch', async () => {
  const remine = (world: World): void => {
    world.l1.rollBack(4)
    for (let at = 0; at < 5; at++) world.l1.mine(blocks(12 + at * 2, 13 + at * 2, 6, 'b'))
  }
  const fresh = createWorld(holocene)
  mineMixed(fresh)
  remine(fresh)
  const straightRun = fresh.start()
  await straightRun.toTip()
  for (let nth = 1; ; nth++) {
    const world = createWorld(holocene)
    mineMixed(world)
    const before = world.start()
    await before.toTip()
    await before.stop()
    remine(world)
    const killed = await killAt(world, nth, 2)
    const next = world.start()
    await next.toTip()
    expect(next.engine.hashes(), `kill ${nth}`).toEqual(straightRun.engine.hashes())
    if (killed === undefined) break
  }
})

it('consensus/restart: sets no label when nothing is new', async () => {
  const world = createWorld(holocene)
  mineMixed(world)
  const first = world.start()
  await first.toTip()
  await first.stop()
  const second = world.start()
  await second.toTip()
  expect(second.engine.history).toEqual([])
})

it('consensus/restart: without its store it moves back a sequencing window, never below finalized, and derives the same chain', async () => {
  const world = createWorld(holocene)
  mineMixed(world)
  world.l1.finalize(4)
  const first = world.start()
  await first.toTip()
  await first.stop()
  expect(first.engine.durable.heads.finalized.number).toBe(9)
  world.loseStore()
  const second = world.start()
  await second.toTip()
  expect(second.engine.hashes()).toEqual(first.engine.hashes())
  expect(second.engine.history[0]).toMatchObject({ safe: { number: 9 }, finalized: { number: 9 } })
})

it('consensus/restart: a batch kept from an L1 block before the recorded one belongs to the recorded one', async () => {
  const world = createWorld()
  world.l1.mine(blocks(1, 2, 2))
  world.l1.mine(blocks(5, 6, 3))
  world.l1.finalize(3)
  const first = world.start()
  await first.toTip()
  await first.stop()
  world.loseStore()
  world.l1.mine(blocks(3, 4, 3))
  const killed = await killAt(world, 13, 1)
  expect(killed?.store.last()).toMatchObject({ l1: { number: 5 }, safe: { number: 4 } })
  expect(killed?.store.atOrBelow(4)).toBeUndefined()
  const last = world.start()
  await last.toTip()
  expect(last.store.last()).toMatchObject({ l1: { number: 5 }, safe: { number: 6 } })
})

it('consensus/restart: after a reorg while it was down, it moves back as far as the records are invalid', async () => {
  const world = createWorld(holocene)
  mineMixed(world)
  const first = world.start()
  await first.toTip()
  await first.stop()
  world.l1.rollBack(3)
  for (let at = 0; at < 4; at++) world.l1.mine(blocks(12 + at, 12 + at, 6, 'c'))
  const second = world.start()
  await second.toTip()
  expect(second.engine.history[0]?.safe.number).toBe(11)
  expect(second.driver.status().heads?.safe.number).toBe(15)
})

it.each([
  ['Holocene', holocene],
  ['before Holocene', {}],
] as const)(
  'consensus/restart: %s, when derivation contradicts the records, it moves back as far as they differ',
  async (_name, schedule) => {
    const world = createWorld(schedule)
    mineMixed(world)
    const first = world.start()
    await first.toTip()
    await first.stop()
    world.alterDerivation((attributes, number) =>
      number < 17 ? attributes : { ...attributes, gasLimit: 1n, transactions: attributes.transactions.slice(0, 1) },
    )
    const second = world.start()
    await second.toTip()
    const [before, after] = [first.engine.hashes(), second.engine.hashes()]
    expect(after).toHaveLength(before.length)
    expect(after.slice(0, 17)).toEqual(before.slice(0, 17))
    expect(after[17]).not.toBe(before[17])
  },
)
