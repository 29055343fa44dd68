import { expect, it } from 'vitest'
import { createWorld } from '#test/harness/consensus/execution'
import type { Hash } from '#types/ids'
import { findFinalized } from './finality.ts'

const { signal } = new AbortController()

/** Chain of three L2 blocks, each from its own L1 block 3, 4, 5; only genesis is finalized. */
async function derived() {
  const world = createWorld({ holocene: 0 })
  for (const number of [1, 2, 3]) world.l1.mine({ batches: [{ number, origin: 2, tag: 'a' }] })
  world.l1.mine()
  const session = world.start()
  await session.toTip()
  const heads = await session.engine.heads()
  return { world, heads, deps: { config: world.config, engine: session.engine, l1: world.l1, store: session.store } }
}

it('consensus/finality: a finalized L1 block without batches finalizes the safe head of the L1 blocks before it', async () => {
  const { world, heads, deps } = await derived()
  expect(await findFinalized(deps, heads, world.l1.at(6), signal)).toEqual(heads.safe)
  expect((await findFinalized(deps, heads, world.l1.at(4), signal))?.number).toBe(2)
})

it('consensus/finality: finalizes nothing before the first batch, and nothing twice', async () => {
  const { world, heads, deps } = await derived()
  expect(await findFinalized(deps, heads, world.l1.at(2), signal)).toBeUndefined()
  expect(await findFinalized(deps, { ...heads, finalized: heads.safe }, world.l1.at(6), signal)).toBeUndefined()
})

it('consensus/finality: does not finalize blocks derived from another L1 block of that number', async () => {
  const { world, heads, deps } = await derived()
  const other = { ...world.l1.at(4), hash: `0x${'12'.repeat(32)}` as Hash }
  expect(await findFinalized(deps, heads, other, signal)).toBeUndefined()
  world.l1.rollBack(2)
  world.l1.mine()
  world.l1.mine()
  expect(await findFinalized(deps, heads, world.l1.at(6), signal)).toBeUndefined()
})

it('consensus/finality: a record above the safe head waits for its label', async () => {
  const { world, heads, deps } = await derived()
  const below = { ...heads, safe: { ...heads.safe, number: 1 } }
  expect(await findFinalized(deps, below, world.l1.at(6), signal)).toBeUndefined()
})
