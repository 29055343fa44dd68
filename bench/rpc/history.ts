// Reads of an account after the head and after random blocks of a long generated chain. One account changes in each block, 100 others in none: of these a
// read searches the index up to the head.
// npm run bench -- rpcHistory [--dir DIR] [--workers 1] [--rounds 3] [--seconds 4]: with --dir the chain is kept there (BASALT_BENCH_BLOCKS)
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { dice } from '#test/harness/dice'
import { median, type Row, row } from '../format.ts'
import { caller, createLogsWorld, emitterAt, emitters, logsWorldIn } from './chains.ts'
import { type Load, perSec, runLoad } from './load.ts'
import { type BenchNode, inFolder, withEachNode } from './servers.ts'

const blocks = Number(process.env['BASALT_BENCH_BLOCKS'] ?? 100_000)
const requests = 20_000
const connections = 32
/** asked: rate at the head ÷ rate at random blocks */
const goal = 5

type HistoryOptions = { readonly workers?: string; readonly rounds?: number; readonly seconds?: number; readonly dir?: string }

const kinds = {
  'an account that each block changes': () => caller,
  'accounts that no block changes': (below: (count: number) => number) => emitterAt(below(emitters)),
} as const

function bodies(accountOf: (typeof kinds)[keyof typeof kinds], at: 'latest' | 'any'): readonly string[] {
  const below = dice(1)
  return Array.from({ length: requests }, (_, id) => {
    const block = at === 'latest' ? at : `0x${(1 + below(blocks)).toString(16)}`
    return JSON.stringify({ jsonrpc: '2.0', id, method: 'eth_getTransactionCount', params: [accountOf(below), block] })
  })
}

async function measure(node: BenchNode, folder: string, { rounds = 3, seconds = 4 }: HistoryOptions): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const [name, accountOf] of Object.entries(kinds)) {
    const spec = { url: node.url, connections, seconds }
    const drawn = { latest: bodies(accountOf, 'latest'), any: bodies(accountOf, 'any') }
    const { failed, wrong, sample } = await runLoad(folder, { ...spec, seconds: 1, bodies: drawn.any, way: 'check' })
    if (failed + wrong > 0) throw new Error(`${name}: ${wrong} wrong answers: ${sample}`)
    const runs: Record<keyof typeof drawn, Load[]> = { latest: [], any: [] }
    for (let round = 0; round < rounds; round++) {
      for (const at of ['latest', 'any'] as const) {
        runs[at].push(await runLoad(folder, { ...spec, bodies: drawn[at], seed: round, way: 'measure' }))
      }
    }
    const factor = median(runs.latest.map(perSec)) / median(runs.any.map(perSec))
    const latency = { p50Ms: median(runs.any.map(({ p50Ms }) => p50Ms)), p99Ms: median(runs.any.map(({ p99Ms }) => p99Ms)) }
    const facts = { latest: median(runs.latest.map(perSec)), factor: Number(factor.toFixed(2)), goal, ...latency }
    rows.push({ ...row(`${name}, at a random block of ${blocks} · ${node.name}`, 'req/s', runs.any.map(perSec)), facts })
  }
  return rows
}

export function run(options: HistoryOptions): Promise<readonly Row[]> {
  return inFolder('history', async (folder) => {
    const { dir } = options
    const world = dir !== undefined && existsSync(join(dir, 'logs')) ? logsWorldIn(dir) : await createLogsWorld(dir ?? folder, blocks)
    return withEachNode(world, options.workers ?? '1', (node) => measure(node, folder, options))
  })
}
