import type { RollupConfig } from '#chainspec/rollupConfig'
import { type Clock, systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import type { ChainView } from '#types/chainView'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { depositType } from '#types/transaction'
import { headerOfPayload } from '../../../src/engine/payloadHeader.ts'
import { rangeOf, readBodies, readHeaders, readReceipts } from '../../../src/executionPeers/chainReads.ts'
import { ExecutionNode, type ExecutionNodeDeps } from '../../../src/executionPeers/net/executionNode.ts'
import { createPrivateKey } from '../../../src/executionPeers/rlpx/ecies.ts'
import type { ExecutionPeersReport, ExecutionPeersSettings } from '../../../src/executionPeers/thread/protocol.ts'
import { blockOf } from '../p2p/chain.ts'

/** Returns `count` linked blocks, each with its own transactions. */
export function filledChain(config: RollupConfig, from: number, count: number, bytes = 40): readonly Payload[] {
  const blocks: Payload[] = []
  for (let i = 0; i < count; i++) {
    const raw = new Uint8Array(bytes).fill((from + i) & 0xff)
    raw.set([depositType, ...Buffer.from(String(from + i))])
    blocks.push(blockOf(config, from + i, blocks.at(-1)?.blockHash, 0, [raw, raw.slice(0, 20)]))
  }
  return blocks
}

/** Returns a view of canonical blocks in memory. */
export function viewOf(config: RollupConfig, blocks: readonly Payload[]): ChainView {
  const byNumber = new Map(blocks.map((block) => [block.blockNumber, block]))
  const byHash = new Map(blocks.map((block) => [block.blockHash, block]))
  const last = blocks.at(-1)
  const latest = { number: last?.blockNumber ?? 0, hash: last?.blockHash ?? config.genesis.l2.hash }
  const view = {
    heads: { latest, safe: latest, finalized: latest },
    oldestBlock: 0,
    canonicalHash: (number: number) => (number === 0 ? config.genesis.l2.hash : byNumber.get(number)?.blockHash),
    header: (hash: Hash) => {
      const block = byHash.get(hash)
      return block && headerOfPayload(config.schedule, block)
    },
    block: (hash: Hash) => {
      const block = byHash.get(hash)
      return block && { hash, block: { header: headerOfPayload(config.schedule, block), transactions: block.transactions }, senders: [] }
    },
    receipts: (hash: Hash) => (byHash.has(hash) ? [] : undefined),
    [Symbol.dispose]: () => {},
  }
  return view as unknown as ChainView
}

/** Settings of a node without peers, on any free port of this machine. */
export const settingsOf = (
  config: RollupConfig,
  more: Partial<ExecutionPeersSettings> = {},
): Omit<ExecutionPeersSettings, 'chain'> & Partial<ExecutionPeersSettings> => ({
  ...{ config, identity: createPrivateKey(), agent: 'test', host: '127.0.0.1', port: 0, advertisedHost: '127.0.0.1' },
  ...{ hasDiscovery: false, bootnodes: { v4: [], v5: [] }, staticPeers: [], trustedPeers: [], maxPeers: 30 },
  ...more,
})

export type TestNode = AsyncDisposable & { readonly node: ExecutionNode; readonly enode: string; readonly reports: ExecutionPeersReport[] }

/** Starts a node in this thread over a chain in memory. */
export async function startTestNode(
  config: RollupConfig,
  blocks: () => readonly Payload[],
  more: Partial<ExecutionPeersSettings> = {},
  clock: Clock = systemClock,
  main: Partial<ExecutionNodeDeps['main']> = {},
): Promise<TestNode> {
  const view = () => viewOf(config, blocks())
  const reports: ExecutionPeersReport[] = []
  const elapsedMs = () => clock.elapsedMs()
  const last = blocks().at(-1)
  const node = await ExecutionNode.start(
    {
      ...{ clock, log: silentLog },
      main: {
        headers: async (query) => readHeaders(view(), query, elapsedMs),
        bodies: async (hashes) => readBodies(view(), hashes, elapsedMs),
        receipts: async (version, hashes) => readReceipts(view(), version, hashes, elapsedMs),
        isCanonical: async ({ number, hash }) => view().canonicalHash(number) === hash,
        report: (report) => void reports.push(report),
        ...main,
      },
    },
    { chain: { range: rangeOf(view()), timestampSec: last?.timestamp ?? config.genesis.l2TimeSec }, ...settingsOf(config, more) },
  )
  return { node, enode: node.listening.enode, reports, [Symbol.asyncDispose]: () => node.close() }
}

/** Clock on which time passes faster. */
export const fast = (factor: number): Clock => ({
  ...systemClock,
  elapsedMs: () => systemClock.elapsedMs() * factor,
  after: (ms, run) => systemClock.after(ms / factor, run),
  delay: (ms, signal) => systemClock.delay(ms / factor, signal),
})

/** Waits until a condition holds. @throws Error after ten seconds */
export async function until(isTrue: () => boolean | Promise<boolean>, what = 'condition'): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (await isTrue()) return
    await systemClock.delay(20)
  }
  throw new Error(`${what}: not within ten seconds`)
}

/** Reads all blocks of a gap. */
export async function readGap(node: ExecutionNode, id: number): Promise<readonly Payload[]> {
  const blocks: Payload[] = []
  for (;;) {
    const next = await node.nextBlocks(id)
    if (next === 'unavailable') throw new Error('unavailable')
    if (next.length === 0) return blocks
    blocks.push(...next)
  }
}
