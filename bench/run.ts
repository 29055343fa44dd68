// npm run bench -- <suite> [--json FILE] [options of the suite]: measures, prints, and with --json keeps the result.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { EvmOptions } from './evm/world.ts'
import { describe, quantile, type Row } from './format.ts'
import type { ImportHttpOptions } from './importHttp/measure.ts'
import type { RpcOptions } from './rpc.ts'
import type { DayOptions } from './state/day.ts'

/**
 * `minutes`, `rate`, `l1`: suites `devnet` and `preconfirmations`; `blocks`: suites `denim…`, `gossip` and `state`; `dir`, `accounts`, `slots`, `seed`, `memoryMax`: suites `state…`, `dir` also `denimImport`; `workers`, `seconds`: suites of JSON-RPC; the others: suites of the
 * interpreter.
 */
type Options = { readonly minutes?: number; readonly rate?: number; readonly l1?: string; readonly blocks?: number } & EvmOptions &
  RpcOptions &
  DayOptions &
  ImportHttpOptions

const suites: Readonly<Record<string, () => Promise<{ run: (options: Options) => Promise<readonly Row[]> }>>> = {
  anchored: () => import('./anchored/measure.ts'),
  b20: () => import('./b20.ts'),
  backwardSync: () => import('./backwardSync.ts'),
  batcher: () => import('./batcher.ts'),
  day: () => import('./state/day.ts'),
  deposits: () => import('./deposits.ts'),
  denimBlocks: () => import('./denim/emptyBlocks.ts'),
  denimDerive: () => import('./denim/derive.ts'),
  denimImport: () => import('./denim/import.ts'),
  derive: () => import('./derive.ts'),
  devnet: () => import('./devnet/all.ts'),
  devnetStart: () => import('./devnet/start.ts'),
  evm: () => import('./evm/interpreter.ts'),
  evmPrice: () => import('./evm/price.ts'),
  evmPriceMemory: () => import('./evm/priceMemory.ts'),
  evmStart: () => import('./evm/start.ts'),
  engine: () => import('./engine.ts'),
  fastLane: () => import('./rpc/fastLane.ts'),
  flashblocks: () => import('./flashblocks.ts'),
  follow: () => import('./follow.ts'),
  frames: () => import('./frames.ts'),
  gossip: () => import('./gossip.ts'),
  gossipAttack: () => import('./gossip/underAttack.ts'),
  importHttp: () => import('./importHttp/measure.ts'),
  operator: () => import('./operator.ts'),
  page: () => import('./page.ts'),
  pipeline: () => import('./importHttp/pipeline.ts'),
  pool: () => import('./pool.ts'),
  prune: () => import('./state/prune.ts'),
  preconfirmations: () => import('./preconfirmations.ts'),
  proofsRecording: () => import('./proofs/recording.ts'),
  proofsWindow: () => import('./proofs/window.ts'),
  restart: () => import('./restart.ts'),
  rethImport: () => import('./snapshot/rethImport.ts'),
  rpc: () => import('./rpc.ts'),
  rpcHistory: () => import('./rpc/history.ts'),
  rpcLogs: () => import('./rpc/logs.ts'),
  rpcMixed: () => import('./rpc/mixed.ts'),
  rpcSockets: () => import('./rpc/sockets.ts'),
  senders: () => import('./senders.ts'),
  state: () => import('./state/measure.ts'),
  stateMake: () => import('./state/make.ts'),
  stateRoot: () => import('./state/roots.ts'),
  snapshot: () => import('./snapshot/snapshot.ts'),
  snapshotBeside: () => import('./snapshot/beside.ts'),
  snapshotOlder: () => import('./snapshot/older.ts'),
  submit: () => import('./submit.ts'),
  transferTransaction: () => import('./transferTransaction.ts'),
  transfers: () => import('./transfers.ts'),
}

const text = { type: 'string' } as const
const names = {
  json: text,
  minutes: text,
  rate: text,
  l1: text,
  blocks: text,
  evm: text,
  rounds: text,
  only: text,
  workers: text,
  seconds: text,
  peer: text,
  dir: text,
  accounts: text,
  slots: text,
  seed: text,
  memoryMax: text,
  gas: text,
  against: text,
  jwt: text,
  judge: { type: 'boolean' },
} as const
const { values, positionals } = parseArgs({ options: names, allowPositionals: true })
const {
  minutes,
  rate,
  l1,
  blocks,
  evm,
  rounds,
  only,
  workers,
  seconds,
  peer,
  judge,
  dir,
  accounts,
  slots,
  seed,
  memoryMax,
  gas,
  against,
  jwt,
} = values
const [suite = ''] = positionals
const load = suites[suite]
if (!load) {
  console.error(`no suite ${JSON.stringify(suite)}: one of ${Object.keys(suites).join(', ')}`)
  process.exit(2)
}
const options: Options = {
  ...(minutes !== undefined && { minutes: Number(minutes) }),
  ...(rate !== undefined && { rate: Number(rate) }),
  ...(l1 !== undefined && { l1 }),
  ...(blocks !== undefined && { blocks: Number(blocks) }),
  ...(evm !== undefined && { evm }),
  ...(rounds !== undefined && { rounds: Number(rounds) }),
  ...(only !== undefined && { only }),
  ...(workers !== undefined && { workers }),
  ...(seconds !== undefined && { seconds: Number(seconds) }),
  ...(peer !== undefined && { peer }),
  ...(dir !== undefined && { dir }),
  ...(accounts !== undefined && { accounts: Number(accounts) }),
  ...(slots !== undefined && { slots: Number(slots) }),
  ...(seed !== undefined && { seed: Number(seed) }),
  ...(memoryMax !== undefined && { memoryMax: Number(memoryMax) }),
  ...(gas !== undefined && { gas: Number(gas) }),
  ...(against !== undefined && { against }),
  ...(jwt !== undefined && { jwt }),
  ...(judge !== undefined && { judge }),
}
const rows = await (await load()).run(options)
const shown = (value: number): string => value.toFixed(value < 10 ? 2 : 1)
for (const { name, value, unit, runs, against, facts } of rows) {
  const p99 = Number(facts?.['p99'] ?? quantile(runs, 0.99))
  const spread = `${shown(Math.min(...runs))} … ${shown(Math.max(...runs))}, p99 ${shown(p99)}`
  console.log(`${name}: ${shown(value)} ${unit} (${spread})${against ? `, ${against.name}: ${shown(against.value)}` : ''}`)
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(describe(suite, rows), null, 2)}\n`)
