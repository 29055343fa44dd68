import { expect, it } from 'vitest'
import { engineFault } from '#engine/faults'
import { createLog } from '#lib/log'
import { createWorld, type Session, type World } from '#test/harness/consensus/execution'
import { chainOf, channel, forkedFrom, holocene, mineSix, numbers } from '#test/harness/consensus/unsafe'
import { badTransaction, busyFault, payloadOf } from '#test/harness/engine/engine'
import type { Payload } from '#types/payload'

const { signal } = new AbortController()
const chain = await chainOf(mineSix)
const forked = forkedFrom(chain, 10, 'other')
const hashesOf = (payloads: readonly Payload[]): string[] => payloads.map(({ blockHash }) => blockHash)

/** Node that has read L1 up to the rollup's genesis; later L1 blocks are hidden. */
async function begin(lines: Record<string, unknown>[] = []): Promise<{ world: World; session: Session }> {
  const world = createWorld(holocene, createLog('warn', { write: (line) => void lines.push(JSON.parse(line)) }))
  mineSix(world)
  world.l1.reveal(2)
  const session = world.start()
  await session.until(() => session.driver.status().wait?.reason === 'l1-head')
  return { world, session }
}

async function reveal(world: World, session: Session, l1Number: number): Promise<void> {
  world.l1.reveal(l1Number)
  await session.until(() => session.driver.status().origin?.number === l1Number && session.driver.status().wait?.reason === 'l1-head')
}

it('consensus/unsafe: payloads become the unsafe head; L1 confirms them without a second execution', async () => {
  const { world, session } = await begin()
  expect(await session.driver.inbox.insert(chain, signal)).toMatchObject({ kind: 'inserted', head: { number: 18 } })
  expect(numbers(session)).toEqual([18, 0, 0])
  expect(session.engine.calls.insert).toBe(18)
  await reveal(world, session, 5)
  expect(numbers(session)).toEqual([18, 9, 0])
  await reveal(world, session, 8)
  expect(numbers(session)).toEqual([18, 18, 0])
  expect(session.engine.calls.build).toBe(0)
  expect(session.engine.executed).toBe(18)
  expect(session.engine.hashes().slice(1)).toEqual(hashesOf(chain))
  const metrics = await session.registry.metrics()
  expect(metrics).toContain('basalt_consensus_derived_blocks_total{outcome="consolidated"} 18\n')
  expect(metrics).toContain('basalt_consensus_derived_blocks_total{outcome="built"} 0\n')
  expect(metrics).toContain('basalt_consensus_unsafe_payloads_total{outcome="inserted"} 18\n')
})

it('consensus/unsafe: replaces an unsafe block that differs from L1, drops the chain above it, and logs the field', async () => {
  const lines: Record<string, unknown>[] = []
  const { world, session } = await begin(lines)
  await session.driver.inbox.insert(forked, signal)
  await reveal(world, session, 5)
  expect(numbers(session)).toEqual([18, 9, 0])
  await reveal(world, session, 6)
  expect(numbers(session)).toEqual([12, 12, 0])
  await reveal(world, session, 8)
  expect(session.engine.hashes().slice(1)).toEqual(hashesOf(chain))
  expect(session.engine.calls.build).toBe(9)
  expect(lines.find(({ msg }) => msg === 'unsafe block differs from L1')).toMatchObject({ number: 10, field: 'transactions[1]' })
  expect(lines.find(({ msg }) => msg === 'unsafe blocks dropped')).toMatchObject({ from: 11, blocks: 8 })
  expect(session.driver.status().resets).toBe(0)
})

it('consensus/unsafe: a branch from a canonical block becomes the unsafe chain, back and forth', async () => {
  const { session } = await begin()
  await session.driver.inbox.insert(chain.slice(0, 12), signal)
  expect(await session.driver.inbox.insert(forked, signal)).toMatchObject({ kind: 'inserted', head: { number: 18 } })
  expect(session.engine.hashes().slice(1)).toEqual(hashesOf(forked))
  expect(session.engine.executed).toBe(12 + 9)
  expect(await session.driver.inbox.insert(chain.slice(11), signal)).toMatchObject({ kind: 'inserted', head: { number: 18 } })
  expect(session.engine.hashes().slice(1)).toEqual(hashesOf(chain))
})

it('consensus/unsafe: inserting canonical payloads costs no call and does not shorten the chain', async () => {
  const { session } = await begin()
  await session.driver.inbox.insert(chain, signal)
  const { insert, setHeads } = session.engine.calls
  expect(await session.driver.inbox.insert(chain.slice(3, 9), signal)).toMatchObject({ kind: 'inserted', head: { number: 18 } })
  expect(await session.driver.inbox.insert([], signal)).toMatchObject({ kind: 'inserted', head: { number: 18 } })
  expect(session.engine.calls).toMatchObject({ insert, setHeads })
  expect(numbers(session)).toEqual([18, 0, 0])
})

it('consensus/unsafe: a payload with an unknown parent is a gap, and no head moves', async () => {
  const { session } = await begin()
  await session.driver.inbox.insert(chain.slice(0, 3), signal)
  const parent = chain[4]
  expect(await session.driver.inbox.insert(chain.slice(5), signal)).toEqual({
    kind: 'gap',
    missing: { number: 5, hash: parent?.blockHash },
  })
  expect(numbers(session)).toEqual([3, 0, 0])
  expect(await session.driver.inbox.insert(chain.slice(1), signal)).toMatchObject({ kind: 'inserted', head: { number: 18 } })
})

it('consensus/unsafe: refuses a branch that excludes the safe head, and payloads that are not linked', async () => {
  const { world, session } = await begin()
  await session.driver.inbox.insert(chain, signal)
  await reveal(world, session, 6)
  expect(numbers(session)).toEqual([18, 12, 0])
  expect(await session.driver.inbox.insert(forked, signal)).toMatchObject({ kind: 'refused' })
  expect(await session.driver.inbox.insert([chain[12], chain[14]] as Payload[], signal)).toMatchObject({ kind: 'refused' })
  expect(session.engine.hashes().slice(1)).toEqual(hashesOf(chain))
})

it('consensus/unsafe: refuses an invalid payload with its reason, and executes it again only after ten minutes', async () => {
  const { world, session } = await begin()
  const { inbox } = session.driver
  const [first, second] = chain as [Payload, Payload]
  const attributes = { timestamp: second.timestamp, transactions: [second.transactions[0] as Uint8Array, badTransaction] }
  const bad = payloadOf({ number: 1, hash: first.blockHash }, attributes)
  const invalid = { kind: 'invalid', number: 2, reason: 'bad transaction' }
  expect(await inbox.insert([first, bad], signal)).toEqual(invalid)
  expect(numbers(session)).toEqual([1, 0, 0])
  const { insert } = session.engine.calls
  for (let again = 0; again < 5; again++) expect(await inbox.insert([first, bad], signal)).toEqual(invalid)
  const child = payloadOf({ number: 2, hash: bad.blockHash }, { timestamp: bad.timestamp + 2, transactions: first.transactions })
  expect(await inbox.insert([bad, child], signal)).toEqual(invalid)
  expect(session.engine.calls.insert).toBe(insert)
  expect(await inbox.insert([second], signal)).toMatchObject({ kind: 'inserted', head: { number: 2 } })
  await world.clock.advanceMs(600_000)
  expect(await inbox.insert([bad], signal)).toEqual(invalid)
  expect(session.engine.calls.insert).toBe(insert + 2)
})

it('consensus/unsafe: a payload without L1 attributes is invalid, whatever the engine returns', async () => {
  const { session } = await begin()
  const [first] = chain as [Payload]
  const empty = payloadOf({ number: 0, hash: first.parentHash }, { timestamp: first.timestamp, transactions: [] })
  expect(await session.driver.inbox.insert([empty], signal)).toMatchObject({ kind: 'invalid', number: 1 })
  expect(session.engine.calls.insert).toBe(0)
})

it('consensus/unsafe: a start keeps the unsafe chain, and derivation confirms it', async () => {
  const { world, session } = await begin()
  await session.driver.inbox.insert(chain, signal)
  await reveal(world, session, 5)
  await session.stop()
  const next = world.start()
  await next.until(() => next.driver.status().wait?.reason === 'l1-head')
  expect(numbers(next)).toEqual([18, 9, 0])
  expect(next.engine.history).toEqual([])
  await reveal(world, next, 8)
  expect(numbers(next)).toEqual([18, 18, 0])
  expect(next.engine.executed).toBe(0)
})

/** Unsafe blocks 1 to 18 on L1 blocks 2 to 7, three each; L1 read up to block 4. */
async function ahead(): Promise<{ world: World; session: Session }> {
  const { world, session } = await begin()
  await session.driver.inbox.insert(chain, signal)
  await reveal(world, session, 4)
  expect(numbers(session)).toEqual([18, 6, 0])
  return { world, session }
}

it.each([
  ['none of its origins', 0, 18],
  ['its last origin', 2, 15],
  ['the origins of its second half', 4, 9],
])('consensus/unsafe: a start keeps the unsafe chain as far as L1 has its origins; replaced: %s', async (_what, depth, kept) => {
  const { world, session } = await ahead()
  await session.stop()
  world.l1.reveal(99)
  world.l1.rollBack(depth)
  for (let missing = 0; missing < depth; missing++) world.l1.mine()
  const asked = world.l1.calls.ref
  const next = world.start()
  await next.toTip()
  expect(new Set([numbers(next)[0], ...next.engine.history.map(({ unsafe }) => unsafe.number)])).toEqual(new Set([kept]))
  expect(world.l1.calls.ref - asked).toBeLessThan(16)
})

it('consensus/unsafe: keeps a chain whose origins are above the L1 head', async () => {
  const { world, session } = await ahead()
  await session.stop()
  const next = world.start()
  await next.until(() => next.driver.status().wait?.reason === 'l1-head')
  expect(numbers(next)).toEqual([18, 6, 0])
})

it('consensus/unsafe: an L1 reorg that derivation detects drops the unsafe blocks whose origin was replaced', async () => {
  const { world, session } = await ahead()
  world.l1.reveal(99)
  await session.toTip()
  expect(numbers(session)).toEqual([18, 18, 0])
  world.l1.rollBack(5)
  for (let block = 0; block < 6; block++) world.l1.mine()
  await session.toTip()
  expect(session.driver.status().resets).toBe(1)
  expect(numbers(session)).toEqual([6, 3, 0])
})

it('consensus/unsafe: drops blocks whose L1 origin derivation contradicts, and refuses them afterwards', async () => {
  const { world, session } = await ahead()
  world.l1.rollBack(4)
  world.l1.reveal(99)
  for (let block = 0; block < 3; block++) world.l1.mine()
  await session.toTip()
  expect(session.driver.status().resets).toBe(0)
  expect(numbers(session)).toEqual([9, 6, 0])
  expect(await session.driver.inbox.insert(chain, signal)).toMatchObject({ kind: 'refused' })
  expect(numbers(session)).toEqual([9, 6, 0])
})

it('consensus/unsafe: resets when the engine lost blocks needed to find a replaced origin (HEAD_LOST)', async () => {
  const { world, session } = await ahead()
  world.l1.rollBack(4)
  world.l1.reveal(99)
  for (let block = 0; block < 3; block++) world.l1.mine()
  session.engine.turn('off')
  session.engine.turn('on', 7)
  await session.toTip()
  expect(session.driver.status().resets).toBe(1)
  expect(numbers(session)).toEqual([7, 6, 0])
})

it('consensus/unsafe: the wait for an unanswered write ends once the idle engine has its heads', async () => {
  const world = createWorld(holocene)
  const session = world.start()
  await session.toTip()
  const { engine, driver } = session
  const setHeads = engine.setHeads.bind(engine)
  let isLost = true
  engine.setHeads = async (heads) => {
    await setHeads(heads)
    if (isLost) throw busyFault('ENGINE_BUSY', {})
  }
  world.l1.mine(channel(1, 1, 2))
  await session.until(() => driver.status().resets === 1)
  isLost = false
  await world.clock.advanceMs(60_000)
  expect(numbers(session)).toEqual([1, 1, 0])
  expect(driver.status().waits.map(({ reason }) => reason)).toEqual(['l1-head'])
})

it('consensus/unsafe: refuses a payload whose execution was abandoned and accepts later offers', async () => {
  const { session } = await begin()
  const { engine, driver } = session
  engine.failNext('insert', engineFault('BLOCK_NOT_EXECUTED', { number: 1, reason: 'it takes longer than 30000 ms' }))
  const [hostile, honest] = [forkedFrom(chain, 1, 'long').slice(0, 1), chain].map((payloads) => driver.inbox.insert(payloads, signal))
  expect(await hostile).toEqual({ kind: 'refused', reason: 'execution of block 1 was abandoned: it takes longer than 30000 ms' })
  expect(await honest).toMatchObject({ kind: 'inserted', head: { number: 18 } })
  expect(driver.status().waits.map(({ reason }) => reason)).toEqual(['l1-head'])
})

it('consensus/unsafe: an engine that refuses unsafe blocks does not delay derivation, and inserts keep their order', async () => {
  const { world, session } = await begin()
  const { engine, driver } = session
  const insert = engine.insert.bind(engine)
  let isBusy = true
  engine.insert = async (payload) => {
    if (isBusy) throw busyFault('ENGINE_BUSY', {})
    return await insert(payload)
  }
  const offers = [chain.slice(0, 12), chain.slice(12)].map((payloads) => driver.inbox.insert(payloads, signal))
  world.l1.reveal(5)
  await session.until(() => numbers(session)[1] === 9)
  expect(numbers(session)).toEqual([9, 9, 0])
  await world.clock.advanceMs(65_000)
  expect(driver.status().waits.find(({ reason }) => reason === 'engine')).toMatchObject({ isOverdue: true, fault: { code: 'ENGINE_BUSY' } })
  world.l1.reveal(6)
  await session.until(() => numbers(session)[1] === 12)
  expect(numbers(session)).toEqual([12, 12, 0])
  isBusy = false
  await world.clock.advanceMs(10_000)
  expect(await Promise.all(offers)).toMatchObject([{ kind: 'inserted' }, { kind: 'inserted' }])
  expect(numbers(session)).toEqual([18, 12, 0])
  expect(driver.status()).toMatchObject({ resets: 0, waits: [{ reason: 'l1-head' }] })
})

it('consensus/unsafe: inserts wait while a branch is built, and none is lost', async () => {
  const { world, session } = await begin()
  const offers = chain.map((payload) => session.driver.inbox.insert([payload], signal))
  world.l1.reveal(8)
  await session.toTip()
  expect((await Promise.all(offers)).map(({ kind }) => kind)).toEqual(chain.map(() => 'inserted'))
  expect(numbers(session)).toEqual([18, 18, 0])
  expect(session.engine.hashes().slice(1)).toEqual(hashesOf(chain))
})

it('consensus/unsafe: refuses inserts beyond a limit, and an aborted one rejects with its reason', async () => {
  const { world, session } = await begin()
  session.engine.turn('off')
  const control = new AbortController()
  const offers = Array.from({ length: 65 }, () => session.driver.inbox.insert(chain, control.signal))
  const told = Promise.allSettled(offers)
  expect(await offers[64]).toEqual({ kind: 'refused', reason: 'too many payloads are waiting' })
  control.abort(new Error('enough'))
  const results = await told
  expect(results.slice(0, 64).every((result) => result.status === 'rejected' && result.reason.message === 'enough')).toBe(true)
  session.engine.turn('on')
  await world.clock.advanceMs(60_000)
  expect(await session.driver.inbox.insert(chain, signal)).toMatchObject({ kind: 'inserted' })
})

it('consensus/unsafe: before Holocene, an invalid block of a span batch removes the span, not the unsafe chain', async () => {
  const world = createWorld({})
  mineSix(world)
  const good = await chainOf(mineSix, {})
  world.l1.rollBack(6)
  world.l1.mine({ span: true, batches: [...channel(1, 2, 2).batches, { number: 3, origin: 2, tag: 'bad' }] })
  const session = world.start()
  await session.driver.inbox.insert(good.slice(0, 3), signal)
  await session.toTip()
  expect(numbers(session)).toEqual([3, 0, 0])
  expect(session.engine.hashes()).toHaveLength(4)
})
