import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { RollupConfig } from '#chain/rollupConfig'
import { createRecordedL1, serveL1 } from '#devnet/recordedL1'
import { type Clock, systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { createMemoryKv } from '#store/memoryKv'
import { rpcCall } from '#test/harness/cliProcess'
import { emptyChain, type GeneratedChain } from '#test/harness/generatedChain'
import { anyPort, l1At, nodeOptions } from '#test/harness/nodeOptions'
import { type Node, startNode } from './node.ts'
import type { NodeOptions } from './nodeOptions.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-sequencer-'))
afterAll(() => rmSync(base, { recursive: true }))

/** A chain with one-second blocks and an L1 of so many blocks, 12 s apart. */
async function withL1(l1Blocks: number): Promise<{ chain: GeneratedChain; config: RollupConfig; url: string } & AsyncDisposable> {
  const kv = createMemoryKv()
  const chain = emptyChain(kv)
  for (let made = 0; made < l1Blocks; made++) chain.l1.mine()
  const l1 = createRecordedL1(chain.l1.recording(), { head: l1Blocks })
  const server = await serveL1((exchange) => l1.reply(exchange), 0)
  const config = { ...chain.config, blockTimeSec: 1 }
  return { chain, config, url: server.url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

/** The system's clock, set so that it shows so many milliseconds after the chain's genesis now. */
function clockAt(config: RollupConfig, afterGenesisMs: number): Clock {
  const offsetMs = config.genesis.l2TimeSec * 1_000 + afterGenesisMs - systemClock.nowMs()
  return { ...systemClock, nowMs: () => systemClock.nowMs() + offsetMs }
}

let dirs = 0
const optionsOf = (chain: GeneratedChain, config: RollupConfig, url: string, changes: Partial<NodeOptions> = {}): NodeOptions =>
  nodeOptions(
    {
      ...{ mode: 'all', datadir: join(base, String(dirs++)), l1: l1At(url), isAdminOn: true },
      ...{ listen: { http: anyPort, rollup: anyPort }, sequencer: { l1ConfirmationBlocks: 0, isStopped: false } },
      ...changes,
    },
    { config, genesis: chain.genesis },
  )

const start = (config: RollupConfig, options: NodeOptions, afterMs: number): Promise<Node> =>
  startNode({ clock: clockAt(config, afterMs), random: () => 0, fetch, log: silentLog }, options)

async function untilHead(node: Node, number: number): Promise<void> {
  while ((node.execution?.published.heads.unsafe.number ?? 0) < number) await systemClock.delay(20)
}

it('node/sequencerPart: a node seals the blocks that are due, then one a second, with origins as L1 has them', {
  timeout: 20_000,
}, async () => {
  await using l1 = await withL1(3)
  await using node = await start(l1.config, optionsOf(l1.chain, l1.config, l1.url), 20_000)
  await untilHead(node, 23)
  const block = (await rpcCall(node.urls.http ?? '', 'eth_getBlockByNumber', ['0x17', false])) as { timestamp: string }
  expect(Number(block.timestamp)).toBe(l1.config.genesis.l2TimeSec + 23)
  const status = (await rpcCall(node.urls.rollup ?? '', 'optimism_syncStatus')) as { unsafe_l2: { l1origin: { number: number } } }
  expect(status.unsafe_l2.l1origin.number).toBe(1)
  expect(node.sequencer?.status()).toMatchObject({ isActive: true, last: { block: { number: 23 }, transactions: 1 } })
  expect(Math.abs(node.sequencer?.status().last?.lateMs ?? 1_000)).toBeLessThan(500)
})
