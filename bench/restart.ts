// Restart of a node whose data directory holds 100,000 blocks, from the start of the process to its first RPC answer.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toRollupJson } from '#chain/rollupConfig'
import { createSafeHeadStore } from '#consensus/safeHeadStore'
import { createRecordedL1, serveL1 } from '#devnet/recordedL1'
import { safeHeadTable } from '#node/safeHeadTable'
import { openLmdbKv } from '#store/lmdbKv'
import { consensusTables, tables } from '#store/tables'
import { rpcCall, startCli } from '#test/harness/cliProcess'
import { emptyChain, extendChain, genesisNote } from '#test/harness/generatedChain'
import { type Row, row } from './format.ts'

const blocks = Number(process.env['BASALT_BENCH_BLOCKS'] ?? 100_000)
const rounds = 7

/** Fills a data directory: ten transfers in every tenth block, all blocks safe by the L1 block that holds them. */
async function fill(datadir: string): Promise<Awaited<ReturnType<typeof emptyChain>>> {
  await using kv = openLmdbKv(join(datadir, 'chain'), Object.values(tables))
  await using consensusKv = openLmdbKv(join(datadir, 'consensus'), Object.values(consensusTables))
  const chain = emptyChain(kv)
  await extendChain(chain, blocks)
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

  const files = ['--rollup.config', rollup, '--genesis', genesis, '--datadir', datadir]
  const flags = ['--l1.rpc', server.url, '--http.port', '0', '--rollup.port', '0', '--log.format', 'json']
  const [restarts, launches]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    const launchMs = performance.now()
    await startCli(['version']).ended()
    launches.push(1_000 / (performance.now() - launchMs))
    const startMs = performance.now()
    await using node = startCli(['node', ...files, ...flags])
    const [, url = ''] = await node.until(/"rpc":"([^"]+)"/)
    const head = await rpcCall(url, 'eth_blockNumber')
    restarts.push(1_000 / (performance.now() - startMs))
    if (Number(head) !== blocks) throw new Error(`the head is ${String(head)}, not ${blocks}`)
    node.child.kill('SIGTERM')
    await node.ended()
  }
  rmSync(folder, { recursive: true })
  return [
    {
      ...row(`restarts a second with ${blocks} blocks, process start to first RPC answer`, 'restarts/s', restarts),
      against: { name: 'basalt version (start of a process alone)', value: row('', '', launches).value, runs: launches },
    },
  ]
}
