import { describe, expect, it } from 'vitest'
import { engineFault } from '#engine/faults'
import { defineFaults } from '#lib/fault'
import { settle } from '#test/harness/clock'
import { type FollowWorld, follow, genesisOnly, grow } from '#test/harness/consensus/follow'
import { badTransaction, busyFault } from '#test/harness/engine/engine'
import { walkBack } from './followAncestor.ts'

const testFault = defineFaults({
  DOWN: { severity: 'retry', says: (_: Record<never, never>) => 'down', fix: 'none' },
  LIMITED: { severity: 'retry', says: (d: { retryAfterMs: number }) => `wait ${d.retryAfterMs}`, fix: 'none' },
  NO_METHOD: { severity: 'fatal', says: (_: Record<never, never>) => 'unknown method', fix: 'none' },
})

const unsafe = ({ engine }: FollowWorld): number => engine.durable.heads.unsafe.number
const isAt = (world: FollowWorld, number: number) => (): boolean => unsafe(world) === number
const codes = ({ waits }: FollowWorld): (string | undefined)[] => waits.current.map(({ fault }) => fault?.code)
const metric = async ({ registry }: FollowWorld, name: string) =>
  Number(
    (await registry.metrics())
      .split('\n')
      .find((line) => line.startsWith(`${name} `) || line.startsWith(name))
      ?.split(' ')
      .at(-1),
  )

describe('consensus/follow', () => {
  it('catches up, then follows each new head', async () => {
    const chain = grow(genesisOnly, 300)
    await using world = await follow(chain)
    await world.until(isAt(world, 300))
    expect(world.engine.hashes()).toEqual(chain.map(({ blockHash }) => blockHash))
    world.source.chain = grow(chain, 301)
    world.source.tell()
    await settle()
    expect(unsafe(world)).toBe(301)
    expect(world.reasons()).toEqual([])
    expect(world.follower.status()).toMatchObject({ phase: 'following', labels: 'source', source: { latest: { number: 301 } } })
    expect(await metric(world, 'basalt_consensus_followed_blocks_total')).toBe(301)
  })

  it('fetches a bounded number of blocks ahead while blocks are executed, and inserts in order', async () => {
    const chain = grow(genesisOnly, 1_000)
    await using world = await follow(chain, { options: { ahead: 4, batchBlocks: 32 } })
    await world.until(isAt(world, 1_000))
    expect(world.source.mostAtOnce).toBe(4)
    const numbers = world.engine.history.map(({ unsafe: { number } }) => number)
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
    expect(world.source.asked.filter((asked) => asked.includes('+'))).toHaveLength(Math.ceil(1_000 / 32))
  })

  it("reads the source's head again while it catches up", async () => {
    const chain = grow(genesisOnly, 300)
    await using world = await follow(chain, { options: { batchBlocks: 10, labels: 'l1', insertGas: 0n } })
    const { insert } = world.engine
    world.engine.insert = async (payload) => {
      if (payload.blockNumber === 100) world.source.chain = grow(chain, 900)
      await world.clock.advanceMs(500)
      return await insert(payload)
    }
    await world.until(() => world.follower.status().source.latest?.number === 900)
    expect(unsafe(world)).toBeLessThan(140)
    await world.until(isAt(world, 900))
  })

  it('ends at once when its signal is aborted, whatever it waits for', async () => {
    const world = await follow(grow(genesisOnly, 100))
    world.source.hold = new Promise(() => {})
    await settle()
    await world.stop()
    expect(await world.ended).toBeUndefined()
    expect(world.follower.status().phase).toBe('stopped')
    expect(world.clock.waiting).toBe(0)
  })

  it.each([1, 5, 100])('follows a reorg of the source of depth %i in one step', async (depth) => {
    const common = grow(genesisOnly, 200 - depth)
    const before = grow(common, 200)
    await using world = await follow(before)
    await world.until(isAt(world, 200))
    const steps = world.engine.history.length
    world.source.chain = grow(common, 201, 1)
    await world.until(isAt(world, 201))
    expect(world.engine.hashes()).toEqual(world.source.chain.map(({ blockHash }) => blockHash))
    expect(world.engine.history.slice(steps).filter((heads) => heads.unsafe.number < 200)).toEqual([])
    expect(await metric(world, 'basalt_consensus_source_reorgs_total')).toBe(1)
  })

  it('follows a reorg to a shorter chain, and waits for a source that is only behind', async () => {
    const common = grow(genesisOnly, 50)
    await using world = await follow(grow(common, 60))
    await world.until(isAt(world, 60))
    world.source.chain = grow(common, 55, 1)
    await world.until(isAt(world, 55))
    world.source.chain = world.source.chain.slice(0, 53)
    await world.until(() => codes(world).includes('SOURCE_BEHIND'))
    expect(world.reasons()).toEqual(['source-head'])
    expect(unsafe(world)).toBe(55)
    world.source.chain = grow(common, 56, 1)
    await world.until(isAt(world, 56))
    await world.until(() => world.reasons().length === 0)
  })

  it('reads a chain that changed during the read again from the common ancestor', async () => {
    const common = grow(genesisOnly, 40)
    await using world = await follow(grow(common, 200), { options: { batchBlocks: 8, ahead: 1 } })
    await world.until(() => unsafe(world) >= 48)
    world.source.chain = grow(common, 210, 2)
    await world.until(isAt(world, 210))
    expect(world.engine.hashes()).toEqual(world.source.chain.map(({ blockHash }) => blockHash))
  })

  it('refuses a source without the finalized head until its head changes (SOURCE_LEAVES_OUT)', async () => {
    const ours = grow(genesisOnly, 60)
    await using world = await follow(grow(genesisOnly, 80, 1), { ours, safe: 50, finalized: 40 })
    await world.until(() => world.follower.status().phase === 'refusing')
    expect(world.follower.status().refusal).toMatchObject({ code: 'SOURCE_LEAVES_OUT', data: { label: 'finalized', number: 40 } })
    expect(codes(world)).toEqual(['SOURCE_LEAVES_OUT'])
    await world.clock.advanceMs(1_000)
    const asked = world.source.asked.length
    await world.clock.advanceMs(60_000)
    expect(world.source.asked.slice(asked).filter((each) => each !== 'latest')).toEqual([])
    expect(unsafe(world)).toBe(60)
    world.source.chain = grow(ours, 61)
    await world.until(isAt(world, 61))
    expect(world.follower.status()).toMatchObject({ phase: 'following', refusal: undefined })
    expect(world.reasons()).toEqual([])
  })

  it('with labels from L1, refuses a source without the safe head; without L1, lowers the safe head', async () => {
    const common = grow(genesisOnly, 45)
    const ours = grow(common, 60)
    await using strict = await follow(grow(common, 80, 1), { ours, safe: 50, finalized: 40, options: { labels: 'l1' } })
    await strict.until(() => strict.follower.status().refusal?.data['label'] === 'safe')
    expect(unsafe(strict)).toBe(60)
    await using loose = await follow(grow(common, 80, 1), { ours, safe: 50, finalized: 40 })
    await loose.until(isAt(loose, 80))
    expect(loose.engine.durable.heads.safe.number).toBe(45)
  })

  it("applies the source's labels, never above this node's head; with L1, does not request them", async () => {
    const chain = grow(genesisOnly, 100)
    await using world = await follow(chain, { options: { insertGas: 0n, batchBlocks: 10, labelPollMs: 0 } })
    Object.assign(world.source, { safe: 90, finalized: 20 })
    await world.until(isAt(world, 100))
    await world.until(() => world.engine.durable.heads.safe.number === 90)
    expect(world.engine.durable.heads.finalized.number).toBe(20)
    for (const { unsafe: head, safe, finalized } of world.engine.history) {
      expect(safe.number).toBeLessThanOrEqual(head.number)
      expect(finalized.number).toBeLessThanOrEqual(safe.number)
    }
    await using other = await follow(chain, { options: { labels: 'l1' } })
    Object.assign(other.source, { safe: 90, finalized: 20 })
    await other.until(isAt(other, 100))
    expect(other.engine.durable.heads.safe.number).toBe(0)
    expect(other.source.asked).not.toContain('safe')
    expect(other.follower.status().labels).toBe('l1')
  })

  it('sees new labels soon while the head does not change, also where only new heads are notified', async () => {
    await using world = await follow(grow(genesisOnly, 20))
    world.source.idleMs = 60_000
    await world.until(isAt(world, 20))
    await world.clock.advanceMs(5_000)
    Object.assign(world.source, { safe: 12, finalized: 5 })
    await world.clock.advanceMs(2_000)
    expect(world.follower.status()).toMatchObject({ source: { safe: { number: 12 }, finalized: { number: 5 } } })
    await world.until(() => world.engine.durable.heads.finalized.number === 5)
    expect(world.engine.durable.heads.safe.number).toBe(12)
  })

  it('checks the heads of an engine that was unavailable for long', async () => {
    await using world = await follow(grow(genesisOnly, 10))
    await world.until(isAt(world, 10))
    world.source.chain = world.source.chain.slice(0, 9)
    world.engine.turn('off')
    await world.clock.advanceMs(70_000)
    expect(world.reasons()).toContain('engine')
    world.engine.turn('on', 9)
    await world.until(() => world.queue.heads?.unsafe.number === 9)
    expect(world.queue.lost).toMatchObject({ code: 'HEAD_LOST' })
    await world.until(() => !world.reasons().includes('engine'))
  })

  it('does not finalize a head that the source replaced, although a later block of another branch is final', async () => {
    const common = grow(genesisOnly, 8)
    await using world = await follow(grow(common, 10))
    await world.until(isAt(world, 10))
    const head = world.source.head.bind(world.source)
    world.source.head = async (label, signal) => {
      if (label !== 'latest') Object.assign(world.source, { chain: grow(common, 60, 1), safe: 50, finalized: 40 })
      return await head(label, signal)
    }
    await world.until(() => world.engine.durable.heads.finalized.number > 0)
    await world.until(isAt(world, 60))
    await world.until(() => world.engine.durable.heads.finalized.number === 40)
    expect(world.engine.hashes()).toEqual(world.source.chain.map(({ blockHash }) => blockHash))
  })

  it('refuses an invalid block, keeps the blocks below it, and accepts a better head (SOURCE_INVALID_BLOCK)', async () => {
    const common = grow(genesisOnly, 40)
    await using world = await follow(grow(common, 60, 0, [badTransaction]))
    await world.until(() => world.follower.status().refusal?.code === 'SOURCE_INVALID_BLOCK')
    expect(world.follower.status().refusal?.data).toMatchObject({ number: 41, reason: 'bad transaction' })
    expect(unsafe(world)).toBe(40)
    await world.clock.advanceMs(1_000)
    const asked = world.source.asked.length
    await world.clock.advanceMs(10_000)
    expect(world.source.asked.length - asked).toBeLessThan(25)
    world.source.chain = grow(common, 61, 1)
    await world.until(isAt(world, 61))
    expect(world.reasons()).toEqual([])
  })

  it('refuses a block whose execution was abandoned with the reason, and takes a better head (SOURCE_REFUSED_HERE)', async () => {
    const common = grow(genesisOnly, 40)
    const long = grow(common, 60, 2)
    await using world = await follow(long)
    const insert = world.engine.insert.bind(world.engine)
    world.engine.insert = async (payload) => {
      if (payload.blockHash === long[41]?.blockHash)
        throw engineFault('BLOCK_NOT_EXECUTED', { number: 41, reason: 'it takes longer than 30000 ms' })
      return await insert(payload)
    }
    await world.until(() => world.follower.status().phase === 'refusing')
    expect(world.follower.status().refusal?.message).toMatch(/execution of block 41 was abandoned: it takes longer than 30000 ms/)
    expect(unsafe(world)).toBe(40)
    expect(world.reasons()).toEqual(['source-block'])
    world.source.chain = grow(common, 61, 1)
    await world.until(isAt(world, 61))
    expect(world.reasons()).toEqual([])
  })

  it('tries a refused head again after a while, because a verdict may be wrong', async () => {
    await using world = await follow(grow(genesisOnly, 20))
    const insert = world.engine.insert.bind(world.engine)
    let isWrong = true
    world.engine.insert = async (payload) =>
      isWrong && payload.blockNumber === 15 ? { kind: 'invalid', reason: 'out of memory' } : await insert(payload)
    await world.until(() => world.follower.status().refusal?.code === 'SOURCE_INVALID_BLOCK')
    isWrong = false
    await world.clock.advanceMs(540_000)
    expect(unsafe(world)).toBe(14)
    await world.clock.advanceMs(120_000)
    expect([unsafe(world), world.follower.status().refusal]).toEqual([20, undefined])
  })

  it('retries a failing source after the pause that it demands, as a wait with its fault', async () => {
    const failures = [testFault('DOWN', {}), testFault('LIMITED', { retryAfterMs: 7_000 })]
    await using world = await follow(grow(genesisOnly, 10), { failures })
    await settle()
    await world.clock.advanceMs(300)
    expect(world.waits.current).toMatchObject([{ reason: 'source-head', failures: 2, fault: { code: 'LIMITED' } }])
    await world.clock.advanceMs(6_000)
    expect(unsafe(world)).toBe(0)
    await world.until(isAt(world, 10))
    expect(world.reasons()).toEqual([])
    world.source.chain = grow(genesisOnly, 12)
    world.source.tell()
    await settle()
    expect(unsafe(world)).toBe(12)
  })

  it('continues where it was after a source failed in the middle of a range', async () => {
    await using world = await follow(grow(genesisOnly, 200), { options: { batchBlocks: 10, ahead: 3 } })
    const payloads = world.source.payloads.bind(world.source)
    let left = 9
    world.source.payloads = async (from, count, signal) => {
      if (from > 80 && left-- > 0) throw testFault('DOWN', {})
      return await payloads(from, count, signal)
    }
    await world.until(isAt(world, 200))
    expect(left).toBeLessThanOrEqual(0)
    expect(world.engine.history.map((heads) => heads.unsafe.number)).toEqual([
      ...new Set(world.engine.history.map((heads) => heads.unsafe.number)),
    ])
  })

  it('waits for a head that the source does not have (SOURCE_EMPTY)', async () => {
    await using world = await follow(grow(genesisOnly, 10))
    world.source.claimed = { number: 9_000_000, hash: `0x${'ee'.repeat(32)}` as never }
    await world.until(() => codes(world).includes('SOURCE_EMPTY'))
    expect(unsafe(world)).toBe(10)
    const asked = world.source.asked.length
    await world.clock.advanceMs(60_000)
    expect(world.source.asked.length - asked).toBeLessThan(100)
    world.source.claimed = undefined
    world.source.chain = grow(genesisOnly, 11)
    await world.until(isAt(world, 11))
    expect(world.reasons()).toEqual([])
  })

  it('a source without new heads is a wait with a reason (SOURCE_STOPPED)', async () => {
    await using world = await follow(grow(genesisOnly, 10))
    await world.until(isAt(world, 10))
    await world.clock.advanceMs(5_000)
    expect(world.reasons()).toEqual([])
    await world.clock.advanceMs(40_000)
    expect(world.waits.current).toMatchObject([{ reason: 'source-head', isOverdue: true, fault: { code: 'SOURCE_STOPPED' } }])
  })

  it('drops a head on which the engine cannot build after ten minutes of gaps, down to the safe head (SOURCE_GAP)', async () => {
    const chain = grow(genesisOnly, 20)
    await using world = await follow(chain, { ours: chain.slice(0, 11), safe: 5, options: { insertGas: 0n } })
    const insert = world.engine.insert.bind(world.engine)
    let isRepaired = false
    world.engine.insert = async (payload) => {
      if (payload.blockNumber <= 10) isRepaired = true
      if (!isRepaired) throw engineFault('UNKNOWN_PARENT', { hash: payload.parentHash, number: payload.blockNumber - 1 })
      return await insert(payload)
    }
    await world.until(() => codes(world).includes('SOURCE_GAP'))
    await world.clock.advanceMs(500_000)
    expect([unsafe(world), world.reasons()]).toEqual([10, ['gap']])
    await world.clock.advanceMs(200_000)
    expect([unsafe(world), world.reasons().includes('gap')]).toEqual([20, false])
    expect(world.engine.history[0]).toMatchObject({ unsafe: { number: 5 }, safe: { number: 5 } })
  })

  it("a gap ends when the source returns to this node's head", async () => {
    const chain = grow(genesisOnly, 20)
    await using world = await follow(chain, { ours: chain.slice(0, 11) })
    world.engine.insert = async ({ parentHash: hash, blockNumber }) => {
      throw engineFault('UNKNOWN_PARENT', { hash, number: blockNumber - 1 })
    }
    await world.until(() => world.reasons().includes('gap'))
    world.source.chain = chain.slice(0, 11)
    await world.until(() => world.follower.status().phase === 'following' && world.source.asked.at(-1) !== 'latest')
    expect(world.reasons()).not.toContain('gap')
  })

  it('waits for a busy engine', async () => {
    await using world = await follow(grow(genesisOnly, 10))
    world.engine.failNext('insert', busyFault('ENGINE_BUSY', {}), busyFault('ENGINE_BUSY', {}))
    await world.until(isAt(world, 10))
    expect(world.reasons()).toEqual([])
  })
})

describe('consensus/follow proofs', () => {
  it('follows up to the limit of the proofs, in block time, and further as they advance', async () => {
    let latest: number | undefined
    await using world = await follow(grow(genesisOnly, 1_200), { proofs: async () => ({ latest }), options: { maxAheadSec: 1_024 } })
    await world.until(isAt(world, 512))
    await world.until(() => world.reasons().includes('source-proofs'))
    expect(world.follower.status().limit).toBe(512)
    latest = 100
    await world.until(isAt(world, 612))
    await world.until(() => world.reasons().includes('source-proofs'))
    latest = 900
    await world.until(isAt(world, 1_200))
    expect(world.reasons()).toEqual([])
  })

  it('a failing proofs status stops it with a reason', async () => {
    let isDown = true
    const proofs = async () => {
      if (isDown) throw testFault('DOWN', {})
      return { latest: 10 }
    }
    await using world = await follow(grow(genesisOnly, 20), { proofs })
    await world.clock.advanceMs(10_000)
    expect(unsafe(world)).toBe(0)
    expect(world.waits.current).toMatchObject([{ reason: 'source-proofs', fault: { code: 'DOWN' } }])
    isDown = false
    await world.until(isAt(world, 20))
    expect(world.reasons()).toEqual([])
  })

  it('stops at the start, before any request to the source, when the execution half lacks the method', async () => {
    const world = await follow(grow(genesisOnly, 20), {
      proofs: async () => {
        throw testFault('NO_METHOD', {})
      },
    })
    expect(await world.ended).toMatchObject({ code: 'NO_METHOD' })
    expect(world.source.asked).toEqual([])
    expect(world.follower.status()).toMatchObject({ phase: 'stopped', fault: { code: 'NO_METHOD' } })
  })
})

it.each([
  [100, 0, [100, 99, 97, 93, 85, 69, 37, 0]],
  [100, 98, [100, 99, 98]],
  [7, 7, [7]],
])('consensus/followAncestor: from %i down to %i it compares few blocks, the floor last', (top, floor, numbers) => {
  expect([...walkBack(top, floor)]).toEqual(numbers)
})
