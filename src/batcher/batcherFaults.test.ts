import { describe, expect, it } from 'vitest'
import { notOnce, postedBatches, postedTransactions } from '#test/harness/batcher/posted'
import { BatcherWorld, fakeProver } from '#test/harness/batcher/world'
import { batcherUpdate, receiptOf } from '#test/harness/derive/l1'
import { configContract, forksTo } from '#test/harness/derive/world'
import type { BatcherSettings } from './options.ts'

const jovian = forksTo('jovian')

/** Batcher that has posted for a while. */
async function running(
  options: Partial<BatcherSettings> = {},
  more: ConstructorParameters<typeof BatcherWorld>[2] = {},
): Promise<BatcherWorld> {
  const world = new BatcherWorld(jovian, { maxChannelL1Blocks: 1, ...options }, more)
  await world.start()
  await world.slots(4)
  return world
}

/** Advances L1 until all blocks are safe, and compares them with the sequencer's. */
async function heals(world: BatcherWorld): Promise<void> {
  await world.untilSafe()
  expect(world.world.agrees).toBe(true)
}

describe.each(['calldata', 'blobs'] as const)('batcher: %s transactions', (carrier) => {
  it('sends a lost transaction again with its nonce', async () => {
    const world = await running({ carrier })
    world.l1.isFull = true
    await world.slot()
    const lost = world.l1.vanish()
    world.l1.isFull = false
    const { length } = world.l1.taken
    await world.slots(2)
    expect(world.l1.taken.slice(length).map(({ hash }) => hash)).toContain(lost)
    await heals(world)
    expect(notOnce(world.world, world.world.safe.number)).toEqual([])
  })

  it.each([1, 2, 3, 5, 8])(
    'sends transactions undone by a reorg of %s L1 blocks again, unless they are included again without it',
    async (depth) => {
      for (const fate of ['gone', 'pooled'] as const) {
        const world = await running({ carrier })
        await world.slots(8)
        world.reorg(depth, fate)
        world.derive()
        await heals(world)
      }
    },
  )

  it("follows rising fees: each replacement offers the pool's minimum", async () => {
    const world = await running({ carrier })
    world.l1.baseFeeWei *= 20n
    world.l1.blobBaseFeeWei *= 1_000n
    await world.slots(3)
    expect(world.l1.taken.length).toBeGreaterThan(3)
    await heals(world)
    expect(notOnce(world.world, world.world.safe.number)).toEqual([])
  })

  it('replaces a pending transaction at higher fees after its time, up to the limit', async () => {
    const bound = 5n * 10n ** 9n
    const world = await running({ carrier, maxFeePerGasWei: bound })
    world.l1.isFull = true
    for (let i = 0; i < 25; i++) await world.slot({ blocks: 0 })
    const fees = world.l1.taken.map(({ tx }) => tx.maxFeePerGas)
    expect(new Set(fees).size).toBe(carrier === 'blobs' ? 1 : 6)
    expect(fees.every((fee) => fee <= bound)).toBe(true)
    expect(world.warnings).toContain('batcher transaction not included, fees are at their limit')
    world.l1.isFull = false
    await heals(world)
    expect(notOnce(world.world, world.world.safe.number)).toEqual([])
  })

  it('replaces nothing while L1 has no new blocks', async () => {
    const world = await running({ carrier })
    await world.pass(1_000)
    const { length } = world.l1.taken
    await world.pass(600_000)
    expect(world.l1.taken.length - length).toBeLessThanOrEqual(1)
    await heals(world)
    expect(notOnce(world.world, world.world.safe.number)).toEqual([])
  })

  it.each(['underpriced', 'no-funds', 'other', 'nonce-used'] as const)('retries a refused transaction (%s)', async (reason) => {
    const world = await running({ carrier })
    world.l1.refusals.push(reason, reason)
    await world.slots(3)
    expect(world.warnings).toContain('batcher transaction refused by L1')
    await heals(world)
    expect(notOnce(world.world, world.world.safe.number)).toEqual([])
  })

  it('restarts when another sender uses its nonce', async () => {
    const world = await running({ carrier })
    world.l1.isFull = true
    await world.slot()
    world.l1.useNonceElsewhere()
    world.l1.isFull = false
    await heals(world)
    await world.slots(3)
    await heals(world)
  })
})

describe('batcher: L1 and L2', () => {
  it('auto uses calldata when L1 refuses blobs', async () => {
    const world = await running({ carrier: 'auto' })
    await heals(world)
    world.l1.hasNoBlobs = true
    await heals(world)
    expect(postedTransactions(world.world).at(-1)?.type).toBe(2)
  })

  it('collects blocks while L1 is unreachable, and posts them afterwards', async () => {
    const world = await running()
    world.l1.isReachable = false
    await world.pass(60_000)
    world.sequence(20)
    world.l1.isReachable = true
    await world.pass(10_000)
    await heals(world)
    expect(notOnce(world.world, world.world.safe.number)).toEqual([])
    expect(world.warnings).toContain('posting failed, retrying')
  })

  it('waits for an unreachable L2', async () => {
    const world = await running()
    world.isL2Reachable = false
    await world.slots(3)
    world.isL2Reachable = true
    await heals(world)
    expect(notOnce(world.world, world.world.safe.number)).toEqual([])
  })

  it.each([1, 3, 6, 12])('posts the replacing blocks after a reorg of %s L2 blocks', async (depth) => {
    const world = await running()
    world.reorgL2(depth)
    await heals(world)
    await world.slots(2)
    await heals(world)
  })

  it('detects a channel with a wrong byte and posts it again', async () => {
    for (let seed = 1; seed <= 8; seed++) {
      const world = await running({}, { seed })
      world.batcher.corruptNext()
      await world.slots(3)
      await world.untilSafe()
      await heals(world)
    }
  })

  it('posts a channel again whose frames were included too late', async () => {
    const config = { channelTimeoutGraniteBlocks: 5 }
    const world = await running(
      { carrier: 'calldata', maxCalldataBytes: 600, maxPendingTransactions: 1, safetyMarginL1Blocks: 1 },
      { config },
    )
    await world.slot({ transactions: 40 })
    await world.slots(4)
    world.l1.isFull = true
    await world.slots(8)
    world.l1.isFull = false
    await heals(world)
    expect(world.warnings).toContain('posted blocks did not become safe')
  })

  it('closes channels before the sequencing window ends; after its end derivation continues without them', async () => {
    const config = { sequencingWindowBlocks: 12 }
    const world = await running({ maxChannelL1Blocks: 100, safetyMarginL1Blocks: 6 }, { config })
    await world.slots(10)
    expect(world.world.safe.number).toBeGreaterThan(0)
    expect(world.world.agrees).toBe(true)
    const { number } = world.world.safe
    world.l1.isReachable = false
    for (let i = 0; i < 20; i++) await world.slot({ blocks: 1 })
    world.l1.isReachable = true
    await world.pass(20_000)
    await heals(world)
    expect(world.world.safe.number).toBeGreaterThan(number)
  })

  it('posts at growing intervals while posted blocks do not become safe', async () => {
    const world = await running()
    world.world.mine({ receipts: [receiptOf([batcherUpdate(configContract, 'other')])] })
    for (let i = 0; i < 120; i++) await world.slot({ blocks: i < 5 ? 6 : 0 })
    expect(world.warnings.filter((warning) => warning === 'posted blocks did not become safe').length).toBeLessThan(9)
    expect(postedTransactions(world.world).length).toBeLessThan(40)
  })
})

describe('batcher: control and bounds', () => {
  it('sends nothing while stopped, for a time or until it is started', async () => {
    const world = await running()
    await heals(world)
    world.batcher.stop()
    const { length } = world.l1.taken
    await world.slots(4)
    expect([world.l1.taken.length, world.batcher.status().state]).toEqual([length, 'stopped'])
    world.batcher.start()
    await heals(world)
    world.batcher.stop(30_000)
    await world.pass(29_000)
    expect(world.batcher.status().state).toBe('stopped')
    await world.pass(2_000)
    expect(world.batcher.status().state).toBe('posting')
    await heals(world)
    expect(notOnce(world.world, world.world.safe.number)).toEqual([])
  })

  it('throttles the sequencer while the backlog is above the threshold, and sends changes only', async () => {
    const world = await running({ throttleBytes: 20_000 })
    expect(world.throttles).toEqual([undefined])
    world.batcher.stop()
    for (let i = 0; i < 8; i++) await world.slot({ transactions: 12 })
    const blockLimits = world.throttles.slice(1).map((limits) => limits?.maxBlockBytes ?? 0)
    expect(blockLimits.length).toBeGreaterThan(2)
    expect(blockLimits).toEqual(blockLimits.toSorted((a, b) => b - a))
    expect(new Set(blockLimits).size).toBe(blockLimits.length)
    expect(blockLimits.at(-1)).toBe(2_000)
    world.batcher.start()
    await heals(world)
    expect(world.throttles.at(-1)).toBeUndefined()
    expect(world.batcher.status().throttle).toBeUndefined()
  })

  it('throttles while L1 does not respond', async () => {
    const world = await running({ throttleBytes: 3_000 })
    world.l1.isReachable = false
    world.sequence(60, 3)
    await world.pass(20_000)
    expect(world.throttles.at(-1)?.maxBlockBytes).toBe(2_000)
    world.l1.isReachable = true
    await world.pass(20_000)
    await heals(world)
    expect(world.throttles.at(-1)).toBeUndefined()
  })

  it('stays within its memory limit, and catches up', async () => {
    const world = await running({ maxBacklogBytes: 30_000, maxPendingTransactions: 1, carrier: 'calldata', targetChannelBytes: 10_000 })
    let asked = 0
    const { blocks } = world.world
    world.l1.isFull = true
    for (let i = 0; i < 10; i++) await world.slot({ transactions: 30 })
    asked = world.batcher.status().backlog.blocks
    expect(asked).toBeGreaterThan(50)
    expect(blocks.length).toBeGreaterThan(0)
    world.l1.isFull = false
    await world.untilSafe(120)
    expect(world.world.agrees).toBe(true)
    expect(notOnce(world.world, world.world.safe.number)).toEqual([])
  })

  it('retries failed proofs', async () => {
    let failures = 3
    const prover = {
      prove: async (...asked: Parameters<typeof fakeProver.prove>) => {
        if (failures-- > 0) throw new Error('the thread ended')
        return fakeProver.prove(...asked)
      },
    }
    const world = await running({ carrier: 'blobs' }, { prover })
    await heals(world)
    expect(failures).toBeLessThan(0)
    expect(notOnce(world.world, world.world.safe.number)).toEqual([])
  })

  it('reports the posted blocks and their cost', async () => {
    const world = await running()
    await heals(world)
    const status = world.batcher.status()
    const sizes = postedTransactions(world.world).flatMap(({ frames }) => frames.map(({ data }) => data.length))
    expect(status.postedBytes).toBe(sizes.reduce((sum, length) => sum + length, 0))
    expect(status.feesWei).toBe(BigInt(postedTransactions(world.world).length) * 1_000n)
    expect(status.lastPosted?.number).toBe(status.postedBlocks)
    expect(postedBatches(world.world).length).toBe(sizes.length)
    expect(status.backlog.blocks).toBe(world.unsafe.number - status.postedBlocks)
  })

  it('ends with its signal, and with a fatal fault', async () => {
    const world = await running()
    await world.kill()
    expect(await world.over).toBeUndefined()
  })
})
