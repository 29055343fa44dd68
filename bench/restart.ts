// Restart of a node whose data directory holds 100,000 blocks, from the start of the process to its first RPC answer: with an empty journal, and
// with a journal at its bound (measured execution of uncommitted blocks). Then the same bound in heavy blocks, execution only.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configOfGenesis, type ExecutionConfig } from '#block/executionConfig'
import { startBlockMs } from '#blockchain/blockTree'
import { createExecution, type Execution } from '#blockchain/execution'
import { commitThreadOptions } from '#blockchain/executionDeps'
import { importPayloads } from '#blockchain/importPayloads'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { l2RefOf } from '#chainspec/l2Ref'
import { type RollupConfig, toRollupJson } from '#chainspec/rollupConfig'
import { createSafeHeadStore } from '#consensus/safeHeadStore'
import { serveL1 } from '#devnet/l1Server'
import { createRecordedL1 } from '#devnet/recordedL1'
import { parsePayload } from '#engine/payloadJson'
import type { Evm } from '#evm/ports'
import { createWasmEvm } from '#evm/wasmEvm'
import { journalDir } from '#executionThread/wire/protocol'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { safeHeadTable } from '#node/storage/safeHeadTable'
import { openFileJournal } from '#store/fileJournal'
import { openLmdbKv } from '#store/lmdbKv'
import { agreeOnSchema, chainSchema, consensusSchema } from '#store/schema'
import { consensusTables, tables } from '#store/tables'
import { emptyChain, extendChain, genesisNote } from '#test/harness/chain/generatedChain'
import { rpcCall, startCli } from '#test/harness/process/cliProcess'
import { readShared } from '#test/harness/sharedData'
import type { L2Ref } from '#types/blockRef'
import { parseHash } from '#types/ids'
import type { PayloadAttributes } from '#types/payload'
import { type Row, row } from './format.ts'

const blocks = Number(process.env['BASALT_BENCH_BLOCKS'] ?? 100_000)
const rounds = 7
const boundMs = commitThreadOptions.maxUncommittedMs

/** Fills a data directory: ten transfers in every tenth block, all blocks safe by the L1 block that holds them. */
async function fill(datadir: string): Promise<Awaited<ReturnType<typeof emptyChain>>> {
  await using kv = openLmdbKv(join(datadir, 'chain'), Object.values(tables))
  await using consensusKv = openLmdbKv(join(datadir, 'consensus'), Object.values(consensusTables))
  agreeOnSchema(kv, chainSchema)
  agreeOnSchema(consensusKv, consensusSchema)
  const chain = emptyChain(kv)
  await extendChain(chain, blocks)
  await chain.execution.close()
  const last = chain.l1.blocks.at(-1)
  if (!last) throw new Error('no L1 block')
  const { safe } = chain.execution.published.heads
  const store = createSafeHeadStore(safeHeadTable(consensusKv, consensusTables.safeHeads.id))
  store.append([
    { l1: chain.config.genesis.l1, safe: chain.config.genesis.l2 },
    { l1: last.ref, safe },
  ])
  return chain
}

/** An execution over a data directory that measures its own work and commits nothing. */
async function withoutCommits<T>(
  dir: string,
  config: ExecutionConfig,
  run: (execution: Execution, spentMs: () => number) => Promise<T>,
): Promise<T> {
  await using kv = openLmdbKv(dir, Object.values(tables))
  using journal = openFileJournal(journalDir(dir), silentLog)
  let startMs = 0
  let spentMs = 0
  const clock = { ...systemClock, nowMs: () => 0, after: () => ({ [Symbol.dispose]: () => {} }) }
  const evm = createWasmEvm()
  const timed: Evm = {
    open: (...args) => {
      startMs = performance.now()
      return evm.open(...args)
    },
  }
  const onExecuted = (): void => {
    spentMs += performance.now() - startMs + startBlockMs
  }
  const genesis = (): never => {
    throw new Error('the store is empty')
  }
  const deps = { kv, journal, evm: timed, config, genesis, clock, log: silentLog, onExecuted }
  const execution = createExecution(deps, { maxUncommittedMs: Number.POSITIVE_INFINITY })
  return await run(execution, () => spentMs)
}

/** Empty blocks above the head, made heads and not committed, until the journal is at its bound. @returns the head */
function fillJournal(datadir: string, config: RollupConfig): Promise<{ head: L2Ref; added: number }> {
  return withoutCommits(join(datadir, 'chain'), config, async (execution, spentMs) => {
    let head = (await execution.heads()).unsafe
    const first = head.number
    while (spentMs() < boundMs) {
      const payload = await execution.payload(head.number)
      if (!payload) throw new Error(`no block ${head.number}`)
      const attributes: PayloadAttributes = {
        timestamp: payload.timestamp + 2,
        prevRandao: payload.prevRandao,
        suggestedFeeRecipient: payload.feeRecipient,
        withdrawals: [],
        ...(payload.parentBeaconBlockRoot && { parentBeaconBlockRoot: payload.parentBeaconBlockRoot }),
        transactions: payload.transactions.slice(0, 1),
        noTxPool: true,
        gasLimit: payload.gasLimit,
        eip1559Params: payload.extraData.slice(1, 9),
        minBaseFee: 0n,
      }
      const built = await execution.build(head, attributes)
      if (built.kind === 'invalid') throw new Error(built.reason)
      head = l2RefOf(config, built.payload)
      await execution.setHeads({ ...(await execution.heads()), unsafe: head })
    }
    return { head, added: head.number - first }
  })
}

/** @returns restarts a second */
async function restartOnce(args: readonly string[], head: number): Promise<number> {
  const startMs = performance.now()
  await using node = startCli(args)
  const [, url = ''] = await node.until(/"rpc":"([^"]+)"/)
  const found = await rpcCall(url, 'eth_blockNumber')
  const restarts = 1_000 / (performance.now() - startMs)
  if (Number(found) !== head) throw new Error(`the head is ${String(found)}, not ${head}`)
  node.child.kill('SIGTERM')
  await node.ended()
  return restarts
}

/** The bound in heavy blocks: all but the last blocks of the bench chain are committed, the last ones are in the journal. */
async function heavyRow(folder: string): Promise<Row> {
  const note = readShared('bench/mixed-42-blocks.genesis.json').toString('utf8')
  const genesisPath = join(folder, 'bench-genesis.json')
  writeFileSync(genesisPath, note)
  const { genesis } = parseBaseGenesisNote(JSON.parse(note))
  const config = configOfGenesis(genesis)
  const lines = readShared('bench/mixed-42-blocks.jsonl.zst').toString('utf8').trim().split('\n')
  const dir = join(folder, 'heavy')
  {
    await using kv = openLmdbKv(dir, Object.values(tables))
    const deps = { evm: createWasmEvm(), config, genesis: () => genesis, clock: systemClock, log: silentLog }
    await using execution = createExecution({ ...deps, kv })
    await importPayloads(execution, config, lines.slice(0, 20))
  }
  await withoutCommits(dir, config, async (execution, spentMs) => {
    for (const line of lines.slice(20)) {
      if (spentMs() >= boundMs) return
      const { p, root } = JSON.parse(line) as { p: unknown; root?: string }
      const payload = parsePayload(p, root === undefined ? undefined : parseHash(root))
      if (execution.insertPayload(payload).kind === 'invalid') throw new Error(`block ${payload.blockNumber} is invalid`)
      await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, payload) })
    }
  })
  const starts: number[] = []
  let replayed = 0
  for (let round = 0; round < rounds; round++) {
    const copy = join(folder, 'heavy-copy')
    cpSync(dir, copy, { recursive: true })
    const out = execFileSync(process.execPath, [join(import.meta.dirname, 'heavyJournal.ts'), copy, genesisPath], { encoding: 'utf8' })
    const said = JSON.parse(out) as { replayMs: number; blocks: number; sinceLaunchMs: number }
    replayed = said.blocks
    starts.push(1_000 / said.sinceLaunchMs)
    rmSync(copy, { recursive: true })
  }
  return row(`starts of execution a second with ${replayed} blocks of 52 Mgas in the journal, process start to a view`, 'starts/s', starts)
}

export async function run(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-restart-'))
  const [datadir, rollup, genesis] = [join(folder, 'data'), join(folder, 'rollup.json'), join(folder, 'genesis.json')]
  process.stderr.write(`filling a data directory with ${blocks} blocks…\n`)
  const chain = await fill(datadir)
  writeFileSync(rollup, JSON.stringify(toRollupJson(chain.config)))
  writeFileSync(genesis, JSON.stringify(genesisNote()))
  const recording = chain.l1.recording()
  const l1 = createRecordedL1(recording, { head: recording.blocks.length - 1 })
  await using server = await serveL1((exchange) => l1.reply(exchange), 0)
  const argsFor = (dir: string): string[] => {
    const files = ['--rollup.config', rollup, '--genesis', genesis, '--datadir', dir]
    return [
      'node',
      ...files,
      '--l1.rpc',
      server.url,
      '--http.port',
      '0',
      '--rollup.port',
      '0',
      '--metrics.port',
      '0',
      '--log.format',
      'json',
    ]
  }
  const [restarts, launches, bounded]: [number[], number[], number[]] = [[], [], []]
  process.stderr.write('measuring…\n')
  const full = join(folder, 'full')
  cpSync(datadir, full, { recursive: true })
  let added = 0
  for (let round = 0; round < rounds; round++) {
    const launchMs = performance.now()
    await startCli(['version']).ended()
    launches.push(1_000 / (performance.now() - launchMs))
    restarts.push(await restartOnce(argsFor(datadir), blocks))
    // blocks that the previous start committed stay; the journal is filled again above them
    const filled = await fillJournal(full, chain.config)
    added = filled.added
    bounded.push(await restartOnce(argsFor(full), filled.head.number))
  }
  const heavy = await heavyRow(folder)
  rmSync(folder, { recursive: true })
  const against = { name: 'basalt version (start of a process alone)', value: row('', '', launches).value, runs: launches }
  return [
    { ...row(`restarts a second with ${blocks} blocks, process start to first RPC answer`, 'restarts/s', restarts), against },
    { ...row(`the same with a journal at its bound (${added} empty blocks, ${boundMs} ms of execution)`, 'restarts/s', bounded), against },
    heavy,
  ]
}
