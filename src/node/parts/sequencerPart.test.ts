import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { serveL1 } from '#devnet/l1Server'
import { createRecordedL1 } from '#devnet/recordedL1'
import { type Clock, systemClock } from '#lib/clock'
import { toHex, toQuantity } from '#lib/hex'
import { KzgThread } from '#lib/kzg/kzgThread'
import { silentLog } from '#lib/log'
import { emptyChain, type GeneratedChain } from '#test/harness/chain/generatedChain'
import { keyOf, sign } from '#test/harness/derive/l1'
import { testAddress } from '#test/harness/evm/sessions'
import { rpcCall } from '#test/harness/process/cliProcess'
import { anyPort, l1At, nodeOptions } from '#test/harness/process/nodeOptions'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { type Node, startNode } from '../node.ts'
import type { NodeOptions } from '../nodeOptions.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-sequencer-'))
afterAll(() => rmSync(base, { recursive: true }))

/** A chain with one-second blocks and an L1 of the given number of blocks, 12 s apart. */
async function withL1(l1Blocks: number): Promise<{ chain: GeneratedChain; config: RollupConfig; url: string } & AsyncDisposable> {
  const kv = createMemoryKv()
  const chain = emptyChain(kv)
  for (let made = 0; made < l1Blocks; made++) chain.l1.mine()
  const l1 = createRecordedL1(chain.l1.recording(), { head: l1Blocks })
  const server = await serveL1((exchange) => l1.reply(exchange), 0)
  const config = { ...chain.config, blockTimeSec: 1 }
  return { chain, config, url: server.url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

/** A clock that starts the given number of milliseconds after the chain's genesis. @param haste factor by which it is faster than the system's */
function clockAt(config: RollupConfig, afterGenesisMs: number, haste: number): Clock {
  const startMs = systemClock.elapsedMs()
  const passedMs = (): number => (systemClock.elapsedMs() - startMs) * haste
  return {
    nowMs: () => config.genesis.l2TimeSec * 1_000 + afterGenesisMs + passedMs(),
    elapsedMs: passedMs,
    delay: (ms, signal) => systemClock.delay(ms / haste, signal),
    after: (ms, run) => systemClock.after(ms / haste, run),
  }
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

/** No block of L1 has blobs, so the thread that checks them never starts. */
const kzg = new KzgThread()

const start = (config: RollupConfig, options: NodeOptions, afterMs: number, haste = 1): Promise<Node> =>
  startNode({ clock: clockAt(config, afterMs, haste), random: () => 0, fetch, log: silentLog, kzg }, options)

async function untilHead(node: Node, number: number): Promise<void> {
  while ((node.execution?.published.heads.unsafe.number ?? 0) < number) await systemClock.delay(20)
}

/** Sends a transfer of the funded account. @returns its hash */
async function sendTransfer({ l2ChainId }: RollupConfig, url: string, nonce: number): Promise<string> {
  const tx = { type: 2, chainId: BigInt(l2ChainId), nonce: BigInt(nonce), gasLimit: 21_000n, to: testAddress(9), value: 1n }
  const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n, data: new Uint8Array(0), accessList: [] }
  return (await rpcCall(url, 'eth_sendRawTransaction', [toHex(sign({ ...tx, ...fees } as never, keyOf('user')))])) as string
}

it('node/parts/sequencerPart: seals due blocks, then one per second, with origins from L1', {
  timeout: 20_000,
}, async () => {
  await using l1 = await withL1(3)
  await using node = await start(l1.config, optionsOf(l1.chain, l1.config, l1.url), 14_000)
  await untilHead(node, 23)
  const block = (await rpcCall(node.urls.http ?? '', 'eth_getBlockByNumber', ['0x17', false])) as { timestamp: string }
  expect(Number(block.timestamp)).toBe(l1.config.genesis.l2TimeSec + 23)
  const status = (await rpcCall(node.urls.rollup ?? '', 'optimism_syncStatus')) as { unsafe_l2: { l1origin: { number: number } } }
  expect(status.unsafe_l2.l1origin.number).toBe(1)
  expect(node.sequencer?.status()).toMatchObject({ isActive: true, last: { block: { number: 23 }, transactions: 1 } })
  expect(Math.abs(node.sequencer?.status().last?.lateMs ?? 1_000)).toBeLessThan(500)
})

it('node/parts/sequencerPart: sequences on an execution half in another process, and continues its own chain after a restart', {
  timeout: 30_000,
}, async () => {
  await using l1 = await withL1(3)
  const { chain, config, url } = l1
  const jwtSecret = () => new Uint8Array(32).fill(7)
  const apart = { ...optionsOf(chain, config, url), jwtSecret }
  const { l1: _l1, sequencer: _sequencer, ...execution } = { ...apart, mode: 'execution' as const }
  await using half = await start(config, { ...execution, listen: { http: anyPort, engine: anyPort } }, 0, 4)
  const driving = {
    ...apart,
    ...{ mode: 'consensus' as const, datadir: join(base, String(dirs++)) },
    ...{ engine: { url: half.urls.engine ?? '' }, listen: { rollup: anyPort } },
  }
  let head: string
  {
    await using node = await start(config, driving, 20_000, 4)
    await untilHead(half, 22)
    const sent = await sendTransfer(config, half.urls.http ?? '', 0)
    await untilHead(half, (half.execution?.published.heads.unsafe.number ?? 0) + 2)
    expect(await rpcCall(half.urls.http ?? '', 'eth_getTransactionReceipt', [sent])).toMatchObject({ status: '0x1' })
    head = (await rpcCall(node.urls.rollup ?? '', 'admin_stopSequencer')) as string
    expect(half.execution?.published.heads.unsafe.hash).toBe(head)
  }
  const { number } = half.execution?.published.heads.unsafe ?? expect.fail()
  await using _again = await start(config, driving, (number + 6) * 1_000, 4)
  await untilHead(half, number + 6)
  using view = half.execution?.view()
  expect(view?.canonicalHash(number)).toBe(head)
})

it('node/parts/sequencerPart: stops on request, and starts again on the unsafe head', { timeout: 20_000 }, async () => {
  await using l1 = await withL1(1)
  await using node = await start(l1.config, optionsOf(l1.chain, l1.config, l1.url), 3_000)
  const call = (method: string, ...params: unknown[]) => rpcCall(node.urls.rollup ?? '', method, params)
  expect(await call('admin_sequencerActive')).toBe(true)
  await untilHead(node, 3)
  const head = await call('admin_stopSequencer')
  expect(head).toBe(node.execution?.published.heads.unsafe.hash)
  expect(await call('admin_sequencerActive')).toBe(false)
  await expect(call('admin_stopSequencer')).rejects.toThrow(/-32000.*sequencer not running/)
  await expect(call('admin_startSequencer', l1.config.genesis.l1.hash)).rejects.toThrow(/-32000.*block hash does not match: head/)
  await expect(call('admin_startSequencer', 'head')).rejects.toThrow(/-32602/)
  expect(await call('admin_startSequencer', head)).toBeNull()
  await expect(call('admin_startSequencer', head)).rejects.toThrow(/-32000.*sequencer already running/)
  const { number } = node.execution?.published.heads.unsafe ?? expect.fail()
  await untilHead(node, number + 1)
})

it('node/parts/sequencerPart: has no sequencer methods on a node without a sequencer', async () => {
  await using l1 = await withL1(0)
  const { sequencer: _, ...options } = optionsOf(l1.chain, l1.config, l1.url)
  await using node = await start(l1.config, options, 0)
  expect(node.sequencer).toBeUndefined()
  for (const method of ['admin_sequencerActive', 'admin_stopSequencer'])
    await expect(rpcCall(node.urls.rollup ?? '', method)).rejects.toThrow(/-32601/)
  await expect(rpcCall(node.urls.rollup ?? '', 'admin_startSequencer', [l1.config.genesis.l2.hash])).rejects.toThrow(/-32601/)
})

it.each<[string, Partial<NodeOptions>, string]>([
  ['without a consensus half', { mode: 'execution' }, 'OPTION_UNSUPPORTED'],
  ['that follows another node', { source: { url: 'http://127.0.0.1:9', hasProofs: false, maxAheadSec: 0 } }, 'OPTION_UNSUPPORTED'],
])('node/parts/sequencerPart: refuses a sequencer %s before anything starts (%#)', async (_case, changes, code) => {
  await using l1 = await withL1(0)
  await expect(start(l1.config, optionsOf(l1.chain, l1.config, l1.url, changes), 0)).rejects.toMatchObject({ code })
})

it('node/parts/sequencerPart: refuses a sequencer without L1, or with blocks of 200 ms (OPTION_MISSING, OPTION_UNSUPPORTED)', async () => {
  await using l1 = await withL1(0)
  const { l1: _, ...options } = optionsOf(l1.chain, l1.config, l1.url)
  await expect(start(l1.config, options, 0)).rejects.toMatchObject({ code: 'OPTION_MISSING' })
  const fast = { ...l1.config, blockTimeSec: 0.2 }
  await expect(start(fast, optionsOf(l1.chain, fast, l1.url), 0)).rejects.toMatchObject({ code: 'OPTION_UNSUPPORTED' })
})

it('node/parts/sequencerPart: includes sent transactions in the next block, each once', { timeout: 20_000 }, async () => {
  await using l1 = await withL1(1)
  await using node = await start(l1.config, optionsOf(l1.chain, l1.config, l1.url), 3_000, 2)
  const http = node.urls.http ?? ''
  await untilHead(node, 4)
  const head = (): number => node.execution?.published.heads.unsafe.number ?? 0
  const first = head() + 1
  const hashes = await Promise.all(Array.from({ length: 40 }, (_, nonce) => sendTransfer(l1.config, http, nonce)))
  const last = head() + 2
  await untilHead(node, last)
  const numbers = Array.from({ length: last - first + 1 }, (_, i) => toQuantity(BigInt(first + i)))
  const blocks = await Promise.all(numbers.map((number) => rpcCall(http, 'eth_getBlockByNumber', [number, false])))
  const included = (blocks as { transactions: string[] }[]).flatMap(({ transactions }) => transactions.slice(1))
  expect(included.toSorted()).toEqual(hashes.toSorted())
})
