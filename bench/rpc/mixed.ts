// Latencies under 200 requests a second while blocks of 12 Mgas arrive five times a second over the Engine API.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { l2RefOf } from '#chainspec/l2Ref'
import type { Engine } from '#engine/port'
import { systemClock } from '#lib/clock'
import { usualRpcThreads } from '#node/threads/rpcThreadCount'
import type { Payload } from '#types/payload'
import { type Row, row } from '../format.ts'
import { engineOf } from './engine.ts'
import { type Facts, readFacts } from './facts.ts'
import { buildMixedBlocks } from './mixedBlocks.ts'
import { type BenchNode, importWorld, inFolder, withEachNode } from './servers.ts'

const requestsPerSec = 200
const blocksPerSec = 5
/** seconds of the same load before the measurement: a node that has just started compiles its code */
const warmSec = 5
const goals: Readonly<Record<string, number>> = { cheap: 25, call: 60 }

type Told = { readonly class: string; readonly count: number; readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number }
type Answer = { readonly told: readonly Told[]; readonly failed: number; readonly lost: number; readonly sample: string }

/** One line for each request that may be drawn, by class; the first lines define the order of the classes. */
function requestLines({ accounts, holders, token, blocks }: Facts): string {
  const line = (kind: string, method: string, params: readonly unknown[]): string =>
    JSON.stringify({ class: kind, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })
  const of = <T>(list: readonly T[]): readonly T[] => list.slice(0, 2_000)
  const transactions = blocks.flatMap((block) => block.transactions)
  return [
    ...['eth_blockNumber', 'eth_chainId', 'eth_gasPrice', 'net_version'].map((method) => line('cheap', method, [])),
    ...of(accounts).flatMap((account) => [
      line('cheap', 'eth_getBalance', [account, 'latest']),
      line('cheap', 'eth_getTransactionCount', [account, 'latest']),
      line('cheap', 'eth_getCode', [account, 'latest']),
    ]),
    ...of(holders).map((holder) =>
      line('call', 'eth_call', [{ to: token, data: `0x70a08231${holder.slice(2).padStart(64, '0')}` }, 'latest']),
    ),
    ...of(transactions).map((hash) => line('transaction', 'eth_getTransactionReceipt', [hash])),
    ...of(transactions).map((hash) => line('transaction', 'eth_getTransactionByHash', [hash])),
    ...blocks.map(({ number }) => line('block', 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false])),
    ...blocks.map(({ number }) =>
      line('block', 'eth_getLogs', [{ address: token, fromBlock: `0x${number.toString(16)}`, toBlock: `0x${number.toString(16)}` }]),
    ),
  ].join('\n')
}

/** Sends the payloads at their rate. @returns milliseconds until each was the head */
async function feed(engine: Engine, payloads: readonly Payload[], config: Parameters<typeof l2RefOf>[0]): Promise<readonly number[]> {
  const heads = await engine.heads()
  const took: number[] = []
  const startMs = performance.now()
  for (const [index, payload] of payloads.entries()) {
    const dueMs = startMs + (index * 1_000) / blocksPerSec
    if (dueMs > performance.now()) await systemClock.delay(dueMs - performance.now())
    const beginMs = performance.now()
    const inserted = await engine.insert(payload)
    if (inserted.kind === 'invalid') throw new Error(inserted.reason)
    await engine.setHeads({ ...heads, unsafe: l2RefOf(config, payload) })
    took.push(performance.now() - beginMs)
  }
  return took
}

async function measure(node: BenchNode, payloads: readonly Payload[], folder: string, seconds: number): Promise<readonly Row[]> {
  const { engine, config } = engineOf(node)
  const file = join(folder, 'paced.jsonl')
  writeFileSync(file, requestLines(await readFacts(node)))
  await feed(engine, payloads.slice(0, 2), config)
  const client = [join(import.meta.dirname, 'pacedClient.ts'), node.url, file, ...[requestsPerSec, seconds, warmSec].map(String)]
  const asking = promisify(execFile)(process.execPath, client)
  const took = (await feed(engine, payloads.slice(2), config)).slice(warmSec * blocksPerSec)
  const { told, failed, lost, sample } = JSON.parse((await asking).stdout) as Answer
  if (failed + lost > 0) process.stderr.write(`${failed} failed, ${lost} without answer: ${sample}\n`)
  const sorted = took.toSorted((a, b) => a - b)
  const block = {
    blocks: took.length,
    blockP50Ms: sorted[sorted.length >> 1] ?? 0,
    blockP99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
  }
  const gas = Number(payloads.slice(2).reduce((sum, { gasUsed }) => sum + gasUsed, 0n)) / (payloads.length - 2) / 1e6
  return told.map(({ class: kind, count, p50Ms, p99Ms, maxMs }) => ({
    ...row(
      `${kind}: p99 in ms, ${requestsPerSec} req/s, ${blocksPerSec} blocks/s of ${gas.toFixed(1)} Mgas · ${node.name}`,
      'ms, less is better',
      [p99Ms],
    ),
    facts: { count, p50Ms, p99Ms, maxMs, failed, lost, ...block, ...(goals[kind] !== undefined && { goalP99Ms: goals[kind] }) },
  }))
}

/** @param workers numbers of RPC threads, each measured; absent: a node's default @param seconds of load */
export function run({
  workers = String(usualRpcThreads()),
  seconds = 120,
}: {
  readonly workers?: string
  readonly seconds?: number
}): Promise<readonly Row[]> {
  return inFolder('mixed', async (folder) => {
    const world = await importWorld(folder)
    const payloads = await buildMixedBlocks(world, (seconds + warmSec) * blocksPerSec)
    return withEachNode(world, workers, (node) => measure(node, payloads, folder, seconds))
  })
}
