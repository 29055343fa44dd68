import { describe, expect, it } from 'vitest'
import { notOnce, postedBatches, postedTransactions } from '#test/harness/batcher/posted'
import { BatcherWorld } from '#test/harness/batcher/world'
import { forksTo } from '#test/harness/derive/world'
import type { BatcherSettings } from './options.ts'

const times = ['fjord', 'holocene', 'jovian'] as const
const forms = (['span', 'singular'] as const).flatMap((form) =>
  (['brotli', 'zlib'] as const).flatMap((compression) =>
    (['calldata', 'blobs'] as const).map((carrier) => ({ form, compression, carrier }) satisfies Partial<BatcherSettings>),
  ),
)

describe.each(times)('batcher under %s', (fork) => {
  it.each(forms)('derivation returns the same blocks, each posted once: $form, $compression, $carrier', async (choice) => {
    const world = new BatcherWorld(forksTo(fork), choice)
    world.sequence()
    await world.start()
    await world.slots(6)
    await world.untilSafe(6)
    expect(world.world.agrees).toBe(true)
    expect(notOnce(world.world, world.world.safe.number)).toEqual([])
    const kinds = new Set(postedBatches(world.world).flatMap((batches) => batches.map(({ kind }) => kind)))
    expect(kinds).toEqual(new Set([choice.form]))
    expect(new Set(postedTransactions(world.world).map(({ type }) => type))).toEqual(new Set([choice.carrier === 'blobs' ? 3 : 2]))
    expect(world.warnings).toEqual([])
  })
})

describe('batcher: forms', () => {
  it('crosses the forks from Bedrock to Jovian, in the best form that each allows', async () => {
    const at = (l1Blocks: number): number => 1_700_000_000 + l1Blocks * 12
    const schedule = {
      ...forksTo('regolith'),
      canyon: at(2),
      delta: at(5),
      ecotone: at(8),
      fjord: at(11),
      granite: at(14),
      holocene: at(17),
      isthmus: at(20),
      jovian: at(23),
    }
    const world = new BatcherWorld(schedule, { maxChannelL1Blocks: 1 })
    await world.start()
    for (let i = 0; i < 28; i++) await world.slot({ transactions: 0 })
    await world.untilSafe()
    expect(world.world.agrees).toBe(true)
    const seen = postedBatches(world.world).flatMap((batches) => batches.map(({ kind }) => kind))
    expect(seen.indexOf('span')).toBeGreaterThan(0)
    expect(seen.slice(seen.indexOf('span'))).not.toContain('singular')
    expect(postedTransactions(world.world).findIndex(({ type }) => type === 3)).toBeGreaterThan(3)
  })

  it('posts a transaction that a span cannot hold in singular batches', async () => {
    const world = new BatcherWorld(forksTo('jovian'))
    await world.start()
    await world.slots(2)
    const { signTransaction } = await import('#types/signing')
    const foreign = signTransaction(
      {
        type: 2,
        chainId: 1n,
        nonce: 0n,
        gasLimit: 21_000n,
        to: null,
        value: 0n,
        data: new Uint8Array(0),
        maxFeePerGas: 1n,
        maxPriorityFeePerGas: 1n,
        accessList: [],
      },
      new Uint8Array(32).fill(7),
    )
    world.world.sequence(2, () => [foreign.raw])
    await world.untilSafe()
    expect(world.world.agrees).toBe(true)
    expect(new Set(postedBatches(world.world).flatMap((batches) => batches.map(({ kind }) => kind)))).toEqual(new Set(['span', 'singular']))
  })

  it('posts a large channel in several blobs of several transactions, or in several calldata transactions', async () => {
    const limits = { targetChannelBytes: 900_000, maxBlobsPerTransaction: 3, effort: 'fast' } as const
    for (const carrier of ['blobs', 'calldata'] as const) {
      const world = new BatcherWorld(forksTo('jovian'), { ...limits, carrier })
      await world.start()
      await world.slots(2)
      await world.slot({ transactions: 1_000 })
      await world.untilSafe()
      expect(world.world.agrees).toBe(true)
      const posted = postedTransactions(world.world)
      const bytes = posted.flatMap(({ frames }) => frames.map(({ data }) => data.length)).reduce((sum, length) => sum + length, 0)
      expect(bytes).toBeGreaterThan(390_000)
      if (carrier === 'blobs') expect(posted.map(({ blobs }) => blobs)).toEqual(expect.arrayContaining([3]))
      else expect(Math.max(...posted.flatMap(({ frames }) => frames.map(({ data }) => data.length)))).toBeLessThanOrEqual(120_000)
      expect(notOnce(world.world, world.world.safe.number)).toEqual([])
    }
  })

  it('auto uses the cheaper carrier at the time, one kind after the other', async () => {
    const world = new BatcherWorld(forksTo('jovian'), { maxChannelL1Blocks: 1 })
    await world.start()
    await world.slots(3)
    world.l1.blobBaseFeeWei = 10n ** 12n
    await world.slots(3)
    world.l1.blobBaseFeeWei = 1n
    await world.slots(3)
    await world.untilSafe()
    expect(world.world.agrees).toBe(true)
    const types = postedTransactions(world.world).map(({ type }) => type)
    expect(types.filter((type, at) => type !== types[at - 1])).toEqual([3, 2, 3])
    expect(notOnce(world.world, world.world.safe.number)).toEqual([])
  })

  it('auto means calldata without a prover, and requiring blobs is a fault', async () => {
    const world = new BatcherWorld(forksTo('jovian'), {}, { prover: 'none' })
    await world.start()
    await world.slots(5)
    expect(new Set(postedTransactions(world.world).map(({ type }) => type))).toEqual(new Set([2]))
    const wrong = new BatcherWorld(forksTo('jovian'), { carrier: 'blobs' }, { prover: 'none' })
    await expect(wrong.start()).rejects.toMatchObject({ code: 'NO_BLOB_PROVER', severity: 'fatal' })
  })
})

describe('batcher: restarts', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])('posts nothing again after a kill %s s after an L1 block', async (seconds) => {
    const world = new BatcherWorld(forksTo('jovian'), { pollMs: 1_000 })
    await world.start()
    await world.slots(5)
    for (let kills = 0; kills < 3; kills++) {
      world.l1.mine()
      world.derive()
      world.sequence()
      await world.pass(seconds * 1_000)
      await world.kill()
      await world.start()
      await world.slots(3)
    }
    await world.untilSafe()
    expect(world.world.agrees).toBe(true)
    expect(notOnce(world.world, world.world.safe.number)).toEqual([])
  })

  it('waits for transactions of an earlier batcher in the pool, and replaces them when they are stuck', async () => {
    const world = new BatcherWorld(forksTo('jovian'), { carrier: 'calldata' })
    await world.start()
    await world.slots(4)
    world.l1.isFull = true
    await world.slots(2)
    expect(world.l1.pooled).toBeGreaterThan(0)
    await world.kill()
    await world.start()
    await world.slot()
    expect(world.batcher.status().state).toBe('settling')
    // the fees of the earlier batcher are too low now
    world.l1.baseFeeWei *= 10n
    world.l1.isFull = false
    await world.untilSafe()
    expect(world.world.agrees).toBe(true)
  })

  it('waits for derivation that is behind L1', async () => {
    const world = new BatcherWorld(forksTo('jovian'))
    await world.start()
    await world.slots(6)
    await world.kill()
    world.derivationLag = 5
    await world.start()
    await world.slots(3)
    expect(world.batcher.status()).toMatchObject({ state: 'settling', postedBlocks: 0 })
    world.derivationLag = 0
    await world.untilSafe()
    expect(notOnce(world.world, world.world.safe.number)).toEqual([])
  })
})
