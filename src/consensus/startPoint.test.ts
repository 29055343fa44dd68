import { expect, it } from 'vitest'
import type { ForkSchedule } from '#chainspec/forks'
import { createWorld, type World } from '#test/harness/consensus/execution'
import type { SafeHeadEntry } from './ports.ts'
import { findStart, type StartDeps } from './startPoint.ts'

const { signal } = new AbortController()
const l1Time = (number: number): number => 1_000_000 + 12 * number

/** L1 blocks 3 … 22, each with the L2 block three numbers below it, whose origin is the L1 block before. */
async function derived(schedule: ForkSchedule): Promise<{ world: World; deps: StartDeps; heads: Parameters<typeof findStart>[1] }> {
  const world = createWorld({ holocene: 0, ...schedule })
  for (let number = 1; number <= 20; number++) world.l1.mine({ batches: [{ number, origin: world.l1.tip.number, tag: 'a' }] })
  const session = world.start(undefined, { commitBlocks: 1 })
  await session.toTip()
  await session.stop()
  const deps = { config: world.config, engine: session.engine, l1: world.l1, store: session.store }
  return { world, deps, heads: await session.engine.heads() }
}

it.each([
  ['before Granite, the old timeout', { granite: l1Time(99) }, 14],
  ['from Granite on, the new timeout', { granite: 0 }, 16],
  ['by the time of the L1 origin, although the L2 block is in Granite', { granite: l1Time(20) + 1 }, 14],
  ['by the time of the L1 origin, exactly at Granite', { granite: l1Time(20) }, 16],
  ['twice the timeout before Canyon', { canyon: l1Time(99), granite: l1Time(99) }, 8],
])('consensus/startPoint: reading begins a channel timeout before the origin: %s', async (_what, schedule, l1Number) => {
  const { deps, heads, world } = await derived(schedule)
  const start = await findStart(deps, heads, signal)
  expect(start.settled).toEqual(heads.safe)
  expect(start.point.safe.ref).toMatchObject({ number: 19, l1Origin: { number: 20 } })
  expect(start.derivedFrom).toEqual({ number: 22, hash: world.l1.at(22).hash })
  expect(start.point.l1).toEqual(world.l1.at(l1Number))
  expect(start.point.accountedFor).toBe(21)
})

it('consensus/startPoint: the system config is that of the L2 block on the L1 block where reading begins', async () => {
  const { deps, heads } = await derived({ granite: 0 })
  const payload = deps.engine.payload.bind(deps.engine)
  const engine: StartDeps['engine'] = {
    payload: async (at) => {
      const found = await payload(at)
      return found && { ...found, gasLimit: BigInt(found.blockNumber) }
    },
  }
  const { point } = await findStart({ ...deps, engine }, heads, signal)
  expect(point.l1.number).toBe(16)
  expect(point.systemConfig.gasLimit).toBe(15n)
  expect(point.safe.systemConfig.gasLimit).toBe(19n)
})

it("consensus/startPoint: reading never begins before the rollup's L1 genesis", async () => {
  const { world, deps, heads } = await derived({ granite: 0 })
  const genesis = await findStart(
    { ...deps, store: { last: none, before: none, atOrBelow: none } },
    { ...heads, safe: heads.finalized },
    signal,
  )
  expect(genesis.point.l1).toEqual(world.l1.at(2))
  expect(genesis.point.systemConfig).toBe(world.config.genesis.systemConfig)
  expect(genesis.settled.number).toBe(0)
})

it('consensus/startPoint: reads few L1 blocks when L1 is behind the records (L1_BEHIND)', async () => {
  const { world, deps, heads } = await derived({ granite: 0 })
  const asked: number[] = []
  const l1: StartDeps['l1'] = {
    head: async () => world.l1.at(8),
    ref: async (number) => {
      asked.push(number)
      return number > 8 ? undefined : world.l1.at(number)
    },
  }
  await expect(findStart({ ...deps, l1 }, heads, signal)).rejects.toMatchObject({ code: 'L1_BEHIND', data: { l1Block: 22 } })
  expect(asked).toEqual([22, 8])
})

const none = (): SafeHeadEntry | undefined => undefined

it('consensus/startPoint: moves back to the last valid record after a reorg, and stops on an L1 of another chain (L1_CHAIN_MISMATCH)', async () => {
  const { world, deps, heads } = await derived({ granite: 0 })
  world.l1.rollBack(10)
  world.l1.mine()
  expect((await findStart(deps, heads, signal)).settled.number).toBe(10)
  world.l1.rollBack(world.l1.tip.number)
  for (let number = 1; number <= 30; number++) world.l1.mine()
  await expect(findStart(deps, heads, signal)).rejects.toMatchObject({ code: 'L1_CHAIN_MISMATCH' })
})

it('consensus/startPoint: names a safe block that the execution half lost (BLOCK_MISSING)', async () => {
  const { deps, heads } = await derived({ granite: 0 })
  const store = { last: none, before: none, atOrBelow: none }
  const engine: StartDeps['engine'] = { payload: async (at) => (at === heads.finalized.hash ? undefined : deps.engine.payload(at)) }
  await expect(findStart({ ...deps, store, engine }, heads, signal)).rejects.toMatchObject({ code: 'BLOCK_MISSING' })
})
