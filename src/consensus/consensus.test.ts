import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { Fault } from '#lib/fault'
import { silentLog } from '#lib/log'
import { createManualClock, settle } from '#test/harness/clock'
import { createWorld } from '#test/harness/consensus/execution'
import { chainOf, forkedFrom, holocene, mineSix } from '#test/harness/consensus/unsafe'
import { createMemoryEngine, executeNothing, type MemoryEngine } from '#test/harness/engine/engine'
import type { BlockId } from '#types/blockRef'
import { zeroHash } from '#types/ids'
import { type ConsensusDeps, createConsensus } from './consensus.ts'
import { defaultDriverOptions } from './driver.ts'
import { consensusMetrics } from './metrics.ts'

const chain = await chainOf(mineSix)
const forked = forkedFrom(chain, 10, 'other')
const idOf = (number: number, payloads = chain): BlockId => ({ number, hash: payloads[number - 1]?.blockHash ?? zeroHash })

/** Follow mode without L1: labels come from the source. */
function create(more: Partial<ConsensusDeps> = {}, prepare: (engine: MemoryEngine) => void = () => {}) {
  const { config, genesis } = createWorld(holocene)
  const ref = { ...idOf(0), hash: genesis.blockHash, parentHash: genesis.parentHash, timestamp: genesis.timestamp }
  const first = { ...ref, l1Origin: config.genesis.l1, sequenceNumber: 0 }
  const engine = createMemoryEngine({ chain: [genesis], heads: { unsafe: first, safe: first, finalized: first } }, executeNothing)
  prepare(engine)
  const clock = createManualClock()
  const control = new AbortController()
  const metrics = consensusMetrics.register(new Registry())
  const consensus = createConsensus(
    { engine, clock, random: () => 0, log: silentLog, metrics, createFeed: () => ({ run: async () => {} }), ...more },
    { ...defaultDriverOptions, config },
  )
  const ended = consensus.run(control.signal)
  const stop = async (): Promise<void> => {
    control.abort(new Error('stopped by the test'))
    await ended
  }
  const numbers = (): unknown[] => {
    const { heads } = consensus.status()
    return [heads?.unsafe.number, heads?.safe.number, heads?.finalized.number]
  }
  return { consensus, engine, clock, stop, ended, numbers, signal: control.signal, inbox: consensus.inbox }
}

it("consensus/consensus: without L1, applies the source's labels: canonical blocks, forward only, in order", async () => {
  const { consensus, inbox, numbers, signal, stop } = create()
  await inbox.insert(chain, signal)
  expect(consensus.status()).toMatchObject({ labels: 'source', origin: undefined })
  await inbox.label({ safe: idOf(9), finalized: idOf(6) }, signal)
  expect(numbers()).toEqual([18, 9, 6])
  await inbox.label({ safe: idOf(7), finalized: idOf(3) }, signal)
  expect(numbers()).toEqual([18, 9, 6])
  await inbox.label({ safe: idOf(12, forked), finalized: idOf(15) }, signal)
  expect(numbers()).toEqual([18, 9, 9])
  await inbox.label({ safe: idOf(15), finalized: undefined }, signal)
  await inbox.label({ safe: { number: 99, hash: idOf(9).hash }, finalized: { number: 99, hash: idOf(9).hash } }, signal)
  expect(numbers()).toEqual([18, 15, 9])
  await stop()
  expect(consensus.status().phase).toBe('stopped')
})

it('consensus/consensus: without L1, a branch of the source may lower the safe head, never the finalized head', async () => {
  const { inbox, numbers, signal, engine, stop } = create()
  await inbox.insert(chain, signal)
  await inbox.label({ safe: idOf(15), finalized: idOf(9) }, signal)
  expect(await inbox.insert(forked, signal)).toMatchObject({ kind: 'inserted' })
  expect(numbers()).toEqual([18, 9, 9])
  expect(await inbox.insert(forkedFrom(chain, 9, 'deeper'), signal)).toMatchObject({ kind: 'refused' })
  expect(engine.hashes().slice(1)).toEqual(forked.map(({ blockHash }) => blockHash))
  await stop()
})

it('consensus/consensus: without L1, waits for an engine that is unavailable at the start (ENGINE_BUSY)', async () => {
  const { consensus, engine, clock, numbers, stop } = create({}, (off) => off.turn('off'))
  await clock.advanceMs(300_000)
  expect(consensus.status()).toMatchObject({ phase: 'starting', heads: undefined, wait: { reason: 'engine', isOverdue: true } })
  engine.turn('on')
  await clock.advanceMs(30_000)
  expect(consensus.status()).toMatchObject({ phase: 'deriving', wait: undefined })
  expect(numbers()).toEqual([0, 0, 0])
  await stop()
})

it('consensus/consensus: without L1, detects that an idle engine lost its head', async () => {
  const { inbox, engine, clock, numbers, signal, stop } = create()
  await inbox.insert(chain, signal)
  engine.turn('off')
  engine.turn('on', 9)
  expect(numbers()).toEqual([18, 0, 0])
  await clock.advanceMs(20_000)
  expect(numbers()).toEqual([9, 0, 0])
  await stop()
})

it('consensus/consensus: with L1, ignores labels of the source', async () => {
  const world = createWorld(holocene)
  const session = world.start()
  await session.toTip()
  const { inbox } = session.driver
  const { signal } = new AbortController()
  await inbox.insert(chain, signal)
  await inbox.label({ safe: idOf(9), finalized: idOf(6) }, signal)
  expect(session.driver.status().heads).toMatchObject({ unsafe: { number: 18 }, safe: { number: 0 }, finalized: { number: 0 } })
})

it('consensus/consensus: a feed that fails stops the other part, and its fault is thrown', async () => {
  const { consensus, ended } = create({ createFeed: () => ({ run: () => Promise.reject(new RangeError('source lost')) }) })
  await expect(ended).rejects.toThrow('source lost')
  expect(consensus.status().phase).toBe('stopped')
  expect(() => createConsensus({} as ConsensusDeps, {} as never)).toThrow('neither L1 nor a source')
})

it('consensus/consensus: a feed that reaches an unsupported fork ends alone, and its fault is thrown at the end (UNSUPPORTED_FORK)', async () => {
  const fork = new Fault('UNSUPPORTED_FORK', 'fatal', 'beryl', 'upgrade', {})
  const { consensus, ended, stop, clock } = create({ createFeed: () => ({ run: () => Promise.reject(fork) }) })
  ended.catch(() => {})
  await clock.advanceMs(1_000)
  expect(consensus.status().phase).toBe('deriving')
  await expect(stop()).rejects.toBe(fork)
})

it('consensus/consensus: the feed gets the inbox and the waits, which the status shows', async () => {
  const { consensus, stop } = create({
    createFeed: ({ inbox, waits }) => ({
      run: async (signal) => {
        await inbox.insert(chain.slice(0, 3), signal)
        waits.enter('source-head')
      },
    }),
  })
  await settle()
  await settle()
  expect(consensus.status()).toMatchObject({ phase: 'deriving', heads: { unsafe: { number: 3 } }, wait: { reason: 'source-head' } })
  await stop()
})

it('consensus/consensus: an idle engine that does not respond is an overdue wait within 16 s, whatever the L1 poll interval', async () => {
  const world = createWorld(holocene)
  const session = world.start(undefined, { headPollMs: 600_000 })
  await session.toTip()
  const waitsNow = () => session.driver.status().waits.map(({ reason, isOverdue }) => [reason, isOverdue])
  await world.clock.advanceMs(60_000)
  expect(waitsNow()).toEqual([['l1-head', false]])
  session.engine.turn('off')
  await world.clock.advanceMs(5_000)
  expect(waitsNow()).toContainEqual(['engine', false])
  await world.clock.advanceMs(11_000)
  expect(waitsNow()).toContainEqual(['engine', true])
  session.engine.turn('on')
  await world.clock.advanceMs(10_000)
  expect(waitsNow()).toEqual([['l1-head', false]])
  await session.stop()
})
