import { expect, it } from 'vitest'
import { l1Transaction } from '#test/harness/deriveL1'
import { badTransaction, DeriveWorld, forksTo, inbox, type Sequenced, userTransaction } from '#test/harness/deriveWorld'
import { calldataOf, framesOf, singularBatchOf, spanBatchOf } from '../batchEncoder.ts'
import { encodeChannel } from '../codec/channel.ts'

const span = { batches: 'span', compression: 'brotli' } as const
const fork = forksTo('holocene')
const bad = (at: number) => (number: number) => [number === at ? badTransaction : userTransaction(number)]

it('derive/batchStage: a batch after a gap is dropped for good, with its channel', () => {
  const world = new DeriveWorld(fork)
  const blocks = world.sequence(4)
  world.mine({ transactions: [...world.post(blocks.slice(2)), ...world.post(blocks.slice(0, 2))] })
  expect(world.derive()).toBe(2)
  world.mine({ transactions: world.post(blocks.slice(2)) })
  expect([world.derive(), world.agrees]).toEqual([4, true])
})

/** The same block on a parent that is not its own. */
const astray = (block: Sequenced | undefined): Sequenced => {
  if (block === undefined) throw new Error('no block')
  return { ...block, ref: { ...block.ref, parentHash: block.ref.hash } }
}

it('derive/batchStage: behind a batch that is dropped, its channel is not read', () => {
  const world = new DeriveWorld(fork)
  const [first] = world.sequence(1)
  world.mine({ transactions: world.post([astray(first), ...world.blocks.slice(1)]) })
  expect(world.derive()).toBe(0)
})

it('derive/batchStage: behind a span that is dropped, its channel is not read', () => {
  const world = new DeriveWorld(fork)
  const [first] = world.sequence(1)
  const batches = [spanBatchOf(world.config, [astray(first)]), ...world.blocks.slice(1).map(singularBatchOf)]
  const channel = encodeChannel(batches, world.config.l2ChainId, 'zlib')
  const frames = framesOf(world.channelId(), channel, { kind: 'blob' })
  world.mine({ transactions: [l1Transaction({ to: inbox, data: calldataOf(frames) })] })
  expect(world.derive()).toBe(0)
})

it('derive/batchStage: batches of the past are skipped, what follows them in the channel counts', () => {
  const world = new DeriveWorld(fork)
  const blocks = world.sequence(4)
  world.mine({ transactions: world.post(blocks.slice(0, 2)) })
  world.mine({ transactions: world.post(blocks) })
  expect([world.derive(), world.agrees]).toEqual([4, true])
})

it('derive/batchStage: a span of the past is skipped, its channel goes on', () => {
  const world = new DeriveWorld(fork)
  const blocks = world.sequence(6)
  world.mine({ transactions: world.post(blocks.slice(0, 4)) })
  expect(world.derive()).toBe(4)
  world.mine({ transactions: [...world.post(blocks.slice(0, 3), span), ...world.post(blocks.slice(2), span)] })
  expect([world.derive(), world.agrees]).toEqual([6, true])
})

it('derive/batchStage: an overlapping span counts from the first new block on, whatever it says of the old ones', () => {
  const world = new DeriveWorld(fork)
  const blocks = [...world.sequence(4, (number) => [userTransaction(number)])]
  world.mine({ transactions: world.post(blocks.slice(0, 2)) })
  expect(world.derive()).toBe(2)
  const [, second] = blocks
  if (second === undefined) throw new Error('no block')
  world.mine({ transactions: world.post([{ ...second, transactions: [] }, ...blocks.slice(2)], span) })
  expect([world.derive(), world.agrees]).toEqual([4, true])
})

it('derive/batchStage: an overlapping span on another parent is dropped, with its channel', () => {
  const world = new DeriveWorld(fork)
  const blocks = [...world.sequence(4)]
  world.mine({ transactions: world.post(blocks.slice(0, 2)) })
  const [, second] = blocks
  if (second === undefined) throw new Error('no block')
  const stranger = { ...second, ref: { ...second.ref, parentHash: second.ref.hash } }
  world.mine({ transactions: world.post([stranger, ...blocks.slice(2)], span) })
  expect(world.derive()).toBe(2)
})

it('derive/batchStage: a span that begins with the first block of the chain has no parent to check, and is dropped only below genesis', () => {
  const world = new DeriveWorld(fork)
  const blocks = world.sequence(3)
  world.mine({ transactions: world.post(blocks.slice(0, 1)) })
  world.mine({ transactions: world.post(blocks, span) })
  expect([world.derive(), world.agrees]).toEqual([3, true])
})

it('derive/batchStage: an invalid block is replaced by its deposits, the rest of its channel is dropped', () => {
  const world = new DeriveWorld(fork)
  const blocks = world.sequence(4, bad(2))
  world.mine({ transactions: world.post(blocks) })
  expect(world.derive()).toBe(2)
  expect(world.safeBlocks.get(2)?.transactions).toHaveLength(1)
  expect(world.safeBlocks.get(1)?.transactions).toHaveLength(2)
})

it('derive/batchStage: an invalid block of a span is replaced, the blocks before it stand, the rest is dropped', () => {
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

it('derive/batchStage: empty blocks fill an epoch whose window went by, after all that its last block holds', () => {
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

it('derive/batchStage: a batch posted after the window is dropped with its channel', () => {
  const world = new DeriveWorld(fork, { sequencingWindowBlocks: 4 })
  world.mine()
  const blocks = world.sequence(3, (number) => [userTransaction(number)])
  world.mineEmpty(3)
  world.mine({ transactions: world.post(blocks) })
  world.derive()
  expect(world.safeBlocks.get(1)?.transactions).toHaveLength(1)
})

it('derive/batchStage: every block is safe by itself', () => {
  const world = new DeriveWorld(fork)
  world.mine({ transactions: world.post(world.sequence(3), span) })
  world.derive()
  expect(world.driver.derived.map(({ isLastInSpan }) => isLastInSpan)).toEqual([true, true, true])
})
