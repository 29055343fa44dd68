// Responses of a node's fast lane, compared with node:http in the same process. The clients differ in one header only: the fast lane knows
// x-request-id and does not know x-request-no, so the first request of a connection with the latter moves the connection to node:http.
import { median, type Row } from '../format.ts'
import { cpuSec } from '../processTree.ts'
import { type Facts, readFacts } from './facts.ts'
import { generator, type Load, perSec, runLoad } from './load.ts'
import { type BenchNode, importWorld, inFolder, withEachNode } from './servers.ts'

const lanes = { fast: 'x-request-id', node: 'x-request-no' } as const
type Lane = keyof typeof lanes
type Run = Load & { readonly cpuMicros: number }

const connections = 32
/** times that each row is warmed up in each lane, in parts of a run */
const warmShare = 0.5

/** Requests by row: one method with many parameters, or the three methods together. */
function requests({ accounts, token }: Facts): Readonly<Record<string, readonly string[]>> {
  const bodies = (method: string, params: (account: string) => readonly unknown[]): readonly string[] =>
    accounts.map((account, id) => JSON.stringify({ jsonrpc: '2.0', id, method, params: params(account) }))
  const balanceOf = (account: string): string => `0x70a08231${account.slice(2).padStart(64, '0')}`
  const numbers = bodies('eth_blockNumber', () => [])
  const balances = bodies('eth_getBalance', (account) => [account, 'latest'])
  const calls = bodies('eth_call', (account) => [{ to: token, data: balanceOf(account) }, 'latest'])
  return {
    ...{ eth_blockNumber: numbers, eth_getBalance: balances, 'eth_call balanceOf': calls },
    'the three in equal parts': [...numbers, ...balances, ...calls],
  }
}

type Place = { readonly folder: string; readonly node: BenchNode; readonly seconds: number; readonly rounds: number }

async function load({ folder, node, seconds }: Place, bodies: readonly string[], lane: Lane, way: 'measure' | 'check'): Promise<Run> {
  const length = way === 'check' ? seconds * warmShare : seconds
  const beforeSec = cpuSec(node.pid)
  const one = await runLoad(folder, { url: node.url, bodies, connections, seconds: length, way, header: lanes[lane] })
  const { requests: count, failed, wrong, sample } = one
  if (count === 0 || failed + wrong > 0) throw new Error(`${lane}: ${count} answers, ${wrong} wrong, ${failed} failed: ${sample}`)
  return { ...one, cpuMicros: ((cpuSec(node.pid) - beforeSec) * 1e6) / count }
}

async function measure(place: Place, name: string, bodies: readonly string[]): Promise<Row> {
  for (const lane of ['fast', 'node'] as const) await load(place, bodies, lane, 'check')
  const runs: Record<Lane, Run[]> = { fast: [], node: [] }
  for (let round = 0; round < place.rounds; round++) {
    const order = round % 2 === 0 ? (['fast', 'node'] as const) : (['node', 'fast'] as const)
    for (const lane of order) runs[lane].push(await load(place, bodies, lane, 'measure'))
  }
  const of = (lane: Lane, figure: (run: Run) => number): number => Number(median(runs[lane].map(figure)).toFixed(3))
  const ratios = runs.fast.map((run, i) => perSec(run) / perSec(runs.node[i] as Run))
  const figures = (['p50Ms', 'p99Ms', 'cpuMicros'] as const).flatMap((figure) => [
    [figure, of('fast', (run) => run[figure])],
    [`${figure}OfNode`, of('node', (run) => run[figure])],
  ])
  const made = {
    ...{ name: `${name} · ${place.node.name}`, value: of('fast', perSec), unit: 'req/s', runs: runs.fast.map(perSec) },
    against: { name: 'node:http alone', value: of('node', perSec), runs: runs.node.map(perSec) },
    facts: {
      ...{ ratio: Number(median(ratios).toFixed(3)), ratioMin: Math.min(...ratios), ratioMax: Math.max(...ratios) },
      ...(Object.fromEntries(figures) as Record<string, number>),
      ...{ connections, bodies: bodies.length, generator },
    },
  }
  process.stderr.write(`${made.name}: ${made.value.toFixed(0)} against ${made.against.value.toFixed(0)} req/s, ratio ${made.facts.ratio}\n`)
  return made
}

export type FastLaneOptions = {
  /** numbers of RPC threads, comma-separated: each is measured */
  readonly workers?: string
  /** of one run */
  readonly seconds?: number
  readonly rounds?: number
}

export function run({ workers = '1', seconds = 2, rounds = 7 }: FastLaneOptions): Promise<readonly Row[]> {
  return inFolder('fast-lane', async (folder) => {
    const world = await importWorld(folder)
    return await withEachNode(world, workers, async (node) => {
      const rows: Row[] = []
      const place = { folder, node, seconds, rounds }
      for (const [name, bodies] of Object.entries(requests(await readFacts(node)))) rows.push(await measure(place, name, bodies))
      return rows
    })
  })
}
