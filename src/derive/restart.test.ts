import fc from 'fast-check'
import { expect, it } from 'vitest'
import { badTransaction, DeriveWorld, forksTo, type Sequenced, userTransaction } from '#test/harness/derive/world'

/** Events around one L1 block; the numbers select among the objects that exist at the time. */
type Round = {
  /** number of L2 blocks that the sequencer makes first */
  readonly made: number
  /** the block that holds an unexecutable transaction, counted from the first block made */
  readonly badAt: number
  readonly posts: readonly { readonly from: number; readonly count: number; readonly span: boolean; readonly maxBytes: number }[]
  readonly reverses: boolean
  readonly restarts: boolean
}

const round: fc.Arbitrary<Round> = fc.record({
  made: fc.nat(5),
  badAt: fc.nat(30),
  posts: fc.array(
    fc.record({ from: fc.nat(8), count: fc.integer({ min: 1, max: 6 }), span: fc.boolean(), maxBytes: fc.constantFrom(150, 400, 100_000) }),
    { maxLength: 3 },
  ),
  reverses: fc.boolean(),
  restarts: fc.boolean(),
})

/** Sequencer that lost a block and continues from the safe head. */
function followSafe(world: DeriveWorld): void {
  if (world.agrees) return
  const { safe } = world.driver
  const known = world.blocks.slice(0, safe.ref.number)
  world.blocks = [...known, { ref: safe.ref, head: safe, transactions: world.safeBlocks.get(safe.ref.number)?.transactions ?? [] }]
}

function mine(world: DeriveWorld, everMade: Sequenced[], { made, badAt, posts, reverses }: Round): void {
  followSafe(world)
  const first = world.blocks.length
  everMade.push(...world.sequence(made, (number) => [number === first + badAt ? badTransaction : userTransaction(number)]))
  const transactions = posts.flatMap(({ from, count, span, maxBytes }) => {
    const start = Math.max(0, everMade.length - 1 - from)
    const wanted = everMade.slice(start, start + count)
    const end = wanted.findIndex(({ ref }, at) => ref.number !== (wanted[0]?.ref.number ?? 0) + at)
    const run = end < 0 ? wanted : wanted.slice(0, end)
    return run.length === 0 ? [] : world.post(run, { batches: span ? 'span' : 'singular', compression: 'zlib' }, maxBytes)
  })
  world.mine({ transactions: reverses ? transactions.toReversed() : transactions })
}

it.each(['granite', 'holocene'] as const)('derive under %s: the safe head moves the same with and without restarts', (fork) => {
  let longest = 0
  fc.assert(
    fc.property(fc.array(round, { minLength: 3, maxLength: 25 }), fc.integer({ min: 3, max: 12 }), (rounds, sequencingWindowBlocks) => {
      const world = new DeriveWorld(forksTo(fork), { sequencingWindowBlocks, channelTimeoutBlocks: 5, channelTimeoutGraniteBlocks: 5 })
      const everMade: Sequenced[] = []
      const heads = rounds.map((one) => {
        mine(world, everMade, one)
        world.derive()
        return world.safe.hash
      })
      const again = new DeriveWorld(forksTo(fork), { sequencingWindowBlocks, channelTimeoutBlocks: 5, channelTimeoutGraniteBlocks: 5 })
      const headsAgain = rounds.map(({ restarts }, at) => {
        again.l1.splice(0, again.l1.length, ...world.l1.slice(0, at + 2))
        if (restarts) again.restart()
        again.derive()
        return again.safe.hash
      })
      longest = Math.max(longest, world.safe.number)
      expect(headsAgain).toEqual(heads)
    }),
    { numRuns: 25 },
  )
  expect(longest).toBeGreaterThan(10)
})
