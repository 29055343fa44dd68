// Time to execute flashblocks whose senders the main thread helps to recover, compared with recovery in the execution thread alone. Two execution
// threads, each with one RPC thread, take turns on the same blocks; for each block one of them has help. Each transaction is new to both.
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { SharedSenders } from '#block/execution/sharedSenders'
import { createExecution, type Execution } from '#blockchain/execution'
import { importPayloads } from '#blockchain/importPayloads'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import type { Genesis } from '#chainspec/genesis'
import { l2RefOf } from '#chainspec/l2Ref'
import { parseRollupConfig, type RollupConfig } from '#chainspec/rollupConfig'
import { createWasmEvm } from '#evm/wasmEvm'
import { type ExecutionWorker, startExecutionWorker } from '#executionThread/executionThread'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { rpcThreadsMetrics } from '#node/metrics'
import { startRpcThreads } from '#node/threads/rpcThreads'
import { createFilters } from '#rpc/filters/filters'
import { flashblocksOf } from '#test/harness/flashblocks/flashblocks'
import { readShared, readSharedJson } from '#test/harness/sharedData'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { Flashblock } from '#types/flashblock'
import type { Payload } from '#types/payload'
import { median, type Row } from './format.ts'
import { threadCpuMs, threadsNamed } from './processTree.ts'
import { generator, runLoad } from './rpc/load.ts'
import { type GenesisNote, inFolder, rollupOf } from './rpc/servers.ts'

const genesisFile = 'bench/mixed-42-blocks.genesis.json'
const threadName = 'basalt execution'
const fewestTransactions = 500
/** large blocks of each pass: the first ones only warm up */
const [warmBlocks, largeBlocks] = [6, 26]
const loadBodies = ['0x1', '0x2', '0x3', '0x4'].map((block, id) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'eth_getBlockByNumber', params: [block, false] }),
)

type Chain = { readonly config: RollupConfig; readonly genesis: Genesis; readonly maker: Execution; readonly payloads: readonly Payload[] }
type Node = AsyncDisposable & {
  readonly execution: ExecutionWorker
  readonly url: string /** of the execution thread */
  readonly tid: number
}
type Way = 'helped' | 'alone'
/** of one block: milliseconds from each flashblock to its outcome, and of the execution thread's CPU for each on average */
type Times = { readonly each: readonly number[]; readonly cpuMs: number }

/** The recorded blocks, executed once in memory. */
async function readChain(): Promise<Chain> {
  const { genesis } = parseBaseGenesisNote(readSharedJson(genesisFile))
  const lines = readShared('bench/mixed-42-blocks.jsonl.zst').toString('utf8').trimEnd().split('\n')
  const { p: first } = JSON.parse(lines[0] ?? '') as { p: { parentHash: string } }
  const { config } = parseRollupConfig(rollupOf(readSharedJson<GenesisNote>(genesisFile), first.parentHash))
  const deps = { kv: createMemoryKv(), evm: createWasmEvm(), config, genesis: () => genesis, clock: systemClock, log: silentLog }
  const maker = createExecution(deps)
  const payloads: Payload[] = []
  await importPayloads(maker, config, lines, (payload) => payloads.push(payload))
  return { config, genesis, maker, payloads }
}

/** An execution thread and one RPC thread over its chain. */
async function startNode({ config, genesis }: Chain, folder: string): Promise<Node> {
  await using parts = new AsyncDisposableStack()
  const deps = { clock: systemClock, log: silentLog }
  const dir = mkdtempSync(join(folder, 'chain-'))
  const before = threadsNamed(threadName)
  const execution = parts.use(await startExecutionWorker({ ...deps, genesis: () => genesis }, { dir, config, minFreeBytes: 0 }))
  const threads = parts.use(
    await startRpcThreads(
      {
        ...{ ...deps, execution, sync: () => undefined, problems: () => [], sequencer: undefined },
        ...{ filters: createFilters(deps), metrics: rpcThreadsMetrics.register(new Registry()) },
      },
      { count: 1, config, version: 'bench', listen: { http: { host: '127.0.0.1', port: 0, flag: 'http.port' } }, hasPending: true },
    ),
  )
  const tid = threadsNamed(threadName).find((each) => !before.includes(each)) ?? 0
  const kept = parts.move()
  return { execution, tid, url: threads.urls.http ?? '', [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

const own = SharedSenders.prototype.help
/** Chooses whether this thread helps with the flashblocks from now on. */
function choose(way: Way): void {
  SharedSenders.prototype.help = way === 'helped' ? own : () => {}
}

async function follow({ execution, tid }: Node, flashblocks: readonly Flashblock[], way: Way): Promise<Times> {
  choose(way)
  const times: number[] = []
  const cpuMs = threadCpuMs(tid)
  for (const flashblock of flashblocks) {
    const after = execution.published.pending?.blocks.at(-1)
    const startMs = performance.now()
    const outcome = await execution.pending.take(flashblock, after, Number.MAX_SAFE_INTEGER)
    times.push(performance.now() - startMs)
    if (outcome.kind === 'refused') throw new Error(outcome.text)
  }
  const each = times.slice(1) // the first flashblock holds the deposit only
  return { each, cpuMs: (threadCpuMs(tid) - cpuMs) / each.length }
}

async function insert({ config }: Chain, { execution }: Node, payload: Payload): Promise<void> {
  const inserted = await execution.insert(payload)
  if (inserted.kind !== 'valid') throw new Error(inserted.kind)
  await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, payload) })
}

/** Requests to an RPC thread until disposed. */
function startLoad(folder: string, url: string): AsyncDisposable {
  let isOver = false
  const loads = (async () => {
    while (!isOver) await runLoad(folder, { url, bodies: loadBodies, connections: 8, seconds: 1, way: 'measure' })
  })()
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      isOver = true
      await loads
    },
  }
}

/** `flashblocks`: into which each block is cut. */
type Pass = { readonly flashblocks: number; readonly rpc: 'idle' | 'busy' }
const nameOf = ({ flashblocks, rpc }: Pass): string => `${flashblocks} flashblocks of a block, RPC thread ${rpc}`

/** Indexes that put the deposit into the first flashblock and the other transactions into the others, in equal parts. */
const cutsOf = (transactions: number, flashblocks: number): readonly number[] =>
  Array.from({ length: flashblocks - 1 }, (_, i) => 1 + Math.floor((i * (transactions - 1)) / (flashblocks - 1)))

/** Executes the chain once in two execution threads. */
async function measure(chain: Chain, folder: string, pass: Pass): Promise<Row> {
  const { flashblocks, rpc } = pass
  await using one = await startNode(chain, folder)
  await using other = await startNode(chain, folder)
  await using _load = rpc === 'busy' ? startLoad(folder, one.url) : undefined
  const times: Record<Way, Times[]> = { helped: [], alone: [] }
  let each = 0
  let measured = 0
  for (const payload of chain.payloads) {
    const { length } = payload.transactions
    if (length >= fewestTransactions) {
      const all = flashblocksOf(chain.maker, payload, cutsOf(length, flashblocks))
      for (const [way, node] of turnOf(measured, one, other)) {
        times[way].push(await follow(node, all, way))
      }
      each = Math.round((length - 1) / (flashblocks - 1))
      if (++measured === largeBlocks) break
    }
    for (const node of [one, other]) await insert(chain, node, payload)
  }
  const warm: typeof times = { helped: times.helped.slice(warmBlocks), alone: times.alone.slice(warmBlocks) }
  return rowOf(`${nameOf(pass)}: execution of one, about ${each} transactions`, warm)
}

/** Returns which node executes a block in which way, in order: each combination has its turn. */
function turnOf(block: number, one: Node, other: Node): readonly (readonly [Way, Node])[] {
  const [helped, alone] = block & 2 ? [one, other] : [other, one]
  const both = [['helped', helped] as const, ['alone', alone] as const]
  return block & 1 ? both : both.reverse()
}

function rowOf(name: string, times: Readonly<Record<Way, readonly Times[]>>): Row {
  const sums = (way: Way): readonly number[] => times[way].map(({ each }) => each.reduce((sum, ms) => sum + ms, 0) / each.length)
  const at = (way: Way, part: number): number => {
    const sorted = times[way].flatMap(({ each }) => each).sort((a, b) => a - b)
    return Number((sorted[Math.floor(part * sorted.length)] ?? 0).toFixed(3))
  }
  const cpu = (way: Way): number => Number(median(times[way].map(({ cpuMs }) => cpuMs)).toFixed(3))
  const ratios = sums('alone').map((ms, i) => ms / (sums('helped')[i] ?? ms))
  const row: Row = {
    ...{ name, value: median(sums('helped')), unit: 'ms, less is better', runs: sums('helped') },
    against: { name: 'execution thread alone', value: median(sums('alone')), runs: sums('alone') },
    facts: {
      ...{ ratio: Number(median(ratios).toFixed(3)), blocks: ratios.length, generator },
      ...{ threadCpuMs: cpu('helped'), threadCpuMsAlone: cpu('alone') },
      ...{ p10Ms: at('helped', 0.1), p10MsAlone: at('alone', 0.1) },
      ...{ p50Ms: at('helped', 0.5), p50MsAlone: at('alone', 0.5), p99Ms: at('helped', 0.99), p99MsAlone: at('alone', 0.99) },
    },
  }
  process.stderr.write(`${name}: ${row.value.toFixed(2)} against ${row.against?.value.toFixed(2)} ms, ratio ${row.facts?.['ratio']}\n`)
  return row
}

/** @param only pattern for names of passes */
export function run({ only = '' }: { readonly only?: string }): Promise<readonly Row[]> {
  const wanted = new RegExp(only, 'i')
  return inFolder('shared-senders', async (folder) => {
    const chain = await readChain()
    const passes: readonly Pass[] = [
      { flashblocks: 10, rpc: 'idle' },
      { flashblocks: 40, rpc: 'idle' },
      { flashblocks: 10, rpc: 'busy' },
      { flashblocks: 40, rpc: 'busy' },
    ]
    const rows: Row[] = []
    for (const pass of passes.filter((each) => wanted.test(nameOf(each)))) rows.push(await measure(chain, folder, pass))
    return rows
  })
}
