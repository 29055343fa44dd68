import { expect, it } from 'vitest'
import { createLog } from '#lib/log'
import { badTransaction, DeriveWorld, forksTo, userTransaction } from '#test/harness/derive/world'
import { item, wait } from '../stage.ts'
import { createBatchQueue } from './batchQueue.ts'

const span = { batches: 'span', compression: 'zlib' } as const
const fork = forksTo('granite')

it('derive/batchQueue: sorts batches that were posted in reverse order', () => {
  const world = new DeriveWorld(fork)
  const [a = [], b = [], c = []] = [world.sequence(2), world.sequence(2), world.sequence(2)]
  world.mine({ transactions: world.post(c) })
  expect(world.derive()).toBe(0)
  world.mine({ transactions: [...world.post(b), ...world.post(a)] })
  expect([world.derive(), world.agrees]).toEqual([6, true])
})

it('derive/batchQueue: of two batches for one block, takes the batch posted first', () => {
  const world = new DeriveWorld(fork)
  const first = world.sequence(1, () => [userTransaction(1)])
  world.blocks.length = 1
  const second = world.sequence(1, () => [userTransaction(2)])
  world.mine({ transactions: [...world.post(first), ...world.post(second)] })
  expect([world.derive(), world.safe.hash]).toEqual([1, first[0]?.ref.hash])
})

it('derive/batchQueue: drops the batch of an invalid block and takes the next batch for its time', () => {
  const world = new DeriveWorld(fork)
  const bad = world.sequence(1, () => [badTransaction])
  world.blocks.length = 1
  const good = world.sequence(1, () => [userTransaction(1)])
  world.mine({ transactions: [...world.post(bad), ...world.post(good)] })
  expect([world.derive(), world.safe.hash]).toEqual([1, good[0]?.ref.hash])
})

it('derive/batchQueue: drops a whole span that has an invalid block', () => {
  const world = new DeriveWorld(fork)
  const bad = world.sequence(3, (number) => [number === 2 ? badTransaction : userTransaction(number)])
  world.blocks.length = 1
  const good = world.sequence(3, (number) => [userTransaction(number + 100)])
  world.mine({ transactions: [...world.post(bad, span), ...world.post(good, span)] })
  expect([world.derive(), world.safe.hash]).toEqual([3, good[2]?.ref.hash])
})

it('derive/batchQueue: emits a valid span block by block, with isLastInSpan at its last block', () => {
  const world = new DeriveWorld(fork)
  world.mine({ transactions: world.post(world.sequence(3), span) })
  world.derive()
  expect(world.driver.derived.map(({ isLastInSpan }) => isLastInSpan)).toEqual([false, false, true])
})

it('derive/batchQueue: accepts a span that repeats safe blocks exactly and continues after them', () => {
  const world = new DeriveWorld(fork)
  const blocks = [...world.sequence(4, (number) => [userTransaction(number)])]
  world.mine({ transactions: world.post(blocks.slice(0, 2)) })
  expect(world.derive()).toBe(2)
  world.mine({ transactions: world.post(blocks.slice(1), span) })
  expect([world.derive(), world.agrees]).toEqual([4, true])
})

it.each([
  ['other transactions', (number: number) => [userTransaction(number + 50)]],
  ['fewer transactions', () => []],
])('derive/batchQueue: drops a span that repeats a safe block with %s', (_what, transactions) => {
  const world = new DeriveWorld(fork)
  const safe = world.sequence(2, (number) => [userTransaction(number)])
  world.mine({ transactions: world.post(safe) })
  expect(world.derive()).toBe(2)
  const [, second] = safe
  if (second === undefined) throw new Error('no block')
  const other = { ...second, transactions: transactions(2) }
  world.mine({ transactions: world.post([other, ...world.sequence(2)], span) })
  expect(world.derive()).toBe(2)
})

it('derive/batchQueue: fills an epoch with empty blocks when its window expired, one at least', () => {
  const world = new DeriveWorld(fork, { sequencingWindowBlocks: 4 })
  world.mineEmpty(3)
  expect(world.derive()).toBe(0)
  world.mine()
  // epoch 0 ends with block 5 at second 10; the block at second 12 is of epoch 1
  expect(world.derive()).toBe(5)
  world.mine()
  expect([world.derive(), world.safe.l1Origin.number]).toEqual([11, 1])
  expect(world.driver.derived.every(({ attributes }) => attributes.transactions.length === 1)).toBe(true)
})

it('derive/batchQueue: an epoch shorter than a block time has one block', () => {
  const world = new DeriveWorld(fork, { sequencingWindowBlocks: 4 })
  for (let i = 0; i < 9; i++) world.mine({}, 1)
  world.derive()
  const origins = [1, 2, 3, 4, 5, 6].map((number) => world.safeBlocks.get(number)?.ref.l1Origin.number)
  expect(origins).toEqual([1, 2, 3, 4, 5, undefined])
})

it('derive/batchQueue: forces empty blocks only after the last block of the window is read to its end', () => {
  const world = new DeriveWorld(fork, { sequencingWindowBlocks: 3 })
  const blocks = world.sequence(3, (number) => [userTransaction(number)])
  const [first] = blocks
  if (first === undefined) throw new Error('no block')
  const astray = { ...first, ref: { ...first.ref, parentHash: first.ref.hash } }
  world.mineEmpty(2)
  world.mine({ transactions: [...world.post([astray]), ...world.post(blocks)] })
  world.derive()
  expect([1, 2, 3, 4].map((number) => world.safeBlocks.get(number)?.transactions.length)).toEqual([2, 2, 2, 1])
})

it.each([
  ['in the last block of the window is accepted', 4, 7, true],
  ['one block later is rejected', 5, 11, false],
])('derive/batchQueue: a batch posted %s', (_what, at, head, agrees) => {
  const world = new DeriveWorld(fork, { sequencingWindowBlocks: 4 })
  world.mine()
  const transactions = world.post(world.sequence(7, (number) => [userTransaction(number)]))
  world.mineEmpty(at - 2)
  world.mine({ transactions })
  expect([world.derive(), world.agrees && world.safe.number === 7]).toEqual([head, agrees])
})

it('derive/batchQueue: beyond the drift a block must be empty and take the next origin when available', () => {
  const world = new DeriveWorld(forksTo('ecotone'), { maxSequencerDriftSec: 10 })
  // L1 block 1 is late: at second 40
  const early = world.sequence(5, (number) => [userTransaction(number)])
  const late = world.sequence(2)
  world.mine({}, 40)
  world.mine({ transactions: world.post([...early, ...late]) })
  expect([world.derive(), world.agrees]).toEqual([7, true])
  world.mine({ transactions: world.post(world.sequence(1, () => [userTransaction(9)])) })
  expect(world.derive()).toBe(7)
  world.blocks.length = 8
  world.mine({ transactions: world.post(world.sequence(12)) })
  expect([world.derive(), world.agrees]).toEqual([19, true])
  // block 20 at second 40 can have origin 1, so it must
  world.mine({ transactions: world.post(world.sequence(1, () => [], true)) })
  expect(world.derive()).toBe(19)
  world.blocks.length = 20
  world.mine({ transactions: world.post(world.sequence(1, () => [userTransaction(20)])) })
  expect([world.derive(), world.agrees]).toEqual([20, true])
})

it('derive/batchQueue: the drift is 1,800 s from Fjord on, whatever the config has', () => {
  const world = new DeriveWorld(fork, { maxSequencerDriftSec: 10 })
  world.mine({ transactions: world.post(world.sequence(5, (number) => [userTransaction(number)])) })
  expect(world.derive()).toBe(5)
  world.mine({ transactions: world.post(world.sequence(5, (number) => [userTransaction(number)], true)) })
  expect([world.derive(), world.agrees]).toEqual([10, true])
})

it('derive/batchQueue: drops a past batch without a warning, other batches with a warning', () => {
  const world = new DeriveWorld(fork)
  const [block] = world.sequence(1)
  if (!block) throw new Error('no block')
  const { ref } = block
  const levelOf = (change: { timestamp?: number; epochNumber?: number }): unknown => {
    const lines: string[] = []
    const log = createLog('trace', { write: (line) => void lines.push(line) })
    const [origin] = world.l1
    if (!origin) throw new Error('no L1')
    const batch = { parentHash: ref.hash, epochNumber: 0, epochHash: origin.ref.hash, timestamp: ref.timestamp + 2, transactions: [] }
    const left = [{ kind: 'singular' as const, ...batch, ...change }]
    const epoch = { ...origin.ref, header: origin.header, deposits: [], configReceipts: [] }
    const parts = {
      traversal: { origin: origin.ref },
      epochs: { blocks: [epoch], isBehind: () => false, update: () => {}, dropFirst: () => {} },
      reader: { next: () => (left.length > 0 ? item(left.pop()) : wait), flush: () => {} },
      safeBlocks: { read: () => undefined },
    } as unknown as Parameters<typeof createBatchQueue>[1]
    createBatchQueue(world.config, parts, log).next(ref)
    return lines.map((line) => JSON.parse(line) as object)
  }
  expect(levelOf({ timestamp: ref.timestamp })).toEqual([expect.objectContaining({ level: 'debug', reason: 'in the past' })])
  expect(levelOf({ epochNumber: 5 })).toEqual([expect.objectContaining({ level: 'warn', reason: 'epoch too far in the future' })])
})
