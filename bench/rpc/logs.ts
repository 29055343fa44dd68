// eth_getLogs by address and topic over a long generated chain: one response is 1,000 logs out of 300,000.
import { type Row, row } from '../format.ts'
import { createLogsWorld, emitterAt, emitters, logTopics } from './chains.ts'
import { type Load, perSec, runLoad } from './load.ts'
import { type BenchNode, inFolder, withEachNode } from './servers.ts'

const blocks = Number(process.env['BASALT_BENCH_BLOCKS'] ?? 100_000)
/** logs that match each filter, in each block range */
const hits = blocks / emitters

const bodies = Array.from({ length: emitters }, (_, index) =>
  logTopics.map((topic) => {
    const filter = { address: emitterAt(index), topics: [topic], fromBlock: '0x1', toBlock: `0x${blocks.toString(16)}` }
    return JSON.stringify({ jsonrpc: '2.0', id: index, method: 'eth_getLogs', params: [filter] })
  }),
).flat()

/** @throws Error when a response lacks a log */
async function checkHits(url: string): Promise<void> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: bodies[7] ?? '' })
  const { result } = (await response.json()) as { result?: readonly { blockNumber: string }[] }
  const numbers = new Set(result?.map(({ blockNumber }) => blockNumber))
  if (numbers.size !== hits || result?.length !== hits) throw new Error(`${result?.length} logs, not ${hits}`)
}

function rowOf(name: string, runs: readonly Load[]): Row {
  const facts = {
    goalP50Ms: 20,
    goalP99Ms: 100,
    p50Ms: Math.max(...runs.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...runs.map(({ p99Ms }) => p99Ms)),
  }
  return { ...row(name, 'req/s', runs.map(perSec)), facts }
}

type LogsOptions = { readonly workers?: string; readonly rounds?: number; readonly seconds?: number }

async function measure(node: BenchNode, folder: string, { rounds = 3, seconds = 5 }: LogsOptions): Promise<readonly Row[]> {
  await checkHits(node.url)
  const rows: Row[] = []
  for (const connections of [1, 4]) {
    const spec = { url: node.url, bodies, connections, seconds }
    const { failed, wrong, sample } = await runLoad(folder, { ...spec, way: 'check' })
    if (failed + wrong > 0) throw new Error(`eth_getLogs: ${wrong} wrong answers: ${sample}`)
    const runs: Load[] = []
    for (let round = 0; round < rounds; round++) runs.push(await runLoad(folder, { ...spec, way: 'measure' }))
    rows.push(rowOf(`eth_getLogs by address and topic, ${hits} of ${blocks * 3} logs, ${connections} connections · ${node.name}`, runs))
  }
  return rows
}

/** @param options.workers numbers of RPC threads, each measured */
export function run(options: LogsOptions): Promise<readonly Row[]> {
  return inFolder('logs', async (folder) => {
    const world = await createLogsWorld(folder, blocks)
    return withEachNode(world, options.workers ?? '0', (node) => measure(node, folder, options))
  })
}
