import { Registry } from 'prom-client'
import { expect, it, vi } from 'vitest'
import type { Execution } from '#blockchain/execution'
import { Driver, defaultDriverOptions } from '#consensus/driver'
import { consensusMetrics } from '#consensus/metrics'
import { createSafeHeadStore } from '#consensus/safeHeadStore'
import { createPipeline } from '#derive/pipeline'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { recordedChains } from '#test/harness/chain/l2Blocks'
import { createMemoryTable } from '#test/harness/consensus/execution'
import { createRecordedNodes, type RecordedNodes } from '#test/harness/consensus/nodes'
import { engineClient, serveEngine } from '#test/harness/engine/server'

const untilMs = { timeout: 60_000, interval: 20 }

/** Driver on the recorded L1 whose execution half is behind the Engine API. */
function overHttp(nodes: RecordedNodes, url: string): Driver {
  const { config, l1 } = nodes
  return new Driver(
    {
      engine: engineClient(url, config),
      createPipeline: (point) => createPipeline(config, point, silentLog),
      l1,
      store: createSafeHeadStore(createMemoryTable()),
      clock: systemClock,
      random: () => 0,
      log: silentLog,
      metrics: consensusMetrics.register(new Registry()),
    },
    { ...defaultDriverOptions, config, headPollMs: 50, labelPollMs: 50, commitMs: 50 },
  )
}

async function serve(nodes: RecordedNodes, execution: Execution, port = 0) {
  return await serveEngine({ execution, engine: execution, config: nodes.config, port })
}

it.each(recordedChains)(
  'engine/engineHttp: %s: imports unsafe blocks, consolidates them without execution and derives the others',
  async (name) => {
    const nodes = createRecordedNodes(name)
    const { payloads, safeHeads } = nodes
    nodes.reveal(nodes.config.genesis.l1.number)
    const { engine, executed } = nodes.open()
    await using server = await serve(nodes, engine)
    const driver = overHttp(nodes, server.url)
    const control = new AbortController()
    const ended = driver.run(control.signal)
    const half = payloads.length >>> 1
    expect(await driver.inbox.insert(payloads.slice(1, half), control.signal)).toMatchObject({ kind: 'inserted' })
    expect(executed()).toBe(half - 1)
    nodes.reveal(safeHeads.length - 1)
    const last = payloads.at(-1)
    await vi.waitFor(() => expect(driver.status().heads?.safe.hash).toBe(last?.blockHash), untilMs)
    const finalized = safeHeads.at(-6)
    await vi.waitFor(() => expect(engine.published.heads.finalized.number).toBe(finalized), untilMs)
    expect(engine.published.heads).toMatchObject({ unsafe: { hash: last?.blockHash }, safe: { hash: last?.blockHash } })
    // a block that is built over the Engine API is executed once, not again when it is inserted
    expect(executed()).toBe(payloads.length - 1)
    expect(driver.status().resets).toBe(0)
    control.abort()
    await ended
    await engine.close()
  },
  120_000,
)

it.each([
  ['with all acknowledged blocks', false],
  ['without the blocks that were not committed', true],
])(
  'engine/engineHttp: op-ecotone-to-jovian: continues when the execution half is killed and restarts %s',
  async (_what, isLost) => {
    const nodes = createRecordedNodes('op-ecotone-to-jovian')
    const { payloads, safeHeads } = nodes
    const first = nodes.open()
    const server = await serve(nodes, first.engine)
    const { port } = new URL(server.url)
    const driver = overHttp(nodes, server.url)
    const control = new AbortController()
    const ended = driver.run(control.signal)
    nodes.reveal(safeHeads.length >>> 1)
    const middle = safeHeads[safeHeads.length >>> 1] ?? 0
    await vi.waitFor(() => expect(driver.status().heads?.safe.number).toBe(middle), untilMs)
    first.engine.commit()
    await driver.inbox.insert(payloads.slice(middle + 1, middle + 20), control.signal)
    await server[Symbol.asyncDispose]()
    if (isLost) nodes.loseJournal()
    const offer = driver.inbox.insert(payloads.slice(middle + 20), control.signal)
    await vi.waitFor(() => expect(driver.status().waits.map(({ reason }) => reason)).toContain('engine'), untilMs)
    const second = nodes.open()
    await using back = await serve(nodes, second.engine, Number(port))
    expect(back.url).toBe(server.url)
    expect((await offer).kind).toBe(isLost ? 'gap' : 'inserted')
    if (isLost) expect(await driver.inbox.insert(payloads.slice(middle + 1), control.signal)).toMatchObject({ kind: 'inserted' })
    nodes.reveal(safeHeads.length - 1)
    const last = payloads.at(-1)
    await vi.waitFor(() => expect(driver.status().heads?.safe.hash).toBe(last?.blockHash), untilMs)
    // no resync: committed blocks are not executed again, journalled blocks are executed once at the start
    expect(second.executed()).toBeLessThanOrEqual(payloads.length - 1 - middle)
    control.abort()
    await ended
  },
  120_000,
)
