import { expect, it } from 'vitest'
import type { ForkSchedule } from '#chainspec/forks'
import { createSequencerHost, derivedElsewhere, headOf, postRest, type SequencerRun } from '#test/harness/consensus/sequencer'
import { configUpdate, depositLog, receiptOf } from '#test/harness/derive/l1'
import { configContract, DeriveWorld, forksTo, genesisTimeSec, portal, userTransaction } from '#test/harness/derive/world'
import { dice } from '#test/harness/dice'
import { busyFault } from '#test/harness/engine/engine'
import { sampleOf } from '#test/harness/sample'
import type { Receipt } from '#types/receipt'
import { depositType } from '#types/transaction'

const late = ['ecotone', 'fjord', 'granite', 'holocene', 'isthmus', 'jovian'] as const

/** Random events of a sequencer; L1 blocks arrive at random times. */
function createChaos(seed: number) {
  const roll = dice(seed)
  const schedule: ForkSchedule =
    roll(2) === 0
      ? forksTo((['delta', 'ecotone', 'jovian'] as const)[roll(3)] ?? 'jovian')
      : { ...forksTo('delta'), ...Object.fromEntries(late.map((fork, at) => [fork, genesisTimeSec + 30 + 40 * at + roll(40)])) }
  const blockTimeSec = 1 + roll(2)
  const world = new DeriveWorld(schedule, { maxSequencerDriftSec: 30 + roll(60), blockTimeSec })
  const host = createSequencerHost(world, (number) => Array.from({ length: number % 3 }, (_, at) => userTransaction(number * 10 + at)))
  const l1ConfirmationBlocks = roll(3)
  const begin = (isStopped: boolean): SequencerRun => host.start({ l1ConfirmationBlocks, isStopped })
  let run = begin(false)
  const nowSec = (): number => Math.floor(host.clock.nowMs() / 1_000)

  const eventsOf = (): readonly Receipt[] => {
    const logs = [
      ...Array.from({ length: roll(3) }, (_, at) => depositLog(portal, `user ${at}`, BigInt(roll(1_000)))),
      ...(roll(3) === 0 ? [configUpdate(configContract, 2, [BigInt(30_000_000 + roll(1_000))])] : []),
      ...(roll(5) === 0 ? [configUpdate(configContract, 4, [(50n << 32n) + BigInt(2 + roll(8))])] : []),
      ...(roll(5) === 0 ? [configUpdate(configContract, 5, [BigInt(roll(1_000))])] : []),
      ...(roll(5) === 0 ? [configUpdate(configContract, 6, [BigInt(roll(1_000))])] : []),
    ]
    return [receiptOf(logs)]
  }
  /** Returns an L1 block whose time is now or a little later, whatever the time of the last one. */
  const mine = (posts: boolean): void => {
    const parent = world.l1.at(-1)?.ref.timestamp ?? genesisTimeSec
    const seconds = Math.max(1, nowSec() - parent + roll(4))
    world.mine(
      {
        receipts: eventsOf(),
        header: { extraData: Uint8Array.of(roll(250)) },
        transactions: posts ? postRest(world, run) : [],
      },
      seconds,
    )
  }
  const reorg = (): void => {
    const depth = Math.min(1 + roll(3), world.l1.length - 1)
    world.reorg(depth)
    for (let mined = 0; mined < depth - 1 + roll(3); mined++) mine(false)
  }
  const acts: readonly (() => Promise<unknown> | unknown)[] = [
    ...Array.from({ length: 6 }, () => () => mine(roll(2) === 0)),
    reorg,
    () => host.cutL1(...(['head', 'ref', 'block'] as const).slice(0, roll(4))),
    () => host.cutL1(),
    () => run.engine.turn('off'),
    () => run.engine.turn('on', Math.max(run.engine.durable.heads.finalized.number, headOf(run).blockNumber - roll(12))),
    () => run.engine.failNext(roll(2) ? 'setHeads' : 'build', ...Array.from({ length: roll(3) }, () => busyFault('ENGINE_BUSY', {}))),
    () => host.clock.jumpMs((roll(3) - 1) * 10_000),
    // not awaited: it waits for the engine, and the clock does not advance here
    () => {
      const { sequencer } = run
      const done: Promise<unknown> = sequencer.isActive() ? sequencer.stop() : sequencer.start(headOf(run).blockHash)
      done.catch(() => {})
    },
    async () => {
      await run.stop()
      run = begin(roll(4) === 0)
    },
  ]
  return {
    world,
    host,
    run: () => run,
    async act(): Promise<void> {
      await acts[roll(acts.length)]?.()
      await host.pass([0, 0.7, 3, 12, 40][roll(5)] ?? 0)
    },
    /** Repairs everything, advances L1, and posts all blocks. */
    async end(): Promise<void> {
      run.engine.turn('on')
      host.cutL1()
      for (let mined = 0; mined < 10; mined++) {
        mine(mined > 0)
        if (mined === 5 && !run.sequencer.isActive()) await run.sequencer.start(headOf(run).blockHash)
        await host.pass(8)
      }
    },
  }
}

it.each(Array.from({ length: sampleOf(6, 16) }, (_, seed) => seed))(
  'consensus/sequencer: after random events, another node derives the sequenced and posted blocks; seed %i',
  async (seed) => {
    const { world, host, run, act, end } = createChaos(seed)
    for (let turn = 0; turn < 40; turn++) await act()
    await end()
    expect(run().ended()).toBeUndefined()
    const elsewhere = await derivedElsewhere(world)
    const { chain, heads } = run().engine.durable
    expect(run().engine.hashes().slice(0, elsewhere.length)).toEqual(elsewhere)
    expect(elsewhere.length).toBe(heads.safe.number + 1)
    // it has caught up, on time, and the blocks posted last are safe
    expect(host.clock.nowMs() / 1_000 - heads.unsafe.timestamp).toBeLessThanOrEqual(2 + world.config.blockTimeSec)
    expect(heads.unsafe.timestamp - heads.safe.timestamp).toBeLessThanOrEqual(20)
    expect(chain.some(({ transactions }) => transactions.some(([type]) => type !== depositType))).toBe(true)
    expect(host.lines.filter(({ code }) => code === 'DEPOSITS_INVALID')).toEqual([])
  },
)
