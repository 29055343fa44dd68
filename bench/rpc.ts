// Responses a second, compared with base-reth-node on the recording machine: every row of the data's README, by a separate load generator.
// The factor is ours / (theirs × r): r is the rate of a bare `node:http` here, measured before each run, divided by its rate there.
import { availableParallelism } from 'node:os'
import { median, type Row } from './format.ts'
import { generator, type Load, perSec, runLoad } from './rpc/load.ts'
import { type BenchRow, benchRows, type Facts, readFacts } from './rpc/rows.ts'
import { importWorld, inFolder, type Server, startAnvil, startBare, withEachNode } from './rpc/servers.ts'

/** requests a second of a bare `node:http` on the recording machine */
const yardstick = 23_500

export type RpcOptions = {
  /** pattern for names of rows */
  readonly only?: string
  readonly rounds?: number
  /** numbers of RPC threads, comma-separated: each is measured */
  readonly workers?: string
  /** of one run */
  readonly seconds?: number
}

type Place = { readonly folder: string; readonly bare: Server; readonly anvil: Server; readonly facts: Facts; readonly seconds: number }

const ask = (
  place: Place,
  { url }: Server,
  bodies: readonly string[],
  { connections, lengthened = 1 }: Pick<BenchRow, 'connections' | 'lengthened'>,
): Promise<Load> => runLoad(place.folder, { url, bodies, connections, seconds: place.seconds * lengthened, way: 'measure' })

const bareBodies = [JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })]
/** accounts that anvil funds at its start */
const anvilAccounts = ['0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266', '0x70997970c51812dc3a010c7d01b50e0d17dc79c8']

/** Runs a short load and checks every response; it also warms the node up. @throws Error when an answer is an error or null */
async function check(
  place: Place,
  node: Server,
  { name, connections, lengthened = 1 }: BenchRow,
  bodies: readonly string[],
): Promise<void> {
  if (bodies.length === 0) throw new Error(`${name}: nothing to ask`)
  const seconds = Math.min(2, place.seconds) * lengthened
  const { requests, failed, wrong, sample } = await runLoad(place.folder, { url: node.url, bodies, connections, seconds, way: 'check' })
  if (requests === 0 || failed + wrong > 0) throw new Error(`${name}: ${requests} answers, ${wrong} wrong, ${failed} failed: ${sample}`)
}

async function measure(place: Place, node: Server, line: BenchRow, rounds: number): Promise<Row> {
  const bodies = line.bodies(place.facts)
  await check(place, node, line, bodies)
  const runs: { ours: Load; bare: number; anvil: number | undefined }[] = []
  for (let round = 0; round < rounds; round++) {
    const bare = perSec(await ask(place, place.bare, bareBodies, { connections: 32 }))
    const anvil = line.anvil && perSec(await ask(place, place.anvil, line.anvil(anvilAccounts), line))
    runs.push({ ours: await ask(place, node, bodies, line), bare, anvil })
  }
  const ours = runs.map((run) => perSec(run.ours))
  const factors = runs.map((run) => perSec(run.ours) / ((line.baseReth * run.bare) / yardstick))
  const anvils = runs.flatMap(({ anvil }) => (anvil === undefined ? [] : [anvil]))
  const digits = (value: number): number => Number(value.toFixed(3))
  return {
    ...{ name: `${line.name} · ${node.name}`, value: median(ours), unit: 'req/s', runs: ours },
    against: { name: 'bare node:http', value: median(runs.map(({ bare }) => bare)), runs: runs.map(({ bare }) => bare) },
    facts: {
      ...{ baseReth: line.baseReth, goal: line.goal, connections: line.connections, generator },
      ...{ factorMin: digits(Math.min(...factors)), factor: digits(median(factors)), factorMax: digits(Math.max(...factors)) },
      ...{ p50Ms: median(runs.map((run) => run.ours.p50Ms)), p99Ms: median(runs.map((run) => run.ours.p99Ms)) },
      ...{ bytesOfAnAnswer: Math.round(median(runs.map((run) => run.ours.bytes / Math.max(1, run.ours.requests)))) },
      ...(anvils.length > 0 && { anvilMin: Math.min(...anvils), anvil: median(anvils), anvilMax: Math.max(...anvils) }),
    },
  }
}

/** Measures every row with one node, one after the other. */
async function measureAll(node: Server, place: Omit<Place, 'facts'>, { only = '', rounds = 3 }: RpcOptions): Promise<readonly Row[]> {
  const wanted = new RegExp(only, 'i')
  const facts = await readFacts(node)
  const rows: Row[] = []
  for (const line of benchRows.filter(({ name }) => wanted.test(name))) {
    const row = await measure({ ...place, facts }, node, line, rounds)
    process.stderr.write(`${row.name}: ${row.value.toFixed(1)} req/s, factor ${row.facts?.['factor']} (goal ${line.goal})\n`)
    rows.push(row)
  }
  return rows
}

/** Useful numbers of threads: none, one, … one for each core. */
const allWorkers = Array.from({ length: availableParallelism() + 1 }, (_, workers) => workers).join()

export function run(options: RpcOptions): Promise<readonly Row[]> {
  return inFolder('rpc', async (folder) => {
    const world = await importWorld(folder)
    await using bare = await startBare()
    await using anvil = await startAnvil()
    const place = { folder, bare, anvil, seconds: options.seconds ?? 3 }
    return await withEachNode(world, options.workers ?? allWorkers, (node) => measureAll(node, place, options))
  })
}
