import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { parseBaseGenesisNote } from '#chain/baseGenesis'
import { agreeWithGenesis } from '#chain/genesis'
import { parseRollupConfig } from '#chain/rollupConfig'
import { createDriver, type DriverOptions, defaultDriverOptions } from '#consensus/driver'
import { consensusMetrics } from '#consensus/metrics'
import type { OrderedTable } from '#consensus/ports'
import { createSafeHeadStore } from '#consensus/safeHeadStore'
import { createPipeline } from '#derive/pipeline'
import { createReferenceEvm } from '#evm/referenceEvm'
import { createExecution } from '#execution/execution'
import { silentLog } from '#lib/log'
import { createMemoryKv } from '#store/memoryKv'
import { createManualClock } from '#test/harness/clock'
import { createMemoryTable, runSession } from '#test/harness/consensus'
import { createRecordedHost } from '#test/harness/consensusRecorded'
import { recordedChains } from '#test/harness/l2Blocks'
import { readSharedJson } from '#test/harness/sharedData'

class Kill extends Error {}

/** Both halves in one process, on memory stores that outlive it. */
function createNodes(name: string) {
  const { l1, recording, safeHeads, reveal } = createRecordedHost(name)
  const { genesis } = parseBaseGenesisNote(readSharedJson(`chains/${name}/l2.json.zst`))
  const config = agreeWithGenesis(parseRollupConfig(readSharedJson(`chains/${name}/rollup.json`)), genesis)
  const [kv, clock] = [createMemoryKv(), createManualClock()]
  let rows: Parameters<typeof createMemoryTable>[1] = []

  function start(effect: (name: string) => void = () => {}, options: Partial<DriverOptions> = {}) {
    const engine = createExecution({
      kv,
      evm: createReferenceEvm(),
      config,
      genesis: () => genesis,
      clock,
      log: silentLog,
      onCommit: (phase) => effect(phase),
    })
    const table: OrderedTable = createMemoryTable(effect, rows)
    const store = createSafeHeadStore(table)
    const driver = createDriver(
      {
        engine,
        createPipeline: (point) => createPipeline(config, point, silentLog),
        l1,
        store,
        clock,
        random: () => 0,
        log: silentLog,
        metrics: consensusMetrics.register(new Registry()),
      },
      { ...defaultDriverOptions, config, ...options },
    )
    return { engine, store, ...runSession(driver, clock, l1) }
  }
  const loseStore = () => {
    rows = []
  }
  return { start, reveal, loseStore, payloads: recording.payloads, safeHeads }
}

describe.each(recordedChains)('%s', (name) => {
  it('both halves: killed around commits again and again, no head is lost and all hashes are those recorded', async () => {
    const { start, payloads, safeHeads } = createNodes(name)
    let [lives, shown] = [0, 0]
    for (let end: unknown = new Kill(); end instanceof Kill; lives++) {
      let count = 0
      const limit = 1 + ((lives * 7) % 12)
      const effect = () => {
        if (++count >= limit) throw new Kill()
      }
      const session = start(effect, { commitBlocks: 1 + (lives % 4) })
      expect((await session.engine.heads()).safe.number).toBeGreaterThanOrEqual(shown)
      end = await session.toTip().catch((error: unknown) => error)
      await session.stop()
      shown = (await session.engine.heads()).safe.number
    }
    const last = start()
    await last.toTip()
    const { safe } = await last.engine.heads()
    expect(lives).toBeGreaterThan(10)
    expect([safe.number, safe.hash]).toEqual([payloads.length - 1, payloads.at(-1)?.blockHash])
    for (const { blockNumber, blockHash } of payloads) expect((await last.engine.payload(blockNumber))?.blockHash).toBe(blockHash)
    expect(safeHeads.map((_, l1Number) => last.store.atOrBelow(l1Number)?.safe.number ?? 0)).toEqual(safeHeads)
  })

  it('both halves: without the safe head store the chain is unwound to the finalized head and derived again', async () => {
    const { start, payloads, loseStore, safeHeads } = createNodes(name)
    const first = start()
    await first.toTip()
    await first.stop()
    const finalized = safeHeads.at(-6) ?? 0
    expect((await first.engine.heads()).finalized.number).toBe(finalized)
    loseStore()
    const second = start()
    await second.until(
      async () => (await second.engine.heads()).safe.number < payloads.length - 1 || second.driver.status().wait !== undefined,
    )
    await second.toTip()
    expect((await second.engine.heads()).safe.hash).toBe(payloads.at(-1)?.blockHash)
    expect(second.store.last()?.safe.hash).toBe(payloads.at(-1)?.blockHash)
    expect(second.store.atOrBelow(0)).toBeUndefined()
  })
})
