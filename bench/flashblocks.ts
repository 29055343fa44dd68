// Processor time of executing a heavy block in ten flashblocks, compared with executing it at once; senders are known to both.

import { type BlockDeps, executeBlock } from '#block/execution/executeBlock'
import { ExecutionGuard } from '#block/execution/executionGuard'
import { ExecutionWatch } from '#block/execution/executionWatch'
import { createSenders } from '#block/execution/senders'
import { configOfGenesis } from '#block/executionConfig'
import { createExecution, type Execution } from '#blockchain/execution'
import { importPayloads } from '#blockchain/importPayloads'
import type { ExecutionView } from '#blockchain/view/chainView'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { createWasmEvm } from '#evm/wasmEvm'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { inputOfBase } from '#pending/blockInput'
import { PendingChain } from '#pending/pendingChain'
import { flashblocksOf } from '#test/harness/flashblocks/flashblocks'
import { readShared, readSharedJson } from '#test/harness/sharedData'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { Flashblock, FlashblockBase } from '#types/flashblock'
import type { Payload } from '#types/payload'
import { type Row, row } from './format.ts'

const blocks = 12
const flashblocks = 10
const rounds = 9

type Heavy = { readonly execution: Execution; readonly payload: Payload; readonly told: readonly Flashblock[]; readonly deps: BlockDeps }

/** Processor time of this process, milliseconds. */
function spentMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** A chain up to a block of 800 transactions, and that block as flashblocks. */
async function heavyBlock(): Promise<Heavy> {
  const { genesis } = parseBaseGenesisNote(readSharedJson('bench/mixed-42-blocks.genesis.json'))
  const config = configOfGenesis(genesis)
  const lines = readShared('bench/mixed-42-blocks.jsonl.zst').toString('utf8').split('\n').slice(0, blocks)
  const deps = { evm: createWasmEvm(), config, senders: createSenders({ maxBytes: 32 * 2 ** 20 }) }
  const execution = createExecution({ ...deps, kv: createMemoryKv(), genesis: () => genesis, clock: systemClock, log: silentLog })
  await importPayloads(execution, config, lines)
  const payload = await execution.payload(blocks)
  if (payload === undefined) throw new Error(`no block ${blocks}`)
  const { length } = payload.transactions
  // builders put the deposit into its own flashblock
  const cuts = Array.from({ length: flashblocks - 1 }, (_, i) => 1 + Math.floor((i * (length - 1)) / (flashblocks - 1)))
  return { execution, payload, told: flashblocksOf(execution, payload, cuts), deps }
}

function parentOf(view: ExecutionView, payload: Payload): NonNullable<ReturnType<ExecutionView['parent']>> {
  const on = view.parent(payload.parentHash)
  if (on === undefined) throw new Error('no parent')
  return on
}

/** @returns milliseconds of the execution with its roots */
function executeAtOnce({ execution, payload, told, deps }: Heavy): number {
  using view = execution.view()
  const on = parentOf(view, payload)
  const input = inputOfBase(deps.config.schedule, told[0]?.base as FlashblockBase, payload.transactions)
  const startMs = spentMs()
  const result = executeBlock(deps, on, input)
  const ms = spentMs() - startMs
  if (result.kind === 'invalid' || result.block.hash !== payload.blockHash) throw new Error('another block')
  return ms
}

/** @returns milliseconds of all flashblocks, and of the sealing that follows */
async function follow({ execution, payload, told, deps }: Heavy): Promise<{ readonly takenMs: number; readonly sealedMs: number }> {
  using view = execution.view()
  const on = parentOf(view, payload)
  const head = { number: payload.blockNumber - 1, hash: payload.parentHash }
  const watch = new ExecutionWatch()
  using chain = new PendingChain({
    block: deps,
    ...{ guard: new ExecutionGuard(systemClock, watch), watch, maxMs: Number.POSITIVE_INFINITY },
    head: () => head,
    onHead: (run) => run(on),
    onChange: () => {},
    clock: systemClock,
    log: silentLog,
  })
  const startMs = spentMs()
  for (const flashblock of told) {
    const outcome = await chain.take(flashblock, chain.blocks?.blocks.at(-1), Number.MAX_SAFE_INTEGER)
    if (outcome.kind === 'refused') throw new Error(outcome.text)
  }
  const takenMs = spentMs() - startMs
  if (chain.sealed(on, payload) === undefined) throw new Error('another block')
  return { takenMs, sealedMs: spentMs() - startMs - takenMs }
}

export async function run(): Promise<readonly Row[]> {
  const heavy = await heavyBlock()
  for (let warm = 0; warm < 2; warm++) {
    executeAtOnce(heavy)
    await follow(heavy)
  }
  const runs = { once: [] as number[], taken: [] as number[], sealed: [] as number[], whole: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    const onceMs = executeAtOnce(heavy)
    const { takenMs, sealedMs } = await follow(heavy)
    runs.once.push(1_000 / onceMs)
    runs.taken.push(onceMs / takenMs)
    runs.sealed.push(1_000 / sealedMs)
    runs.whole.push(onceMs / (takenMs + sealedMs))
  }
  const what = `${heavy.payload.transactions.length} transactions, ${Number(heavy.payload.gasUsed) / 1e6} Mgas`
  return [
    row(`blocks executed at once in a second of one core, with their roots: ${what}`, 'blocks/s', runs.once),
    row(`time of one execution by that of ${flashblocks} flashblocks`, 'ratio', runs.taken),
    row(`the same, sealing included`, 'ratio', runs.whole),
    row('blocks sealed out of their flashblocks in a second of one core', 'blocks/s', runs.sealed),
  ]
}
