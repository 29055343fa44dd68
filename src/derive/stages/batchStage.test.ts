import { expect, it } from 'vitest'
import { encodeChannel, spanBatchOf } from '#test/harness/derive/channels'
import { l1Transaction } from '#test/harness/derive/l1'
import { badTransaction, DeriveWorld, forksTo, inbox, type Sequenced, userTransaction } from '#test/harness/derive/world'
import { framesOf, singularBatchOf } from '../batchEncoder.ts'
import { encodeFrames } from '../codec/frame.ts'

const span = { batches: 'span', compression: 'brotli' } as const
const fork = forksTo('holocene')
const bad = (at: number) => (number: number) => [number === at ? badTransaction : userTransaction(number)]

it('derive/batchStage: drops a batch after a gap with its channel', () => {
  const world = new DeriveWorld(fork)
  const blocks = world.sequence(4)
  world.mine({ transactions: [...world.post(blocks.slice(2)), ...world.post(blocks.slice(0, 2))] })
  expect(world.derive()).toBe(2)
  world.mine({ transactions: world.post(blocks.slice(2)) })
  expect([world.derive(), world.agrees]).toEqual([4, true])
})

/** Returns the block with a wrong parent hash. */
const astray = (block: Sequenced | undefined): Sequenced => {
  if (block === undefined) throw new Error('no block')
  return { ...block, ref: { ...block.ref, parentHash: block.ref.hash } }
}

it('derive/batchStage: does not read the channel after a dropped batch', () => {
  const world = new DeriveWorld(fork)
  const [first] = world.sequence(1)
  world.mine({ transactions: world.post([astray(first), ...world.blocks.slice(1)]) })
  expect(world.derive()).toBe(0)
})

it('derive/batchStage: does not read the channel after a dropped span', () => {
  const world = new DeriveWorld(fork)
  const [first] = world.sequence(1)
  const batches = [spanBatchOf(world.config, [astray(first)]), ...world.blocks.slice(1).map(singularBatchOf)]
  const channel = encodeChannel(batches, world.config.l2ChainId, 'zlib')
  const frames = framesOf(world.channelId(), channel, { kind: 'blob' })
  world.mine({ transactions: [l1Transaction({ to: inbox, data: encodeFrames(frames) })] })
  expect(world.derive()).toBe(0)
})

it('derive/batchStage: skips past batches and reads the batches after them in the channel', () => {
  const world = new DeriveWorld(fork)
  const blocks = world.sequence(4)
  world.mine({ transactions: world.post(blocks.slice(0, 2)) })
  world.mine({ transactions: world.post(blocks) })
  expect([world.derive(), world.agrees]).toEqual([4, true])
})

it('derive/batchStage: skips a past span and continues its channel', () => {
  const world = new DeriveWorld(fork)
  const blocks = world.sequence(6)
  world.mine({ transactions: world.post(blocks.slice(0, 4)) })
  expect(world.derive()).toBe(4)
  world.mine({ transactions: [...world.post(blocks.slice(0, 3), span), ...world.post(blocks.slice(2), span)] })
  expect([world.derive(), world.agrees]).toEqual([6, true])
})

it('derive/batchStage: takes an overlapping span from its first new block on and ignores its old blocks', () => {
  const world = new DeriveWorld(fork)
  const blocks = [...world.sequence(4, (number) => [userTransaction(number)])]
  world.mine({ transactions: world.post(blocks.slice(0, 2)) })
  expect(world.derive()).toBe(2)
  const [, second] = blocks
  if (second === undefined) throw new Error('no block')
  world.mine({ transactions: world.post([{ ...second, transactions: [] }, ...blocks.slice(2)], span) })
  expect([world.derive(), world.agrees]).toEqual([4, true])
})

it('derive/batchStage: drops an overlapping span with another parent, and its channel', () => {
  const world = new DeriveWorld(fork)
  const blocks = [...world.sequence(4)]
  world.mine({ transactions: world.post(blocks.slice(0, 2)) })
  const [, second] = blocks
  if (second === undefined) throw new Error('no block')
  const stranger = { ...second, ref: { ...second.ref, parentHash: second.ref.hash } }
  world.mine({ transactions: world.post([stranger, ...blocks.slice(2)], span) })
  expect(world.derive()).toBe(2)
})

it('derive/batchStage: accepts a span that begins with the first block of the chain', () => {
  const world = new DeriveWorld(fork)
  const blocks = world.sequence(3)
  world.mine({ transactions: world.post(blocks.slice(0, 1)) })
  world.mine({ transactions: world.post(blocks, span) })
  expect([world.derive(), world.agrees]).toEqual([3, true])
})

it('derive/batchStage: replaces an invalid block by its deposits and drops the rest of its channel', () => {
  const world = new DeriveWorld(fork)
  const blocks = world.sequence(4, bad(2))
  world.mine({ transactions: world.post(blocks) })
  expect(world.derive()).toBe(2)
  expect(world.safeBlocks.get(2)?.transactions).toHaveLength(1)
  expect(world.safeBlocks.get(1)?.transactions).toHaveLength(2)
})

it('derive/batchStage: replaces an invalid block of a span, keeps the blocks before it and drops the rest', () => {
  const world = new DeriveWorld(fork)
  world.mine({ transactions: world.post(world.sequence(4, bad(3)), span) })
  expect(world.derive()).toBe(3)
  expect([1, 2, 3].map((number) => world.safeBlocks.get(number)?.transactions.length)).toEqual([2, 2, 1])
})

it('derive/batchStage: a channel after a replaced block builds on it', () => {
  const world = new DeriveWorld(fork)
  world.mine({ transactions: world.post(world.sequence(2, bad(2))) })
  expect(world.derive()).toBe(2)
  const replaced = world.driver.safe
  world.blocks.length = 2
  world.blocks.push({ ref: replaced.ref, head: replaced, transactions: world.safeBlocks.get(2)?.transactions ?? [] })
  world.mine({ transactions: world.post(world.sequence(2)) })
  expect([world.derive(), world.agrees]).toEqual([4, true])
})

it("derive/batchStage: fills an epoch with empty blocks when its window expired, after all batches of the window's last block", () => {
  const world = new DeriveWorld(fork, { sequencingWindowBlocks: 4 })
  world.mine()
  const blocks = world.sequence(3, (number) => [userTransaction(number)])
  world.mineEmpty(2)
  expect(world.derive()).toBe(0)
  world.mine({ transactions: world.post(blocks) })
  expect(world.derive()).toBe(5)
  expect([1, 2, 3, 4, 5].map((number) => world.safeBlocks.get(number)?.transactions.length)).toEqual([2, 2, 2, 1, 1])
  world.mine()
  expect([world.derive(), world.safe.l1Origin.number]).toEqual([11, 1])
})

it('derive/batchStage: drops a batch posted after the window, and its channel', () => {
  const world = new DeriveWorld(fork, { sequencingWindowBlocks: 4 })
  world.mine()
  const blocks = world.sequence(3, (number) => [userTransaction(number)])
  world.mineEmpty(3)
  world.mine({ transactions: world.post(blocks) })
  world.derive()
  expect(world.safeBlocks.get(1)?.transactions).toHaveLength(1)
})

it('derive/batchStage: every block is the last of its span', () => {
  const world = new DeriveWorld(fork)
  world.mine({ transactions: world.post(world.sequence(3), span) })
  world.derive()
  expect(world.driver.derived.map(({ isLastInSpan }) => isLastInSpan)).toEqual([true, true, true])
})
