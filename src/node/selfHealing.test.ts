import { expect, it } from 'vitest'
import { engineFault } from '#engine/faults'
import { createWorld, type Session, type World } from '#test/harness/consensus/execution'
import { chainOf, channel, holocene, mineSix, numbers } from '#test/harness/consensus/unsafe'
import { readinessProblems } from './health/readiness.ts'

const { signal } = new AbortController()
const hourMs = 3_600_000
const chain = await chainOf(mineSix)
const hashes = chain.map(({ blockHash }) => blockHash)

/** A node at the tip of an L1 whose blocks 7 and 8 are hidden; all L2 blocks are available as unsafe ones. */
async function atTip(
  options?: Parameters<World['start']>[1],
): Promise<{ world: World; session: Session; problems: () => readonly string[] }> {
  const world = createWorld(holocene)
  mineSix(world)
  world.l1.reveal(6)
  const session = world.start(undefined, options)
  await session.until(() => session.driver.status().origin?.number === 6 && session.driver.status().wait?.reason === 'l1-head')
  const problems = (): readonly string[] => readinessProblems(session.driver.status(), world.clock.nowMs())
  return { world, session, problems }
}

async function toEnd(world: World, session: Session): Promise<void> {
  world.l1.reveal(99)
  await session.toTip()
  expect(numbers(session).slice(0, 2)).toEqual([18, 18])
  expect(session.engine.hashes().slice(1)).toEqual(hashes)
}

it('node/selfHealing: takes unsafe blocks and reports the reason while L1 is cut off for 4 minutes, then recovers fully', async () => {
  const { world, session, problems } = await atTip()
  world.l1.cut('head', 'ref', 'block', 'blobs')
  await world.clock.advanceMs(20_000)
  expect(problems()).toEqual([])
  expect(await session.driver.inbox.insert(chain, signal)).toMatchObject({ kind: 'inserted', head: { number: 18 } })
  await world.clock.advanceMs(220_000)
  expect(problems()).toEqual([expect.stringMatching(/^waiting for L1's head for 2[23]\d s: timed out \(L1_TIMEOUT\)$/)])
  expect(session.driver.status().wait).toMatchObject({ reason: 'l1-poll', isOverdue: true })
  expect(await session.registry.metrics()).toMatch(/basalt_consensus_wait_seconds\{reason="l1-poll"\} 2\d\d/)
  world.l1.cut()
  await toEnd(world, session)
  expect(problems()).toEqual([])
  expect(session.driver.status().resets).toBe(0)
  expect(session.engine.calls.build).toBe(12)
})

it('node/selfHealing: waits for hours when L1 stops at one block: ready, no reset, nothing finalized', async () => {
  const { world, session, problems } = await atTip()
  await world.clock.advanceMs(hourMs)
  expect(problems()).toEqual([])
  expect(session.driver.status()).toMatchObject({ resets: 0, wait: { reason: 'l1-head', isOverdue: true } })
  expect(numbers(session)).toEqual([12, 12, 0])
  await toEnd(world, session)
})

it('node/selfHealing: retries missing L1 blocks, then starts again, until they arrive', async () => {
  const { world, session, problems } = await atTip()
  world.l1.cut('block')
  world.l1.reveal(99)
  await world.clock.advanceMs(400_000)
  expect(problems()).toContainEqual(expect.stringMatching(/^waiting for an L1 block for \d+ s: timed out \(L1_TIMEOUT\)$/))
  const metrics = await session.registry.metrics()
  expect(metrics).toMatch(/escalations_total\{reason="l1-block",step="back-fill"\} [1-9]/)
  expect(metrics).toMatch(/escalations_total\{reason="l1-block",step="reset"\} [1-9]/)
  expect(session.driver.status().resets).toBeLessThan(4)
  expect(numbers(session)).toEqual([12, 12, 0])
  world.l1.cut()
  await toEnd(world, session)
  expect(problems()).toEqual([])
})

it('node/selfHealing: continues all work without blobs while the beacon node is gone for ten minutes', async () => {
  const { world, session, problems } = await atTip()
  world.l1.reveal(99)
  await session.toTip()
  world.l1.mine(channel(19, 19, 8))
  world.l1.mine({ ...channel(20, 20, 8), blob: 'x' })
  world.l1.cut('blobs')
  await world.clock.advanceMs(600_000)
  expect(numbers(session)).toEqual([19, 19, 0])
  expect(problems().join()).toMatch(/waiting for L1 blobs for \d+ s: timed out \(L1_TIMEOUT\)/)
  expect(session.driver.status().resets).toBeGreaterThan(0)
  world.l1.cut()
  await session.toTip()
  expect(numbers(session)).toEqual([20, 20, 0])
  expect(problems()).toEqual([])
})

it('node/selfHealing: does not wait for blobs of an L1 block that a reorg replaced', async () => {
  const { world, session } = await atTip()
  world.l1.reveal(99)
  await session.toTip()
  world.l1.mine({ ...channel(19, 19, 8), blob: 'x' })
  world.l1.cut('blobs')
  await session.until(() => session.driver.status().waits.some(({ reason }) => reason === 'l1-blobs'))
  world.l1.rollBack(1)
  world.l1.mine(channel(19, 19, 8))
  await session.toTip()
  expect(numbers(session)).toEqual([19, 19, 0])
})

it('node/selfHealing: derives again from the finalized head after ten minutes of resets without progress, and moves no label back', async () => {
  const { world, session, problems } = await atTip()
  await session.driver.inbox.insert(chain, signal)
  world.l1.finalize(4)
  world.l1.reveal(99)
  await session.toTip()
  await world.clock.advanceMs(60_000)
  expect(numbers(session)).toEqual([18, 18, 6])
  world.l1.mine({ ...channel(19, 19, 8), blob: 'x' })
  world.l1.lose('x')
  await world.clock.advanceMs(700_000)
  expect(await session.registry.metrics()).toContain('escalations_total{reason="reset",step="re-anchor"} 1\n')
  expect(problems().join()).toMatch(/waiting for progress after a reset for 6\d\d s: .*blob.* \(RESETS_IN_VAIN\)/)
  expect(session.engine.history.every(({ unsafe }, at, all) => unsafe.number >= (all[at - 1]?.unsafe.number ?? 0))).toBe(true)
  expect(numbers(session)).toEqual([18, 18, 6])
  world.l1.find('x')
  await session.toTip()
  expect(numbers(session)).toEqual([19, 19, 6])
  expect(problems()).toEqual([])
})

it('node/selfHealing: drops the unsafe chain when the execution half refuses it for ten minutes', async () => {
  const { world, session } = await atTip()
  await session.driver.inbox.insert(chain, signal)
  const setHeads = session.engine.setHeads.bind(session.engine)
  session.engine.setHeads = async (heads) => {
    if (heads.unsafe.number > heads.safe.number)
      throw engineFault('INVALID_FORKCHOICE', { label: 'unsafe', hash: heads.unsafe.hash, reason: 'no' })
    await setHeads(heads)
  }
  world.l1.reveal(7)
  await world.clock.advanceMs(700_000)
  expect(numbers(session)).toEqual([15, 15, 0])
  await toEnd(world, session)
})

it.each([
  ['unchanged', 99],
  ['without its last blocks', 15],
  ['without safe blocks', 4],
])(
  'node/selfHealing: resumes without a resync when the execution half was killed and is back after two minutes %s',
  async (_case, tail) => {
    const { world, session, problems } = await atTip()
    await session.driver.inbox.insert(chain, signal)
    session.engine.turn('off')
    world.l1.reveal(7)
    await world.clock.advanceMs(120_000)
    expect(problems().length).toBeGreaterThan(0)
    expect(session.driver.status().waits.map(({ reason }) => reason)).toContain('engine')
    const { executed } = session.engine
    session.engine.turn('on', tail)
    await session.until(() => session.driver.status().origin?.number === 7 && session.driver.status().wait?.reason === 'l1-head')
    expect(await session.driver.inbox.insert(chain, signal)).toMatchObject({ kind: 'inserted', head: { number: 18 } })
    await toEnd(world, session)
    expect(problems()).toEqual([])
    expect(session.engine.executed - executed).toBe(Math.max(0, 18 - tail))
  },
)

it('node/selfHealing: notices by the next block that the execution half lost its tail (UNKNOWN_PARENT)', async () => {
  const { world, session } = await atTip()
  session.engine.turn('on', 7)
  await toEnd(world, session)
  expect(session.driver.status().resets).toBe(1)
  expect(session.engine.history.every(({ finalized }) => finalized.number === 0)).toBe(true)
})

it('node/selfHealing: notices within seconds, while no block arrives, that the execution half lost its tail, and derives the tail again', async () => {
  const { world, session } = await atTip()
  session.engine.turn('on', 7)
  await world.clock.advanceMs(20_000)
  expect(session.engine.hashes().slice(1)).toEqual(hashes.slice(0, 12))
  expect(session.driver.status()).toMatchObject({ resets: 1, wait: { reason: 'l1-head' } })
})

it('node/selfHealing: notices by the next unsafe payload that the execution half lost its tail, and fills the gap', async () => {
  const { session } = await atTip()
  session.engine.turn('on', 7)
  const { inbox } = session.driver
  expect(await inbox.insert(chain.slice(12), signal)).toEqual({ kind: 'gap', missing: { number: 12, hash: hashes[11] } })
  expect(inbox.heads?.unsafe.number).toBe(7)
  expect(await inbox.insert(chain.slice(5), signal)).toMatchObject({ kind: 'inserted', head: { number: 18 } })
  await session.until(() => numbers(session)[1] === 12)
})

it('node/selfHealing: puts heads in order (finalized above safe), and continues derivation', async () => {
  const { world, session } = await atTip()
  await session.stop()
  const heads = await session.engine.heads()
  const [low] = chain
  const broken = { ...heads, safe: { ...heads.safe, number: 1, hash: low?.blockHash ?? heads.safe.hash }, finalized: heads.safe }
  const next = world.start()
  next.engine.heads = async () => broken
  await next.until(() => next.driver.status().wait?.reason === 'l1-head')
  expect(numbers(next)).toEqual([12, 12, 12])
  world.l1.finalize(3)
  await toEnd(world, next)
  expect(numbers(next)).toEqual([18, 18, 12])
})

it('node/selfHealing: keeps the finalized head when the execution half is back without its labels', async () => {
  const { world, session } = await atTip()
  world.l1.finalize(4)
  await world.clock.advanceMs(60_000)
  expect(numbers(session)).toEqual([12, 12, 6])
  const { heads } = session.engine
  const first = session.engine.history[0]?.finalized
  session.engine.heads = async () => ({ ...(await heads()), ...(first && { safe: first, finalized: first }) })
  await session.until(() => session.driver.status().resets === 1)
  session.engine.heads = heads
  await toEnd(world, session)
  const finalized = session.engine.history.map((each) => each.finalized.number)
  expect(finalized.at(-1)).toBe(6)
  expect(finalized).toEqual(finalized.toSorted((a, b) => a - b))
})

it.each([5 * hourMs, -5 * hourMs])('node/selfHealing: is not affected by a wall clock that jumps by %i ms', async (jumpMs) => {
  const { world, session, problems } = await atTip()
  world.clock.jumpMs(jumpMs)
  await world.clock.advanceMs(60_000)
  expect(problems()).toEqual([])
  expect(session.driver.status().resets).toBe(0)
  expect(numbers(session)).toEqual([12, 12, 0])
  const asked = world.l1.calls.head
  await world.clock.advanceMs(60_000)
  expect(world.l1.calls.head - asked).toBeLessThan(20)
  world.l1.cut('head')
  world.clock.jumpMs(-jumpMs)
  await world.clock.advanceMs(20_000)
  expect(problems()).toEqual([])
  world.l1.cut()
  await toEnd(world, session)
})
