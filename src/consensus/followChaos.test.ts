import { expect, it } from 'vitest'
import { settle } from '#test/harness/clock'
import { type FollowWorld, follow, genesisOnly, grow } from '#test/harness/consensus/follow'
import { dice } from '#test/harness/dice'
import { busyFault } from '#test/harness/engine/engine'
import { zeroHash } from '#types/ids'

type Chaos = { readonly world: FollowWorld; act(): Promise<void>; end(): Promise<void> }

/** Source that never reverts a finalized block, with random events of it and of the engine. */
async function createChaos(seed: number): Promise<Chaos> {
  const roll = dice(seed)
  let [branch, final, proved] = [0, 0, 0]
  const world = await follow(grow(genesisOnly, 5), {
    ...(roll(3) === 0 && { proofs: async () => ({ latest: proved }) }),
    options: { batchBlocks: 1 + roll(9), ahead: 1 + roll(3), insertGas: roll(2) ? 0n : 60_000_000n, labelPollMs: roll(2) ? 2_000 : 500 },
  })
  const { source, engine, clock } = world
  const fails = (): Error[] => Array.from({ length: roll(5) }, () => busyFault('ENGINE_BUSY', {}))
  function fork(): void {
    const kept = Math.max(final, source.safe ?? 0) + 1
    const length = Math.min(source.chain.length, kept + roll(20))
    source.chain = grow(source.chain.slice(0, length), length + roll(20), ++branch)
  }
  const acts: readonly (() => void)[] = [
    () => Object.assign(source, { chain: grow(source.chain, source.chain.length + roll(40)) }),
    () => Object.assign(source, { chain: grow(source.chain, source.chain.length) }),
    fork,
    () => Object.assign(source, { claimed: roll(2) ? undefined : { number: source.chain.length + 5, hash: zeroHash } }),
    () => source.failures.push(...fails()),
    () => engine.failNext(roll(2) ? 'insert' : 'setHeads', ...fails()),
    () => engine.turn('off'),
    () => engine.turn('on', engine.durable.heads.finalized.number + roll(30)),
    () => {
      final = Math.min(source.chain.length - 1, final + roll(10))
      Object.assign(source, { finalized: final, safe: Math.min(source.chain.length - 1, final + roll(10)) })
    },
    () => source.tell(),
    () => {
      proved += roll(50)
    },
  ]
  return {
    world,
    async act() {
      acts[roll(acts.length)]?.()
      await clock.advanceMs([0, 500, 5_000, 70_000][roll(4)] ?? 0)
    },
    /** Repairs everything. */
    async end() {
      engine.turn('on')
      source.failures.length = 0
      proved = 100_000
      Object.assign(source, { claimed: undefined, chain: grow(source.chain, source.chain.length) })
      await world.until(() => engine.durable.heads.unsafe.hash === source.chain.at(-1)?.blockHash)
      await clock.advanceMs(3_000)
      await settle()
    },
  }
}

it.each([...Array.from({ length: 30 }, (_, seed) => seed), 122, 127, 195])(
  "consensus/followChaos: the heads end equal to the source's; seed %i",
  async (seed) => {
    const { world, act, end } = await createChaos(seed)
    await using _world = world
    for (let turn = 0; turn < 40; turn++) await act()
    await end()
    const { source, engine, queue } = world
    for (const { unsafe, safe, finalized } of engine.history) {
      expect(finalized.number <= safe.number && safe.number <= unsafe.number).toBe(true)
      expect(finalized.hash).toBe(source.chain[finalized.number]?.blockHash)
    }
    expect(queue.heads).toEqual(engine.durable.heads)
    expect(engine.durable.heads.finalized.number).toBe(source.finalized ?? 0)
    const codes = world.waits.current.map(({ reason, fault }) => `${reason} ${fault?.code}`)
    expect(codes.filter((code) => code !== 'source-head SOURCE_STOPPED')).toEqual([])
  },
)
