import { expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import {
  createSequencerHost,
  derivedElsewhere,
  headOf,
  originsOf,
  postRest,
  type SequencerHost,
  type SequencerRun,
} from '#test/harness/consensus/sequencer'
import { configUpdate, depositLog, receiptOf } from '#test/harness/derive/l1'
import { configContract, DeriveWorld, forksTo, genesisTimeSec, portal, userTransaction } from '#test/harness/derive/world'
import { emptyRoot } from '#types/ids'
import { depositType } from '#types/transaction'

const pool = (number: number) => [userTransaction(number)]
const number = (run: SequencerRun): number => headOf(run).blockNumber

/** Node that has read L1's genesis and sequences on it. */
async function begin(
  changes: Partial<RollupConfig> = {},
  fork: Parameters<typeof forksTo>[0] = 'jovian',
): Promise<{ host: SequencerHost; run: SequencerRun }> {
  const host = createSequencerHost(new DeriveWorld(forksTo(fork), changes), pool)
  return { host, run: host.start() }
}

/** Posts all blocks that are not safe, mines until they are, and compares them with the blocks that another node derives. */
async function settleAll(host: SequencerHost, run: SequencerRun): Promise<void> {
  const { world } = host
  world.mine({ transactions: postRest(world, run) })
  await host.pass(3)
  const elsewhere = await derivedElsewhere(world)
  expect(run.engine.hashes().slice(0, elsewhere.length)).toEqual(elsewhere)
  expect(elsewhere.length).toBeGreaterThan(run.engine.durable.heads.safe.number)
  expect(run.ended()).toBeUndefined()
}

it('consensus/sequencer: builds a block from one block time before its timestamp on, and makes it the head just before its timestamp', async () => {
  const { host, run } = await begin()
  await host.pass(0)
  expect(run.sequencer.status().phase).toBe('building')
  await host.pass(1.9)
  expect(number(run)).toBe(0)
  await host.pass(0.1)
  expect(number(run)).toBe(1)
  expect(run.sequencer.status()).toMatchObject({ phase: 'building', sealedBlocks: 1, last: { block: { number: 1 }, transactions: 2 } })
  await host.pass(8)
  expect(number(run)).toBe(5)
  expect(headOf(run).timestamp).toBe(genesisTimeSec + 10)
  const metrics = await run.registry.metrics()
  expect(metrics).toContain('basalt_sequencer_blocks_total{outcome="sealed"} 5\n')
  expect(metrics).toContain('basalt_sequencer_late_blocks_total 0\n')
})

it('consensus/sequencer: builds blocks of one second', async () => {
  const { host, run } = await begin({ blockTimeSec: 1 })
  await host.pass(10)
  expect(number(run)).toBe(10)
  await settleAll(host, run)
})

it('consensus/sequencer: takes each L1 block as origin as soon as its time allows, with its deposits and config updates', async () => {
  const { host, run } = await begin()
  const { world } = host
  await host.pass(9)
  world.mine({ receipts: [receiptOf([depositLog(portal, 'user', 5n), configUpdate(configContract, 2, [77_000_000n])])] })
  await host.pass(12)
  world.mine()
  await host.pass(12)
  const origins = originsOf(world, run)
  expect(origins).toEqual([...Array(6).fill(0), ...Array(6).fill(1), ...Array(5).fill(2)])
  const first = run.engine.durable.chain[6]
  expect(first?.transactions.filter(([type]) => type === depositType)).toHaveLength(2)
  expect(first?.gasLimit).toBe(77_000_000n)
  await settleAll(host, run)
  expect(run.engine.durable.heads.safe.number).toBe(16)
})

it('consensus/sequencer: an L1 block is an origin once it has the configured confirmations', async () => {
  const host = createSequencerHost(new DeriveWorld(forksTo('jovian')), pool)
  const run = host.start({ l1ConfirmationBlocks: 3 })
  await host.pass(1)
  for (let mined = 0; mined < 5; mined++) {
    await host.pass(12)
    host.world.mine()
  }
  await host.pass(11)
  expect(originsOf(host.world, run).at(-1)).toBe(2)
})

it('consensus/sequencer: while L1 is late, builds full blocks up to the drift, then waits', async () => {
  const { host, run } = await begin({ maxSequencerDriftSec: 40 }, 'ecotone')
  await host.pass(60)
  expect(headOf(run).timestamp).toBe(genesisTimeSec + 40)
  expect(run.engine.durable.chain.slice(1).every(({ transactions }) => transactions.length === 2)).toBe(true)
  expect(run.driver.waits.current.map(({ reason }) => reason)).toContain('sequencer-origin')
  expect(run.sequencer.status().phase).toBe('waiting')
  host.world.mine({}, 58)
  await host.pass(3)
  const { chain } = run.engine.durable
  // up to the next origin's time they are empty; from then on they have transactions again
  const empty = chain.filter(({ timestamp }) => timestamp > genesisTimeSec + 40 && timestamp < genesisTimeSec + 58)
  expect(empty).toHaveLength(8)
  expect(empty.every(({ transactions }) => transactions.length === 1)).toBe(true)
  expect(headOf(run).timestamp).toBe(genesisTimeSec + 62)
  expect(headOf(run).transactions).toHaveLength(2)
  expect(run.driver.waits.current.map(({ reason }) => reason)).not.toContain('sequencer-origin')
  await settleAll(host, run)
})

it('consensus/sequencer: the drift is 1,800 s from Fjord on', { timeout: 20_000 }, async () => {
  const { host, run } = await begin()
  host.clock.jumpMs(1_900_000)
  await host.pass(2)
  expect(headOf(run).timestamp).toBe(genesisTimeSec + 1_800)
  host.world.mine({}, 1_890)
  await host.pass(3)
  expect(headOf(run).timestamp).toBe(genesisTimeSec + 1_904)
  await settleAll(host, run)
})

it('consensus/sequencer: after a long stop it catches up at once, each block with an origin of its time', { timeout: 20_000 }, async () => {
  const { host, run } = await begin({ maxSequencerDriftSec: 60 }, 'ecotone')
  await host.pass(6)
  await run.stop()
  for (let mined = 0; mined < 100; mined++) host.world.mine()
  host.clock.jumpMs(1_200_000)
  const again = host.start()
  await host.pass(3)
  expect(headOf(again).timestamp).toBe(genesisTimeSec + 1_208)
  expect(originsOf(host.world, again).at(-1)).toBe(100)
  expect(again.engine.durable.chain.slice(1).every(({ transactions }) => transactions.length >= 2)).toBe(true)
  await settleAll(host, again)
})

it('consensus/sequencer: after a stop beyond the sequencing window it continues where derivation has filled it, first without user transactions', {
  timeout: 20_000,
}, async () => {
  const { host, run } = await begin({ sequencingWindowBlocks: 20 })
  await host.pass(50)
  for (let mined = 0; mined < 4; mined++) host.world.mine()
  await run.stop()
  for (let mined = 0; mined < 60; mined++) host.world.mine()
  host.clock.jumpMs(718_000)
  const again = host.start()
  await host.pass(3)
  const { chain, heads } = again.engine.durable
  // the earlier blocks were never posted
  expect(heads.safe.l1Origin.number).toBe(44)
  const firstOfUsers = chain.findIndex(({ transactions }) => transactions.length > 1)
  expect(originsOf(host.world, again)[firstOfUsers]).toBe(49)
  expect(headOf(again).timestamp).toBe(genesisTimeSec + 770)
  await settleAll(host, again)
  expect(again.engine.durable.heads.safe.timestamp).toBe(genesisTimeSec + 770)
})

it('consensus/sequencer: crosses every fork; the first block has no pool transactions, except with Azul, which has no such rule', async () => {
  const forks = ['ecotone', 'fjord', 'granite', 'holocene', 'isthmus', 'jovian'] as const
  const times = Object.fromEntries(forks.map((fork, at) => [fork, genesisTimeSec + 20 + 15 * at]))
  const azul = genesisTimeSec + 20 + 15 * forks.length
  const schedule = { ...forksTo('delta'), ...times, azul }
  const host = createSequencerHost(new DeriveWorld(schedule), pool)
  const run = host.start()
  for (let mined = 0; mined < 11; mined++) {
    await host.pass(12)
    host.world.mine({ transactions: mined % 2 === 1 ? postRest(host.world, run) : [] })
  }
  await host.pass(4)
  const quiet = run.engine.durable.chain.slice(1).filter(({ transactions }) => transactions.every(([type]) => type === depositType))
  const first = (at: number): number => genesisTimeSec + 2 * Math.ceil(at / 2)
  expect(quiet.map(({ timestamp }) => timestamp)).toEqual(forks.map((_, at) => first(20 + 15 * at)))
  expect(headOf(run).timestamp).toBeGreaterThan(azul)
  await settleAll(host, run)
  expect(await run.registry.metrics()).toContain('basalt_consensus_derived_blocks_total{outcome="built"} 0\n')
})

it('consensus/sequencer: when L1 replaces the origin, drops the blocks on it and continues', async () => {
  const { host, run } = await begin()
  const { world } = host
  await host.pass(12)
  world.mine()
  await host.pass(12)
  world.mine({ header: { extraData: Uint8Array.of(1) } })
  await host.pass(6)
  expect(originsOf(world, run).at(-1)).toBe(2)
  const replaced = headOf(run)
  world.reorg(1)
  world.mine({ header: { extraData: Uint8Array.of(2) } })
  world.mine({}, 6)
  await host.pass(4)
  expect(run.engine.hashes()).not.toContain(replaced.blockHash)
  expect(headOf(run).timestamp).toBe(genesisTimeSec + 34)
  expect(originsOf(world, run).at(-1)).toBe(3)
  expect(host.lines.filter(({ msg }) => msg === 'unsafe blocks dropped')).toHaveLength(1)
  await settleAll(host, run)
})

it('consensus/sequencer: builds nothing on a head whose origin derivation contradicts, until the head is dropped', async () => {
  const { host, run } = await begin()
  const { world } = host
  await host.pass(11)
  // the sequencer is ahead of derivation
  host.cutL1('numbered')
  world.mine({ header: { extraData: Uint8Array.of(1) } })
  await host.pass(6)
  expect(originsOf(world, run).at(-1)).toBe(1)
  world.reorg(1)
  world.mine({ header: { extraData: Uint8Array.of(2) } })
  host.cutL1('ref')
  await host.pass(12)
  const { length } = host.asked
  const stale = headOf(run)
  await host.pass(20)
  expect([host.asked.length, headOf(run).blockHash]).toEqual([length, stale.blockHash])
  expect(run.driver.waits.has('sequencer-origin')).toBe(true)
  host.cutL1()
  await host.pass(12)
  expect(run.engine.hashes()).not.toContain(stale.blockHash)
  await settleAll(host, run)
})

it('consensus/sequencer: builds nothing until derivation has read L1 to its head, so that a restart does not fork the posted chain', async () => {
  const { host, run } = await begin()
  const { world } = host
  await host.pass(23)
  world.mine({ transactions: postRest(world, run) })
  await run.stop()
  // the execution half has lost its tail, and derivation gets no block of L1
  const posted = headOf(run)
  run.engine.turn('on', 4)
  host.cutL1('numbered')
  const again = host.start()
  await host.pass(10)
  expect(headOf(again).blockNumber).toBe(4)
  host.cutL1()
  await host.pass(12)
  expect(again.engine.durable.chain[posted.blockNumber]?.blockHash).toBe(posted.blockHash)
  expect(headOf(again).blockNumber).toBeGreaterThan(posted.blockNumber)
  await settleAll(host, again)
})

it('consensus/sequencer: continues with the current origin while L1 is unreachable', async () => {
  const { host, run } = await begin()
  await host.pass(4)
  host.cutL1('head', 'ref', 'block')
  host.world.mine()
  await host.pass(60)
  expect(headOf(run).timestamp).toBe(genesisTimeSec + 64)
  host.cutL1()
  await host.pass(15)
  expect(originsOf(host.world, run).at(-1)).toBe(1)
  await settleAll(host, run)
})

it('consensus/sequencer: follows a wall clock that is set forward and back, and builds no block twice', async () => {
  const { host, run } = await begin()
  await host.pass(10)
  host.clock.jumpMs(20_000)
  await host.pass(2)
  expect(headOf(run).timestamp).toBe(genesisTimeSec + 32)
  host.clock.jumpMs(-20_000)
  await host.pass(20)
  expect(headOf(run).timestamp).toBe(genesisTimeSec + 34)
  await host.pass(6)
  expect(headOf(run).timestamp).toBe(genesisTimeSec + 38)
  await settleAll(host, run)
})

it('consensus/sequencer: after an engine was killed during a build and lost its tail, derivation restarts and blocks follow', async () => {
  const { host, run } = await begin()
  await host.pass(11)
  run.engine.turn('off')
  await host.pass(9)
  run.engine.turn('on', 2)
  await host.pass(30)
  expect(run.driver.status().resets).toBeGreaterThan(0)
  expect(headOf(run).timestamp).toBe(genesisTimeSec + 50)
  await settleAll(host, run)
})

it('consensus/sequencer: retries an engine that fails once within the block', async () => {
  const { host, run } = await begin()
  await host.pass(4)
  run.engine.turn('off')
  await host.pass(0.5)
  run.engine.turn('on')
  await host.pass(3.5)
  expect(headOf(run).timestamp).toBe(genesisTimeSec + 8)
})

it('consensus/sequencer: when stopped, drops the block being built; starts on the unsafe head only (SEQUENCER_STATE)', async () => {
  const { host, run } = await begin()
  const { sequencer } = run
  await host.pass(5)
  const stopped = await sequencer.stop()
  expect(stopped).toBe(headOf(run).blockHash)
  await expect(sequencer.stop()).rejects.toMatchObject({ code: 'SEQUENCER_STATE', message: 'sequencer not running' })
  await host.pass(20)
  expect([headOf(run).blockNumber, sequencer.isActive(), sequencer.status().phase]).toEqual([2, false, 'stopped'])
  const wrong = host.world.config.genesis.l2.hash
  await expect(sequencer.start(wrong)).rejects.toThrow(`block hash does not match: head ${stopped}, received ${wrong}`)
  await sequencer.start(stopped)
  await expect(sequencer.start(stopped)).rejects.toThrow('sequencer already running')
  await host.pass(1)
  expect(headOf(run).timestamp).toBe(genesisTimeSec + 26)
  await settleAll(host, run)
})

it('consensus/sequencer: builds nothing before `start` when it is created stopped', async () => {
  const host = createSequencerHost(new DeriveWorld(forksTo('jovian')), pool)
  const run = host.start({ isStopped: true })
  await expect(run.sequencer.start(host.world.config.genesis.l2.hash)).rejects.toThrow('no prestate')
  await host.pass(10)
  expect(number(run)).toBe(0)
  await run.sequencer.start(headOf(run).blockHash)
  await host.pass(2)
  expect(headOf(run).timestamp).toBe(genesisTimeSec + 12)
})

it('consensus/sequencer: builds on a block inserted meanwhile and drops the pending one', async () => {
  const { host, run } = await begin()
  const { world } = host
  await host.pass(5)
  const other = createSequencerHost(world, (at) => [userTransaction(1_000 + at)])
  other.clock.jumpMs(6_000)
  const elsewhere = other.start()
  await other.pass(1)
  const { signal } = new AbortController()
  const offered = await run.driver.inbox.insert(elsewhere.engine.durable.chain.slice(1, 4), signal)
  expect(offered).toMatchObject({ kind: 'inserted', head: { number: 3 } })
  await host.pass(3)
  const { chain } = run.engine.durable
  expect(chain[3]?.blockHash).toBe(elsewhere.engine.durable.chain[3]?.blockHash)
  expect(headOf(run).blockNumber).toBe(4)
  expect(l2RefOf(world.config, headOf(run)).parentHash).toBe(chain[3]?.blockHash)
})

it('consensus/sequencer: builds nothing while the safe head is too far behind, then continues', async () => {
  const host = createSequencerHost(new DeriveWorld(forksTo('jovian')), pool)
  const run = host.start({ maxSafeLagSec: 20 })
  await host.pass(40)
  expect(headOf(run).timestamp).toBe(genesisTimeSec + 20)
  expect(run.driver.status().waits.map(({ reason }) => reason)).toContain('sequencer-lag')
  host.world.mine({ transactions: postRest(host.world, run) })
  await host.pass(4)
  expect(headOf(run).timestamp).toBe(genesisTimeSec + 40)
  expect(run.engine.durable.heads.safe.number).toBe(10)
})

it('consensus/sequencer: ends before the first block of an unknown fork that L1 publishes while it runs (UNSUPPORTED_FORK)', async () => {
  const host = createSequencerHost(new DeriveWorld(forksTo('jovian')), pool)
  const run = host.start()
  await host.pass(4)
  run.driver.forks.publish({ times: [...Array<number>(14).fill(0), genesisTimeSec + 9] })
  await host.pass(8)
  expect(headOf(run).timestamp).toBe(genesisTimeSec + 8)
  expect(run.ended()).toMatchObject({ code: 'UNSUPPORTED_FORK' })
  await expect(run.sequencer.start(headOf(run).blockHash)).rejects.toMatchObject({ code: 'SEQUENCER_STATE' })
  expect(run.sequencer.isActive()).toBe(false)
})

it('consensus/sequencer: an L1 block that the blob schedule does not explain is no origin, and ends it (L1_BLOB_SCHEDULE)', async () => {
  const { host, run } = await begin()
  host.world.mine({ header: { withdrawalsRoot: emptyRoot, blobGasUsed: 0n, excessBlobGas: 131_072n } })
  await host.pass(20)
  expect(l2RefOf(host.world.config, headOf(run)).l1Origin.number).toBe(0)
  expect(run.ended()).toMatchObject({ code: 'L1_BLOB_SCHEDULE' })
})
