import { describe, expect, it } from 'vitest'
import { batcherUpdate, depositLog, l1Transaction, receiptOf } from '#test/harness/derive/l1'
import {
  badTransaction,
  configContract,
  DeriveWorld,
  forksTo,
  genesisTimeSec,
  inbox,
  portal,
  userTransaction,
} from '#test/harness/derive/world'

const span = { batches: 'span', compression: 'zlib' } as const

/** Derives, and starts again from a start point after each reset. */
function settle(world: DeriveWorld): number {
  for (;;) {
    const halt = world.deriveUntilHalt()
    if (halt.kind === 'l1') return world.safe.number
    if (halt.kind === 'invalid') throw new Error('invalid block')
    world.restart()
  }
}

describe.each(['delta', 'granite', 'holocene'] as const)('derive after an L1 reorg, under %s', (fork) => {
  const begin = (): DeriveWorld => new DeriveWorld(forksTo(fork))

  it('resets on a block that does not follow the last block read, and until the reset is done', () => {
    const world = begin()
    world.mineEmpty(3)
    expect(settle(world)).toBe(0)
    world.reorg(1)
    world.mine({ header: { extraData: Uint8Array.of(1) } })
    world.mine()
    for (let i = 0; i < 2; i++)
      expect(world.deriveUntilHalt()).toMatchObject({ kind: 'reset', reason: expect.stringMatching('does not follow') })
    world.restart()
    expect([world.deriveUntilHalt(), world.pipeline.origin.number]).toEqual([{ kind: 'l1', number: 5 }, 4])
  })

  it('resets when the start block is not canonical', () => {
    const world = begin()
    world.mineEmpty(2)
    const [genesis] = world.blocks
    if (genesis === undefined) throw new Error('no genesis')
    const start = world.startAt(genesis.head, 0)
    world.pipeline.reset({ ...start, l1: { ...start.l1, hash: world.l1[2]?.ref.hash ?? start.l1.hash } })
    expect(world.deriveUntilHalt()).toMatchObject({ kind: 'reset', reason: expect.stringMatching('not') })
  })

  it('derives the batches of an orphaned block only after they are posted again', () => {
    const world = begin()
    const transactions = world.post(world.sequence(3, (number) => [userTransaction(number)]))
    world.mineEmpty(2)
    world.mine({ transactions })
    world.reorg(1)
    world.mineEmpty(2)
    expect(settle(world)).toBe(0)
    world.mine({ transactions })
    expect([settle(world), world.agrees]).toEqual([3, true])
  })

  it('rewinds the safe head when the origin of its blocks is gone, and derives the batches of the new branch', () => {
    const world = begin()
    world.mine()
    world.mine({ transactions: world.post(world.sequence(5), span) })
    const old = world.post(world.sequence(3))
    world.mine({ transactions: old })
    expect([settle(world), world.safe.l1Origin.number]).toEqual([8, 1])
    world.reorg(3)
    world.blocks.length = 6
    world.mine({ receipts: [receiptOf([depositLog(portal, 'alice', 1n)])] })
    const first = world.post([...world.blocks.slice(1)], span)
    const fresh = world.sequence(4)
    world.mine({ transactions: [...first, ...old, ...world.post(fresh)] })
    world.mineEmpty(2)
    expect([settle(world), world.agrees]).toEqual([9, true])
  })

  it('returns to the same heads on repeated reorgs between branches', () => {
    const world = begin()
    world.mineEmpty(2)
    const trunk = [...world.l1]
    const common = world.sequence(3)
    const branches = (['a', 'b'] as const).map((name) => {
      world.blocks.length = 4
      world.l1.splice(0, world.l1.length, ...trunk)
      world.mine({ header: { extraData: new TextEncoder().encode(name) } })
      const own = world.sequence(3, (number) => [userTransaction(number, name)])
      world.mine({ transactions: world.post([...common, ...own]) })
      return { l1: [...world.l1], head: own.at(-1)?.ref.hash }
    })
    for (const [round, branch] of [0, 1, 0, 1].entries()) {
      world.l1.splice(0, world.l1.length, ...(branches[branch]?.l1 ?? []))
      // each branch is longer than the branch before it, so that its next block shows the reorg
      world.mineEmpty(2 * round)
      settle(world)
      expect([round, world.safe.hash]).toEqual([round, branches[branch]?.head])
    }
  })

  it('a change of the batcher is undone with its block', () => {
    const world = begin()
    const data = world.data(world.sequence(1))
    world.mine({ receipts: [receiptOf([batcherUpdate(configContract, 'new')])] })
    world.mine({ transactions: data.map((one) => l1Transaction({ to: inbox, data: one })) })
    expect(settle(world)).toBe(0)
    world.reorg(2)
    world.mine()
    world.mine({ transactions: data.map((one) => l1Transaction({ to: inbox, data: one })) })
    world.mine()
    expect(settle(world)).toBe(1)
  })

  it('follows a reorg of 20 blocks', () => {
    const world = begin()
    for (let i = 0; i < 30; i++) world.mine({ transactions: world.post(world.sequence(6)) })
    expect([settle(world), world.agrees]).toEqual([180, true])
    world.reorg(20)
    world.blocks.length = 61
    world.mine({ header: { extraData: Uint8Array.of(1) }, transactions: world.post(world.sequence(6)) })
    for (let i = 0; i < 22; i++) world.mine({ transactions: world.post(world.sequence(6)) })
    expect([settle(world), world.agrees]).toEqual([198, true])
  })
})

it('derive after an L1 reorg to before Holocene: accepts batches out of order again', () => {
  const world = new DeriveWorld({ ...forksTo('granite'), holocene: genesisTimeSec + 36 })
  const blocks = world.sequence(4)
  const mixed = (): Uint8Array[] => [...world.post(blocks.slice(2)), ...world.post(blocks.slice(0, 2))]
  world.mineEmpty(2)
  world.mine({ transactions: mixed() })
  expect(settle(world)).toBe(2)
  world.reorg(3)
  world.mine({ header: { extraData: Uint8Array.of(1) } })
  world.mine({ transactions: mixed() })
  world.mineEmpty(2)
  expect([settle(world), world.agrees]).toEqual([4, true])
})

describe('derive after a restart, under Holocene: batches dropped before stay dropped', () => {
  const bad = (at: number) => (number: number) => [number === at ? badTransaction : userTransaction(number)]

  it('the rest of a span whose second block was replaced', () => {
    const world = new DeriveWorld(forksTo('holocene'))
    world.mine({ transactions: world.post(world.sequence(4, bad(2)), span) })
    expect(world.derive()).toBe(2)
    world.restart()
    expect(world.derive()).toBe(2)
  })

  it('a batch after a gap', () => {
    const world = new DeriveWorld(forksTo('holocene'))
    const blocks = world.sequence(4)
    world.mine({ transactions: [...world.post(blocks.slice(2)), ...world.post(blocks.slice(0, 2))] })
    expect(world.derive()).toBe(2)
    world.restart()
    expect(world.derive()).toBe(2)
    world.mine({ transactions: world.post(blocks) })
    expect([world.derive(), world.agrees]).toEqual([4, true])
  })

  it('continues a channel that was open', () => {
    const world = new DeriveWorld(forksTo('holocene'))
    const transactions = world.post(
      world.sequence(6, (number) => [userTransaction(number)]),
      { batches: 'singular', compression: 'zlib' },
      200,
    )
    world.mine({ transactions: transactions.slice(0, 2) })
    world.derive()
    world.restart()
    world.mine({ transactions: transactions.slice(2) })
    expect([world.derive(), world.agrees]).toEqual([6, true])
  })
})

it.each(['granite', 'holocene'] as const)('derive after a restart, under %s: fills an expired window as without the restart', (fork) => {
  const heads = [false, true].map((restarts) => {
    const world = new DeriveWorld(forksTo(fork), { sequencingWindowBlocks: 4 })
    return Array.from({ length: 12 }, () => {
      world.mine()
      if (restarts) world.restart()
      return world.derive()
    })
  })
  expect(heads[1]).toEqual(heads[0])
  expect(heads[0]?.at(-1)).toBe(53)
})

it('derive/pipeline: ignores an answer that it does not need', () => {
  const world = new DeriveWorld(forksTo('holocene'))
  world.mineEmpty(3)
  settle(world)
  const [, , block] = world.l1
  if (block === undefined) throw new Error('no block')
  world.pipeline.provide({ kind: 'l1-block', block })
  world.pipeline.provide({ kind: 'blobs', blobs: 'missing' })
  expect([settle(world), world.pipeline.origin.number]).toEqual([0, 3])
})

it('derive/pipeline: resets on a safe head whose origin is not on the L1 chain that was read', () => {
  const world = new DeriveWorld(forksTo('granite'))
  world.mineEmpty(2)
  const [genesis] = world.blocks
  if (genesis === undefined) throw new Error('no genesis')
  const astray = { ...genesis.head, ref: { ...genesis.ref, l1Origin: { number: 0, hash: genesis.ref.hash } } }
  for (const block of world.l1) {
    world.pipeline.step(astray)
    world.pipeline.provide({ kind: 'l1-block', block })
  }
  expect(world.pipeline.step(astray)).toMatchObject({ kind: 'reset', reason: expect.stringMatching('not the origin') })
})

it('derive/pipeline: resets when a safe block is unknown', () => {
  const world = new DeriveWorld(forksTo('granite'))
  const blocks = world.sequence(3)
  world.mine({ transactions: world.post(blocks.slice(0, 2)) })
  world.derive()
  world.safeBlocks.delete(1)
  world.mine({ transactions: world.post(blocks.slice(1), span) })
  expect(world.deriveUntilHalt()).toEqual({ kind: 'reset', reason: 'safe block 1 is unknown' })
})
