import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Action, actions } from '#test/harness/batcher/actions'
import { notOnce } from '#test/harness/batcher/posted'
import { BatcherWorld } from '#test/harness/batcher/world'
import { forksTo } from '#test/harness/derive/world'
import { sampleOf } from '#test/harness/sample'

const numRuns = Number(process.env['BATCHER_RUNS'] ?? 12)

/** L1 blocks until all L2 blocks are safe: the slowest settings, one pending transaction of 300 bytes, have needed 121. */
const mostL1Blocks = 240

async function survives(world: BatcherWorld, faults: readonly Action[]): Promise<void> {
  await world.start()
  for (const fault of faults) await fault.run(world)
  world.batcher.start()
  await world.untilSafe(mostL1Blocks)
  expect(world.world.agrees).toBe(true)
  await world.kill()
}

const forks = ['fjord', 'holocene', 'jovian'] as const
const carriers = ['calldata', 'blobs', 'auto'] as const
const combinations = forks.flatMap((fork) => carriers.map((carrier) => ({ fork, carrier })))
/** Each fork and each carrier once. */
const eachOnce = combinations.filter(({ fork, carrier }) => forks.indexOf(fork) === carriers.indexOf(carrier))

it.each(sampleOf(eachOnce, combinations))(
  'batcher: all blocks become safe after any faults: $fork, $carrier',
  async ({ fork, carrier }) => {
    const choice = fc.record({
      form: fc.constantFrom('span' as const, 'singular' as const),
      compression: fc.constantFrom('brotli' as const, 'zlib' as const),
      maxChannelL1Blocks: fc.integer({ min: 1, max: 4 }),
      maxCalldataBytes: fc.constantFrom(300, 1_000, 120_000),
      maxPendingTransactions: fc.integer({ min: 1, max: 6 }),
      keepL1Blocks: fc.constantFrom(1, 4, 64),
    })
    await fc.assert(
      fc.asyncProperty(choice, actions, fc.nat(), async (drawn, faults, seed) => {
        await survives(new BatcherWorld(forksTo(fork), { ...drawn, carrier }, { seed }), faults)
      }),
      { numRuns },
    )
  },
  240_000,
)

it('batcher: posts no block twice over any restarts', async () => {
  const plan = fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.boolean()), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(plan, fc.constantFrom('calldata' as const, 'blobs' as const), async (kills, carrier) => {
      const world = new BatcherWorld(forksTo('jovian'), { carrier, pollMs: 1_000 })
      await world.start()
      for (const [seconds, hasSlot] of kills) {
        if (hasSlot) await world.slot()
        await world.pass(seconds * 1_000)
        await world.kill()
        await world.start()
      }
      await world.untilSafe()
      expect(notOnce(world.world, world.world.safe.number)).toEqual([])
      await world.kill()
    }),
    { numRuns },
  )
}, 240_000)
