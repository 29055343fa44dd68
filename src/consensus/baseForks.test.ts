import { expect, it } from 'vitest'
import { timestampOf } from '#chainspec/blockTime'
import { networkOf } from '#chainspec/networks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { StartPoint } from '#derive/ports'
import { createLog, type Log, silentLog } from '#lib/log'
import { createHost } from '#test/harness/consensus/execution'
import { createMemoryL1 } from '#test/harness/consensus/l1'
import { ScriptedPipeline } from '#test/harness/consensus/pipeline'
import { executeNothing, payloadOf } from '#test/harness/engine/engine'
import { zeroHash } from '#types/ids'

/** Base's published activation times. L2 blocks there have odd times: the last block before, the first block after. */
const azulSec = 1_779_991_200
const berylSec = 1_782_410_400
const cobaltSec = 1_790_791_200
const denimSec = 1_793_901_600
/** Last block before Beryl. */
const lastNumber = 47_810_526
/** A schedule on L1 with a fork that no version knows, at the time of Beryl. */
const unknownFork = { times: [...Array<number>(14).fill(0), berylSec] }
const forkName = '14 of the schedule on L1'
const { config: base } = networkOf('base')

/** Base mainnet: a node with its blocks up to this number, and an L1 with the batches of the next six. */
function createBase(number: number, startMs: number, log: Log = silentLog) {
  const l1 = createMemoryL1(timestampOf(base, number) - 12)
  const origin = l1.mine()
  const head = payloadOf({ number: number - 1, hash: zeroHash }, { timestamp: timestampOf(base, number), transactions: [] })
  // block times count from the anchor, which is before Denim
  const anchor = { l1: origin, l2: { number, hash: head.blockHash }, l2TimeSec: head.timestamp }
  const config: RollupConfig = { ...base, genesis: { ...base.genesis, ...anchor } }
  const batches = Array.from({ length: 6 }, (_, at) => ({ number: number + 1 + at, origin: origin.number, tag: '' }))
  for (const batch of batches) l1.mine({ batches: [batch] })
  const createPipeline = (start: StartPoint) => {
    const pipeline = new ScriptedPipeline(config)
    pipeline.reset(start)
    return pipeline
  }
  return createHost({ l1, config, genesis: head, execute: executeNothing, createPipeline, log, startMs })
}

it.each([
  ['Azul', azulSec, [-7, -5, -3, -1, 1, 3, 5]],
  ['Beryl', berylSec, [-7, -5, -3, -1, 1, 3, 5]],
  ['Cobalt', cobaltSec, [-7, -5, -3, -1, 1, 3, 5]],
  ['Denim', denimSec, [-7, -5, -3, -1, 1, 1, 1]],
])('consensus/driver: derives across %s on Base', async (_fork, forkSec, expected) => {
  const number = lastNumber - 3 + (forkSec - berylSec) / 2
  const session = createBase(number, forkSec * 1000).start()
  await session.toTip()
  const times = session.engine.durable.chain.map(({ timestamp }) => timestamp - forkSec)
  expect(times).toEqual(expected)
  expect(session.driver.status()).toMatchObject({ phase: 'deriving', heads: { safe: { number: number + 6 } } })
  await session.stop()
})

it.each([0, 1, 4])(
  'consensus/driver: on Base, %i blocks before a fork that only L1 names, builds these and stops before the next (UNSUPPORTED_FORK)',
  async (before) => {
    const session = createBase(lastNumber - before, berylSec * 1000).start()
    session.driver.forks.publish(unknownFork)
    await expect(session.toTip()).rejects.toMatchObject({
      ...{ code: 'UNSUPPORTED_FORK', severity: 'fatal' },
      data: { fork: forkName, activationSec: berylSec, timestampSec: berylSec + 1 },
    })
    const { phase, fault, heads } = session.driver.status()
    expect([phase, fault?.code]).toEqual(['stopped', 'UNSUPPORTED_FORK'])
    expect([heads?.safe.number, heads?.safe.timestamp]).toEqual([lastNumber, berylSec - 1])
    expect(session.engine.durable.chain.map(({ timestamp }) => timestamp).at(-1)).toBe(berylSec - 1)
    expect(session.engine.durable.chain).toHaveLength(before + 1)
    await expect(session.engine.payload(lastNumber + 1)).resolves.toBeUndefined()
  },
)

it.each([
  ['17 days ahead: no warning', 17, 0],
  ['13 days ahead: once a day', 13, 3],
  ['1 day ahead', 1, 3],
])('consensus/driver: on Base, warns of a fork that only L1 names, %s', async (_what, daysAhead, lines) => {
  const written: Record<string, unknown>[] = []
  const log = createLog('warn', { write: (line) => void written.push(JSON.parse(line)) })
  const world = createBase(lastNumber - 20, (berylSec - daysAhead * 86_400) * 1000, log)
  const session = world.start(undefined, { headPollMs: 6 * 3_600_000 })
  session.driver.forks.publish(unknownFork)
  await session.toTip()
  for (let sixHours = 0; sixHours < 9; sixHours++) await world.clock.advanceMs(6 * 3_600_000)
  const warnings = written.filter(({ fork }) => fork === forkName)
  expect(warnings).toHaveLength(lines)
  for (const warning of warnings) expect(warning).toMatchObject({ level: 'warn', activationSec: berylSec })
  await session.stop()
})
