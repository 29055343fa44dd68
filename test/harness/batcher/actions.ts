import fc from 'fast-check'
import type { RefusalReason } from '#batcher/faults'
import type { BatcherWorld } from './world.ts'

/** One event in a random history of the batcher, L1 or L2. */
export type Action = { readonly name: string; readonly run: (world: BatcherWorld) => Promise<void> | void }

const action = <T>(
  name: string,
  value: fc.Arbitrary<T>,
  run: (world: BatcherWorld, value: T) => Promise<void> | void,
): fc.Arbitrary<Action> =>
  value.map((drawn) => ({
    name: `${name}(${JSON.stringify(drawn)})`,
    run: (world) => run(world, drawn),
    toString: () => `${name}(${JSON.stringify(drawn)})`,
  }))

const small = fc.integer({ min: 1, max: 4 })
const seconds = fc.integer({ min: 1, max: 90 })
const reasons: readonly RefusalReason[] = ['underpriced', 'nonce-used', 'no-funds', 'other']

const slots = action(
  'slots',
  fc.tuple(small, fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 5 })),
  async (world, [count, blocks, transactions]) => {
    for (let i = 0; i < count; i++) await world.slot({ blocks, transactions })
  },
)

/** Causes a failure, runs slots, then ends the failure. */
const during = (name: string, begin: (world: BatcherWorld) => void, end: (world: BatcherWorld) => void): fc.Arbitrary<Action> =>
  action(name, small, async (world, count) => {
    begin(world)
    await world.slots(count)
    end(world)
  })

export const actions: fc.Arbitrary<readonly Action[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: slots },
    action('pass', seconds, (world, secs) => world.pass(secs * 1_000)),
    action('vanish', fc.integer({ min: 0, max: 2 }), (world, at) => void world.l1.vanish(at)),
    action('useNonceElsewhere', fc.constant(0), (world) => world.l1.useNonceElsewhere()),
    action(
      'reorg',
      fc.tuple(fc.integer({ min: 1, max: 8 }), fc.constantFrom('gone' as const, 'pooled' as const)),
      (world, [depth, fate]) => {
        world.reorg(Math.min(depth, world.world.l1.length - 1), fate)
        world.derive()
      },
    ),
    action('fees', fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 5_000 })), (world, [base, blob]) => {
      world.l1.baseFeeWei = BigInt(base) * 10n ** 9n
      world.l1.blobBaseFeeWei = BigInt(blob)
    }),
    action('restart', fc.integer({ min: 0, max: 12 }), async (world, secs) => {
      await world.pass(secs * 1_000)
      await world.kill()
      await world.start()
    }),
    action('reorgL2', fc.integer({ min: 1, max: 14 }), (world, depth) => world.reorgL2(depth)),
    action(
      'refuse',
      fc.array(fc.constantFrom(...reasons), { minLength: 1, maxLength: 4 }),
      (world, list) => void world.l1.refusals.push(...list),
    ),
    action('corrupt', fc.constant(0), (world) => world.batcher.corruptNext()),
    action('stop', seconds, (world, secs) => world.batcher.stop(secs * 1_000)),
    during(
      'full',
      ({ l1 }) => {
        l1.isFull = true
      },
      ({ l1 }) => {
        l1.isFull = false
      },
    ),
    during(
      'unreachableL1',
      ({ l1 }) => {
        l1.isReachable = false
      },
      ({ l1 }) => {
        l1.isReachable = true
      },
    ),
    during(
      'unreachableL2',
      (world) => {
        world.isL2Reachable = false
      },
      (world) => {
        world.isL2Reachable = true
      },
    ),
    during(
      'lag',
      (world) => {
        world.derivationLag = 3
      },
      (world) => {
        world.derivationLag = 0
      },
    ),
  ),
  { minLength: 1, maxLength: 14 },
)
