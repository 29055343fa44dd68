// Cost of the Engine API: the same calls to an execution in this process, directly and through its engine port over HTTP.

import { configOfGenesis, type ExecutionConfig } from '#block/executionConfig'
import { createExecution, type Execution } from '#blockchain/execution'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { l2RefOf } from '#chainspec/l2Ref'
import { parsePayload } from '#engine/payloadJson'
import type { Engine } from '#engine/port'
import { createWasmEvm } from '#evm/wasmEvm'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { attributesAt, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { engineClient, serveEngine } from '#test/harness/engine/server'
import { readShared, readSharedJson } from '#test/harness/sharedData'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { parseHash } from '#types/ids'
import type { Payload } from '#types/payload'
import { median, type Row, row } from './format.ts'

const rounds = 7
const blocks = 200
const insertions = 20

type Chain = { readonly genesis: ReturnType<typeof parseBaseGenesisNote>['genesis']; readonly config: ExecutionConfig }

const open = ({ genesis, config }: Chain): Execution =>
  createExecution({ kv: createMemoryKv(), evm: createWasmEvm(), config, genesis: () => genesis, clock: systemClock, log: silentLog })

/** Runs a measurement with an engine of a new chain: the execution itself, or a client of its port. */
async function withEngine<T>(chain: Chain, way: 'direct' | 'http', run: (engine: Engine) => Promise<T>): Promise<T> {
  await using execution = open(chain)
  if (way === 'direct') return await run(execution)
  await using server = await serveEngine({ execution, engine: execution, config: chain.config })
  return await run(engineClient(server.url, chain.config))
}

async function emptyBlocks(chain: Chain): Promise<readonly Payload[]> {
  await using maker = open(chain)
  const payloads: Payload[] = []
  let parent = (await maker.heads()).unsafe
  for (let number = 1; number <= blocks; number++) {
    const built = await maker.build(parent, attributesAt(chain.config.schedule, number))
    if (built.kind === 'invalid') throw new Error(built.reason)
    payloads.push(built.payload)
    parent = l2RefOf(chain.config, built.payload)
  }
  return payloads
}

/** Blocks a second, each inserted and then made the head. */
async function follow(engine: Engine, config: ExecutionConfig, payloads: readonly Payload[]): Promise<number> {
  const labels = await engine.heads()
  const startMs = performance.now()
  for (const payload of payloads) {
    const inserted = await engine.insert(payload)
    if (inserted.kind === 'invalid') throw new Error(inserted.reason)
    await engine.setHeads({ ...labels, unsafe: l2RefOf(config, payload) })
  }
  return (payloads.length * 1_000) / (performance.now() - startMs)
}

/** Insertions a second of a known block: the cost of the round trip only. */
async function reinsert(engine: Engine, payload: Payload): Promise<number> {
  await engine.insert(payload)
  const startMs = performance.now()
  for (let time = 0; time < insertions; time++) await engine.insert(payload)
  return (insertions * 1_000) / (performance.now() - startMs)
}

/** Measures both ways in turn, after one warm-up round. */
async function bothWays(name: string, unit: string, chain: Chain, run: (engine: Engine) => Promise<number>): Promise<Row> {
  const runs = { http: [] as number[], direct: [] as number[] }
  for (let round = 0; round <= rounds; round++) {
    for (const way of ['http', 'direct'] as const) {
      const value = await withEngine(chain, way, run)
      if (round > 0) runs[way].push(value)
    }
  }
  return { ...row(name, unit, runs.http), against: { name: 'in process', value: median(runs.direct), runs: runs.direct } }
}

/** The first block of some 800 transactions, and its parent. */
function heavyBlocks(): { readonly chain: Chain; readonly payloads: readonly Payload[] } {
  const { genesis } = parseBaseGenesisNote(readSharedJson('bench/mixed-42-blocks.genesis.json'))
  const lines = readShared('bench/mixed-42-blocks.jsonl.zst').toString('utf8').trimEnd().split('\n')
  const payloads = lines.map((line) => {
    const { p, root } = JSON.parse(line) as { p: unknown; root: string }
    return parsePayload(p, parseHash(root))
  })
  const last = payloads.findIndex(({ transactions }) => transactions.length > 500)
  return { chain: { genesis, config: configOfGenesis(genesis) }, payloads: payloads.slice(0, last + 1) }
}

export async function run(): Promise<readonly Row[]> {
  const small = smallChain(scheduleTo('jovian'))
  const payloads = await emptyBlocks(small)
  const heavy = heavyBlocks()
  const last = heavy.payloads.at(-1)
  if (!last) throw new Error('no block of many transactions')
  return [
    await bothWays('empty blocks a second over the Engine API, newPayload and forkchoiceUpdated each', 'blocks/s', small, (engine) =>
      follow(engine, small.config, payloads),
    ),
    await bothWays(
      `insertions a second of a known block of ${last.transactions.length} transactions over the Engine API`,
      'blocks/s',
      heavy.chain,
      async (engine) => {
        for (const payload of heavy.payloads) await engine.insert(payload)
        return await reinsert(engine, last)
      },
    ),
  ]
}
