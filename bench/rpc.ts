// Responses a second and their times, for each kind of request: 3,000 drawn requests, and one of them repeated. The chain is the recorded one of
// `../shared/data/bench`. Factors compare with base-reth-node on its recording machine: ours / (theirs × r), where r is the rate of a bare
// `node:http` here, measured before each run, divided by its rate there (`rpc/rows.ts`). `--peer` measures other servers of the same chain in turns with the node.

import { usualRpcThreads } from '#node/threads/rpcThreadCount'
import { rpcCall } from '#test/harness/process/cliProcess'
import { median, type Row } from './format.ts'
import { residentMb, threadsCpuMs } from './processTree.ts'
import { type Facts, readFacts } from './rpc/facts.ts'
import { generator, type Load, perSec, runLoad } from './rpc/load.ts'
import { type BenchRow, benchRows, bodiesOf } from './rpc/rows.ts'
import { type BenchNode, importWorld, inFolder, type Server, startBare, withEachNode } from './rpc/servers.ts'
import { bareRate, besideReth, digits } from './rpc/yardstick.ts'

const drawn = 3_000
/** requests that are sent once before a row, to find errors */
const sampled = 20
const defaultSeed = 99

export type RpcOptions = {
  /** pattern for names of rows */
  readonly only?: string
  readonly rounds?: number
  /** numbers of RPC threads, comma-separated: each is measured; absent: a node's default */
  readonly workers?: string
  /** of one run */
  readonly seconds?: number
  readonly seed?: number
  /** NAME=URL, comma-separated: servers of the same chain */
  readonly peer?: string
}

type Place = {
  readonly folder: string
  readonly bare: Pick<Server, 'url'>
  readonly node: BenchNode
  readonly peers: readonly Pick<Server, 'name' | 'url'>[]
  readonly facts: Facts
  readonly seconds: number
  readonly rounds: number
  readonly seed: number
}

/** A run of the load generator, with the node's processor time for a response in µs: all threads, and those that answer. */
type Run = Load & { readonly cpuMicros: number; readonly answerMicros: number }

/** names of the threads that answer requests: RPC threads, and the main thread */
const answering = /^(basalt rpc|MainThread|node)/

async function ask(place: Place, url: string, bodies: readonly string[], { connections }: BenchRow, round: number): Promise<Run> {
  const spec = { url, bodies, connections, seconds: place.seconds, seed: place.seed + round, way: 'measure' } as const
  const before = threadsCpuMs(place.node.pid)
  const load = await runLoad(place.folder, spec)
  const spent = [...threadsCpuMs(place.node.pid)].map(([name, ms]) => ({ name, ms: ms - (before.get(name) ?? 0) }))
  const micros = (of: typeof spent): number => (of.reduce((sum, { ms }) => sum + ms, 0) * 1_000) / Math.max(1, load.requests)
  return { ...load, cpuMicros: micros(spent), answerMicros: micros(spent.filter(({ name }) => answering.test(name))) }
}

/** Sends the first requests once. @throws Error when an answer is an error or null */
async function checkSample(url: string, { name }: BenchRow, bodies: readonly string[]): Promise<void> {
  for (const body of bodies.slice(0, sampled)) {
    const { method, params } = JSON.parse(body) as { method: string; params: readonly unknown[] }
    if ((await rpcCall(url, method, params)) === null) throw new Error(`${name}: null for ${body}`)
  }
}

/** Runs a short load in which every response is checked. @throws Error when one is an error or null */
async function checkAll({ folder, node, seed }: Place, { name, connections }: BenchRow, bodies: readonly string[]): Promise<void> {
  const { requests, failed, wrong, sample } = await runLoad(folder, { url: node.url, bodies, connections, seconds: 1, seed, way: 'check' })
  if (requests === 0 || failed + wrong > 0) throw new Error(`${name}: ${requests} answers, ${wrong} wrong, ${failed} failed: ${sample}`)
}

/** Rate and times of the runs of one server. */
function figures(runs: readonly Load[]): { readonly perSec: number; readonly min: number; readonly max: number; readonly p99Ms: number } {
  const rates = runs.map(perSec)
  return { perSec: median(rates), min: Math.min(...rates), max: Math.max(...rates), p99Ms: median(runs.map(({ p99Ms }) => p99Ms)) }
}

async function measure(place: Place, line: BenchRow): Promise<Row> {
  const { node, bare, peers, rounds } = place
  const bodies = bodiesOf(line, place.facts, place.seed, drawn)
  for (const { url } of [node, ...peers]) await checkSample(url, line, bodies)
  const runs: Run[] = []
  const repeated: Load[] = []
  const bareRates: number[] = []
  const ofPeers = peers.map((peer) => ({ ...peer, runs: [] as Load[] }))
  for (let round = 0; round < rounds; round++) {
    bareRates.push(await bareRate(place.folder, bare))
    runs.push(await ask(place, node.url, bodies, line, round))
    for (const peer of ofPeers) peer.runs.push(await ask(place, peer.url, bodies, line, round))
    repeated.push(await ask(place, node.url, bodies.slice(0, 1), line, round))
  }
  await checkAll(place, line, bodies)
  const { perSec: theirs, on } = line.baseReth
  const { against, recorded, factors } = besideReth(runs.map(perSec), bareRates, theirs, on)
  const again = figures(repeated)
  const made = {
    ...{ name: `${line.name} · ${node.name}`, value: median(runs.map(perSec)), unit: 'req/s', runs: runs.map(perSec) },
    against,
    facts: {
      ...recorded,
      ...{ goal: line.goal, connections: line.connections, generator, seed: place.seed },
      ...(line.baseReth.p99Ms !== undefined && { baseRethP99Ms: line.baseReth.p99Ms }),
      ...factors,
      ...{ p50Ms: median(runs.map(({ p50Ms }) => p50Ms)), p99Ms: median(runs.map(({ p99Ms }) => p99Ms)) },
      ...{ firstPerSec: digits(perSec(runs[0] as Load)), firstP99Ms: runs[0]?.p99Ms ?? 0 },
      ...{ cpuMicros: digits(median(runs.map((run) => run.cpuMicros))), answerMicros: digits(median(runs.map((run) => run.answerMicros))) },
      ...{ repeatedPerSec: digits(again.perSec), repeatedP99Ms: again.p99Ms },
      ...{ bytesOfAnAnswer: Math.round(median(runs.map((run) => run.bytes / Math.max(1, run.requests)))) },
      ...{ ownMb: Math.round(residentMb(node.pid).own) },
      ...Object.fromEntries(
        ofPeers.flatMap((peer) => Object.entries(figures(peer.runs)).map(([name, value]) => [`${peer.name} ${name}`, digits(value)])),
      ),
    },
  }
  tell(made)
  return made
}

function tell({ name, value, facts: { p99Ms, factor, goal, answerMicros, repeatedPerSec, repeatedP99Ms, baseRethP99Ms } }: Told): void {
  const asked = `factor ${factor} (goal ${goal}), p99 ${p99Ms} ms (theirs ${baseRethP99Ms ?? '–'})`
  const cpu = `${answerMicros} µs of the answering threads`
  process.stderr.write(`${name}: ${value.toFixed(1)} req/s, ${asked}, ${cpu}; repeated ${repeatedPerSec} req/s, p99 ${repeatedP99Ms} ms\n`)
}
type Told = { readonly name: string; readonly value: number; readonly facts: Readonly<Record<string, string | number>> }

/** @throws Error when an item is not NAME=URL */
function parsePeers(peer: string | undefined): Place['peers'] {
  return (peer?.split(',') ?? []).map((item) => {
    const at = item.indexOf('=')
    if (at < 1) throw new Error(`--peer ${item}: expected NAME=URL`)
    return { name: item.slice(0, at), url: item.slice(at + 1) }
  })
}

/** Measures every row with one node, one after the other. */
async function measureAll(place: Omit<Place, 'facts'>, only: string): Promise<readonly Row[]> {
  const wanted = new RegExp(only, 'i')
  const facts = await readFacts(place.node)
  const rows: Row[] = []
  for (const line of benchRows.filter(({ name }) => wanted.test(name))) rows.push(await measure({ ...place, facts }, line))
  return rows
}

export function run({ only = '', rounds = 3, workers, seconds = 4, seed = defaultSeed, peer }: RpcOptions): Promise<readonly Row[]> {
  const peers = parsePeers(peer)
  return inFolder('rpc', async (folder) => {
    const world = await importWorld(folder)
    await using bare = await startBare()
    const place = { folder, bare, peers, seconds, rounds, seed }
    return await withEachNode(world, workers ?? String(usualRpcThreads()), (node) => measureAll({ ...place, node }, only))
  })
}
