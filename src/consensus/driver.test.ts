import { expect, it } from 'vitest'
import { engineFault } from '#engine/faults'
import { createLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { createWorld, type World } from '#test/harness/consensus/execution'
import type { Batch, Channel } from '#test/harness/consensus/l1'
import { l1Fault } from '#test/harness/consensus/l1'
import { busyFault } from '#test/harness/engine/engine'

const holocene = { holocene: 0 }

/** Batches `from` to `to` with this origin. */
function batches(from: number, to: number, origin: number, tag = ''): Batch[] {
  return Array.from({ length: to - from + 1 }, (_, at) => ({ number: from + at, origin, tag: tag && `${tag}${from + at}` }))
}
const channel = (from: number, to: number, origin: number, tag = 'a'): Channel => ({ batches: batches(from, to, origin, tag) })

/** L1 blocks 3 … 8: three L2 blocks in each, with the L1 block before as origin. */
function mineSix({ l1 }: World, tag = 'a'): void {
  for (let block = 0; block < 6; block++) l1.mine(channel(block * 3 + 1, block * 3 + 3, l1.tip.number, tag))
}

it('consensus/driver: derives all of L1 with unsafe equal to safe, then waits for L1 and continues', async () => {
  const world = createWorld(holocene)
  mineSix(world)
  const session = world.start()
  await session.toTip()
  const { heads, wait, origin } = session.driver.status()
  expect(heads?.safe.number).toBe(18)
  expect(heads?.unsafe).toEqual(heads?.safe)
  expect(wait).toMatchObject({ reason: 'l1-head', failures: 0 })
  expect(origin).toEqual(world.l1.tip)
  world.l1.mine(channel(19, 20, 8))
  await session.toTip()
  expect(session.driver.status().heads?.safe.number).toBe(20)
  expect(session.engine.hashes()).toHaveLength(21)
  await session.stop()
  expect(session.driver.status().phase).toBe('stopped')
})

it('consensus/driver: the store has the safe head after each L1 block', async () => {
  const world = createWorld(holocene)
  mineSix(world)
  world.l1.mine()
  world.l1.mine(channel(19, 19, 9))
  const session = world.start()
  await session.toTip()
  expect(session.store.atOrBelow(1)).toBeUndefined()
  const safeAfter = [2, 3, 4, 8, 9, 10, 99].map((l1Number) => session.store.atOrBelow(l1Number)?.safe.number)
  expect(safeAfter).toEqual([0, 3, 6, 18, 18, 19, 19])
  expect(session.store.atOrBelow(9)?.l1).toEqual({ number: 8, hash: world.l1.at(8).hash })
  expect(session.store.atOrBelow(4)?.safe.hash).toBe(session.engine.hashes()[6])
})

it('consensus/driver: labels in batches while it catches up, but records each L1 block', async () => {
  const world = createWorld(holocene)
  mineSix(world)
  const session = world.start(undefined, { commitBlocks: 8 })
  await session.toTip()
  expect(session.engine.history.map((heads) => heads.safe.number)).toEqual([8, 16, 18])
  expect(session.store.atOrBelow(3)?.safe.number).toBe(3)
  expect(session.store.atOrBelow(5)?.safe.number).toBe(9)
})

it.each([
  ['head', [l1Fault('L1_TIMEOUT', {})]],
  ['ref', [l1Fault('L1_TIMEOUT', {}), l1Fault('L1_RATE_LIMITED', { retryAfterMs: 60_000 })]],
  ['block', [l1Fault('L1_RATE_LIMITED', { retryAfterMs: 60_000 }), l1Fault('L1_MISMATCH', {}), l1Fault('L1_TIMEOUT', {})]],
  ['blobs', [l1Fault('L1_TIMEOUT', {}), l1Fault('L1_MISMATCH', {})]],
] as const)('consensus/driver: retries failures of L1 %s with the same result', async (method, errors) => {
  const world = createWorld(holocene)
  mineSix(world)
  world.l1.mine({ ...channel(19, 20, 8), blob: 'x' })
  const smooth = world.start()
  await smooth.toTip()
  const other = createWorld(holocene)
  mineSix(other)
  other.l1.mine({ ...channel(19, 20, 8), blob: 'x' })
  other.l1.failNext(method, ...errors)
  const session = other.start()
  await session.toTip()
  expect(session.engine.hashes()).toEqual(smooth.engine.hashes())
  expect(session.driver.status().resets).toBe(0)
})

it('consensus/driver: while L1 fails, labels derived blocks and shows the wait and its fault (L1_TIMEOUT)', async () => {
  const world = createWorld(holocene)
  mineSix(world)
  const session = world.start()
  await session.toTip()
  world.l1.mine(channel(19, 20, 8))
  world.l1.mine({ ...channel(21, 22, 9), blob: 'late' })
  world.l1.failNext('blobs', ...Array.from({ length: 4 }, () => l1Fault('L1_TIMEOUT', {})))
  await session.until(() => session.driver.status().wait?.reason === 'l1-blobs')
  const sinceMs = session.driver.status().wait?.sinceMs
  expect(session.driver.status().heads?.safe.number).toBe(20)
  await session.until(() => session.driver.status().wait?.failures === 3)
  expect(session.driver.status().wait).toMatchObject({ reason: 'l1-blobs', sinceMs, fault: { code: 'L1_TIMEOUT' } })
  await session.toTip()
  expect(session.driver.status().heads?.safe.number).toBe(22)
})

it.each([1, 5])('consensus/driver: an L1 reorg of %i blocks removes their L2 blocks and follows the new branch', async (depth) => {
  const world = createWorld(holocene)
  mineSix(world)
  const session = world.start()
  await session.toTip()
  const before = session.engine.hashes()
  world.l1.rollBack(depth)
  const kept = (6 - depth) * 3
  for (let block = 6 - depth; block < 8; block++) world.l1.mine(channel(block * 3 + 1, block * 3 + 3, world.l1.tip.number, 'b'))
  await session.toTip()
  const after = session.engine.hashes()
  expect(after).toHaveLength(25)
  expect(after.slice(0, kept + 1)).toEqual(before.slice(0, kept + 1))
  expect(after[kept + 1]).not.toBe(before[kept + 1])
  expect(session.driver.status().resets).toBe(1)
  expect(session.store.atOrBelow(8)?.l1.hash).toBe(world.l1.at(8).hash)

  const fresh = createWorld(holocene)
  mineSix(fresh)
  fresh.l1.rollBack(depth)
  for (let block = 6 - depth; block < 8; block++) fresh.l1.mine(channel(block * 3 + 1, block * 3 + 3, fresh.l1.tip.number, 'b'))
  const straight = fresh.start()
  await straight.toTip()
  expect(after).toEqual(straight.engine.hashes())
})

it('consensus/driver: a reorg of 20 blocks with the same batches changes only the blocks whose origin changed', async () => {
  const world = createWorld(holocene)
  mineSix(world)
  for (let block = 9; block < 29; block++) world.l1.mine(channel(block + 10, block + 10, 8))
  const session = world.start()
  await session.toTip()
  const before = session.engine.hashes()
  world.l1.rollBack(20)
  for (let block = 9; block < 31; block++) world.l1.mine(channel(block + 10, block + 10, 8))
  await session.toTip()
  expect(session.engine.hashes().slice(0, before.length)).toEqual(before)
  expect(session.driver.status().heads?.safe.number).toBe(40)
  expect(session.engine.history.map((heads) => heads.safe.number)).toContain(18)
})

it('consensus/driver: never labels blocks of an L1 block that a reorg has replaced', async () => {
  const world = createWorld(holocene)
  mineSix(world)
  const session = world.start()
  const block = world.l1.block.bind(world.l1)
  world.l1.block = (at, signal) => {
    if (at === 7) {
      world.l1.rollBack(3)
      for (let missing = 0; missing < 4; missing++) world.l1.mine(channel(10 + missing, 10 + missing, 5, 'b'))
      world.l1.block = block
    }
    return block(at, signal)
  }
  await session.toTip()
  expect(session.driver.status()).toMatchObject({ resets: 1, heads: { safe: { number: 13 } } })
  for (const heads of session.engine.history) expect(session.engine.hashes()).toContain(heads.safe.hash)
})

it('consensus/driver: resets at once on a head of the same number with another hash', async () => {
  const world = createWorld(holocene)
  mineSix(world)
  const session = world.start()
  await session.toTip()
  world.l1.rollBack(1)
  world.l1.mine()
  await session.toTip()
  expect(session.driver.status().heads?.safe.number).toBe(15)
})

it('consensus/driver: waits for an L1 that is behind, and keeps the safe head (L1_BEHIND)', async () => {
  const world = createWorld(holocene)
  mineSix(world)
  const first = world.start()
  await first.toTip()
  await first.stop()
  world.l1.reveal(6)
  const second = world.start()
  await second.until(() => (second.driver.status().wait?.failures ?? 0) > 2)
  expect(second.driver.status().wait).toMatchObject({ reason: 'start-point', fault: { code: 'L1_BEHIND' } })
  expect((await second.engine.heads()).safe.number).toBe(18)
  world.l1.reveal(8)
  await second.toTip()
  expect(second.engine.history).toEqual([])
})

it('consensus/driver: resets with growing pauses until missing blobs are there', async () => {
  const world = createWorld(holocene)
  mineSix(world)
  world.l1.mine({ ...channel(19, 20, 8), blob: 'lost' })
  world.l1.lose('lost')
  const session = world.start()
  await session.until(() => session.driver.status().resets === 4)
  const startMs = world.clock.nowMs()
  await session.until(() => session.driver.status().resets === 6)
  expect(world.clock.nowMs() - startMs).toBeGreaterThanOrEqual(1_000)
  expect(session.driver.status().heads?.safe.number).toBe(18)
  world.l1.find('lost')
  await session.toTip()
  expect(session.driver.status().heads?.safe.number).toBe(20)
})

it('consensus/driver: from Holocene on, replaces an invalid block by its deposits and flushes the channel', async () => {
  const world = createWorld(holocene)
  world.l1.mine({ batches: [...batches(1, 1, 2, 'a'), { number: 2, origin: 2, tag: 'bad' }, ...batches(3, 3, 2, 'a')] })
  const session = world.start()
  await session.toTip()
  expect(session.driver.status().heads?.safe.number).toBe(2)
  const replaced = await session.engine.payload(2)
  expect(replaced?.transactions).toHaveLength(1)
  expect(world.pipeline.flushes).toBe(1)
  world.l1.mine(channel(3, 4, 3))
  await session.toTip()
  expect(session.driver.status().heads?.safe.number).toBe(4)
})

it('consensus/driver: before Holocene, drops an invalid block, and a later batch replaces it', async () => {
  const world = createWorld()
  world.l1.mine({ batches: [...batches(1, 1, 2, 'a'), { number: 2, origin: 2, tag: 'bad' }, ...batches(2, 3, 2, 'b')] })
  const session = world.start()
  await session.toTip()
  expect(session.driver.status().heads?.safe.number).toBe(3)
  expect((await session.engine.payload(2))?.transactions).toHaveLength(2)
  expect(world.pipeline.flushes).toBe(0)
})

it('consensus/driver: before Holocene, an invalid block removes its whole span batch', async () => {
  const world = createWorld()
  world.l1.mine({ batches: batches(1, 1, 2, 'a') })
  world.l1.mine({ span: true, batches: [...batches(2, 3, 2, 'span'), { number: 4, origin: 2, tag: 'bad' }, ...batches(5, 5, 2, 'span')] })
  const session = world.start(undefined, { commitBlocks: 1 })
  await session.toTip()
  expect(session.driver.status().heads?.safe.number).toBe(1)
  world.l1.mine({ span: true, batches: batches(2, 4, 2, 'good') })
  await session.toTip()
  expect([...new Set(session.engine.history.map((heads) => heads.safe.number))]).toEqual([1, 4])
  expect((await session.engine.payload(2))?.transactions[1]).toEqual(new TextEncoder().encode('\u0002good2'))
})

it('consensus/driver: stops when a block of deposits only is invalid (DEPOSITS_INVALID)', async () => {
  const world = createWorld(holocene)
  world.l1.mine(channel(1, 1, 2))
  const session = world.start()
  session.engine.build = async () => ({ kind: 'invalid', reason: 'invalid deposits' })
  await expect(session.toTip()).rejects.toMatchObject({ code: 'DEPOSITS_INVALID', severity: 'fatal' })
  expect(session.driver.status()).toMatchObject({ phase: 'stopped', fault: { code: 'DEPOSITS_INVALID' } })
})

/** A schedule on L1 with a fork that no version knows. */
const unknownForkAt = (timeSec: number) => ({ times: [...Array<number>(14).fill(0), timeSec] })

it('consensus/driver: stops before the first block of an unsupported fork, with all blocks before it labelled (UNSUPPORTED_FORK)', async () => {
  const genesisTime = createWorld().genesis.timestamp
  const world = createWorld(holocene)
  mineSix(world)
  const session = world.start()
  session.driver.forks.publish(unknownForkAt(genesisTime + 10))
  await expect(session.toTip()).rejects.toMatchObject({ code: 'UNSUPPORTED_FORK' })
  expect(session.driver.status().heads?.safe.number).toBe(4)
  expect(session.driver.status()).toMatchObject({ phase: 'stopped', fault: { code: 'UNSUPPORTED_FORK' } })
})

it.each([
  ['three days ahead, once', 3 * 86_400, 1],
  ['a month ahead, not at all', 30 * 86_400, 0],
])('consensus/driver: warns of an unsupported fork: %s', async (_what, aheadSec, times) => {
  const lines: string[] = []
  const log = createLog('warn', { write: (line) => void lines.push(line) })
  const nowSec = createManualClock().nowMs() / 1000
  const world = createWorld(holocene, log)
  mineSix(world)
  const session = world.start()
  session.driver.forks.publish(unknownForkAt(nowSec + aheadSec))
  await session.toTip()
  await world.clock.advanceMs(3_600_000)
  expect(lines.filter((line) => line.includes('"fork":"14 of'))).toHaveLength(times)
})

it('consensus/driver: metrics show the heads, derived blocks, resets and failures', async () => {
  const world = createWorld(holocene)
  mineSix(world)
  world.l1.failNext('block', l1Fault('L1_TIMEOUT', {}))
  const session = world.start()
  await session.toTip()
  world.l1.rollBack(1)
  world.l1.mine()
  await session.toTip()
  const text = await session.registry.metrics()
  expect(text).toContain('basalt_consensus_l2_block_number{label="safe"} 15')
  expect(text).toContain('basalt_consensus_l1_block_number{label="latest"} 8')
  expect(text).toContain('basalt_consensus_derived_blocks_total{outcome="built"} 18')
  expect(text).toContain('basalt_consensus_resets_total{by="l1-head"} 1')
  expect(text).toContain('basalt_consensus_failures_total{doing="l1-block"} 1')
})

it('consensus/driver: retries a busy engine, and resets when the engine lost a parent', async () => {
  const world = createWorld(holocene)
  mineSix(world)
  const session = world.start()
  session.engine.failNext(
    'build',
    busyFault('ENGINE_BUSY', {}),
    engineFault('UNKNOWN_PARENT', { hash: world.genesis.blockHash, number: 0 }),
  )
  session.engine.failNext('setHeads', busyFault('ENGINE_BUSY', {}), busyFault('ENGINE_BUSY', {}))
  await session.toTip()
  expect(session.driver.status()).toMatchObject({ resets: 1, heads: { safe: { number: 18 } } })
})

it('consensus/driver: finalized follows L1 by whole L1 blocks, never moves back, never passes safe', async () => {
  const world = createWorld(holocene)
  mineSix(world)
  world.l1.finalize(4)
  const session = world.start(undefined, { labelPollMs: 4_000 })
  await session.toTip()
  expect(session.driver.status().heads?.finalized.number).toBe(6)
  const finalizedAfter = async (l1Number: number): Promise<number | undefined> => {
    world.l1.finalize(l1Number)
    await world.clock.advanceMs(8_000)
    return session.driver.status().heads?.finalized.number
  }
  expect(await finalizedAfter(6)).toBe(12)
  expect(await finalizedAfter(3)).toBe(12)
  world.l1.mine()
  expect(await finalizedAfter(9)).toBe(18)
  const all = session.engine.history.map((heads) => heads.finalized.number)
  expect(all).toEqual(all.toSorted((a, b) => a - b))
})

it('consensus/driver: labels derived blocks before it finalizes, because an engine in another process would move back', async () => {
  const world = createWorld(holocene)
  world.l1.mine(channel(1, 3, world.l1.tip.number))
  const session = world.start(undefined, { headPollMs: 100, labelPollMs: 100, commitMs: 1e9, commitBlocks: 1e9 })
  await session.toTip()
  session.engine.failNext('build', busyFault('ENGINE_BUSY', {}))
  world.l1.mine(channel(4, 9, world.l1.tip.number))
  await session.until(() => session.driver.status().wait?.reason === 'engine')
  world.l1.finalize(3)
  await session.toTip()
  const finalized = session.engine.history.find((heads) => heads.finalized.number === 3)
  expect(finalized).toMatchObject({ unsafe: { number: 4 }, safe: { number: 4 } })
  expect(session.driver.status().heads?.safe.number).toBe(9)
})

it("consensus/driver: stops on an L1 other than the finalized head's (L1_CHAIN_MISMATCH)", async () => {
  const world = createWorld(holocene)
  world.l1.rollBack(1)
  world.l1.mine({ batches: [] })
  const session = world.start()
  await expect(session.toTip()).rejects.toMatchObject({ code: 'L1_CHAIN_MISMATCH' })
})
