import { expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { createHost, createWorld, type Session } from '#test/harness/consensus/execution'
import { ScriptedPipeline } from '#test/harness/consensus/pipeline'
import { chainOf, channel, forkedFrom, holocene, mineSix } from '#test/harness/consensus/unsafe'
import { dice } from '#test/harness/dice'
import { busyFault, executeNothing } from '#test/harness/engine/engine'
import type { Payload } from '#types/payload'

const chain = await chainOf(mineSix)
const branches: readonly (readonly Payload[])[] = [chain, forkedFrom(chain, 4, 'x'), forkedFrom(chain, 12, 'y')]
const unsettled = AbortSignal.timeout(600_000)

function createChaos(seed: number) {
  const roll = dice(seed)
  const world = createWorld(holocene)
  const { l1, clock, config, genesis } = world
  let shown = 2
  let session = world.start(undefined, { commitBlocks: 1 + roll(6), labelPollMs: 4_000 })
  const offers: Promise<unknown>[] = []
  const mine = (tag: string): void => {
    const number = l1.tip.number - 2
    l1.mine(...(roll(4) === 0 ? [] : [channel(number * 3 + 1, number * 3 + 3, l1.tip.number, tag)]))
  }
  const acts: readonly (() => Promise<void> | void)[] = [
    () => {
      const payloads = branches[roll(branches.length)] ?? chain
      const from = roll(payloads.length)
      offers.push(session.driver.inbox.insert(payloads.slice(from, from + 1 + roll(9)), unsettled).catch(() => {}))
    },
    () => void mine('a'),
    () => {
      shown = Math.min(l1.tip.number, shown + 1 + roll(3))
      l1.reveal(shown)
      l1.finalize(shown - 4)
    },
    () => {
      const depth = Math.min(roll(3) + 1, l1.tip.number - Math.max(2, shown - 3))
      l1.rollBack(Math.max(0, depth))
      for (let block = 0; block < depth + 1; block++) mine(['a', 'b'][roll(2)] ?? 'a')
    },
    () => session.engine.turn('off'),
    async () => session.engine.turn('on', (await heads(session)).finalized.number + roll(20)),
    () => session.engine.failNext(roll(2) ? 'setHeads' : 'build', ...Array.from({ length: roll(3) }, () => busyFault('ENGINE_BUSY', {}))),
    () => l1.cut(...(['head', 'ref', 'block'] as const).slice(0, roll(4))),
    () => l1.cut(),
    () => clock.jumpMs((roll(3) - 1) * 3_600_000),
    async () => {
      await session.stop()
      session = world.start(undefined, { commitBlocks: 1 + roll(6), labelPollMs: 4_000 })
    },
  ]
  /** One random event, and some time. */
  async function act(): Promise<void> {
    await acts[roll(acts.length)]?.()
    await clock.advanceMs([0, 500, 5_000, 70_000][roll(4)] ?? 0)
  }
  /** Repairs everything, then compares with one uninterrupted derivation of L1. */
  async function end(): Promise<{ readonly session: Session; readonly straight: Session }> {
    session.engine.turn('on')
    l1.cut()
    l1.reveal(Number.POSITIVE_INFINITY)
    mine('a')
    await session.toTip()
    await clock.advanceMs(20_000)
    await session.toTip()
    const createPipeline = (start: Parameters<ScriptedPipeline['reset']>[0]): ScriptedPipeline => {
      const pipeline = new ScriptedPipeline(config)
      pipeline.reset(start)
      return pipeline
    }
    const straight = createHost({ l1, config, genesis, execute: executeNothing, createPipeline, log: silentLog }).start()
    await straight.toTip()
    return { session, straight }
  }
  return { act, end, offers }
}

const heads = async (session: Session) => session.engine.durable.heads

it.each([...Array.from({ length: 60 }, (_, seed) => seed), 976])(
  'consensus/chaos: the safe chain ends equal to an uninterrupted derivation; seed %i',
  async (seed) => {
    const { act, end } = createChaos(seed)
    for (let turn = 0; turn < 60; turn++) await act()
    const { session, straight } = await end()
    const safe = session.driver.status().heads?.safe
    expect(safe).toEqual(straight.driver.status().heads?.safe)
    expect(session.engine.hashes().slice(0, (safe?.number ?? 0) + 1)).toEqual(straight.engine.hashes())
    const finalized = session.engine.history.map((each) => each.finalized.number)
    expect(finalized).toEqual(finalized.toSorted((a, b) => a - b))
    expect(session.driver.status().waits.map(({ reason }) => reason)).toEqual(['l1-head'])
  },
)
