// Follow mode: a node in its own process follows one in this process, over HTTP and WebSocket on this machine.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { toRollupJson } from '#chainspec/rollupConfig'
import { emptyChain, extendChain, genesisNote } from '#test/harness/chain/generatedChain'
import { type ServedExecution, serveExecution } from '#test/harness/consensus/followNodes'
import { chainFlags } from '#test/harness/process/chain'
import { rpcCall, startCli } from '#test/harness/process/cliProcess'
import { openSocket, type SocketClient } from '#test/harness/process/socketClient'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { Payload } from '#types/payload'
import { type Row, row } from './format.ts'

const blocks = Number(process.env['BASALT_BENCH_BLOCKS'] ?? 4_000)
const heads = 100
const rounds = Number(process.env['BASALT_BENCH_ROUNDS'] ?? 5)

/** Blocks of a generated chain: empty, except for ten transfers in every tenth. */
async function generate(): Promise<{ chain: ReturnType<typeof emptyChain>; payloads: readonly Payload[] }> {
  const chain = emptyChain(createMemoryKv())
  await extendChain(chain, blocks + heads)
  const payloads: Payload[] = []
  for (let number = 1; number <= blocks + heads; number++) {
    const payload = await chain.execution.payload(number)
    if (payload === undefined) throw new Error(`no block ${number}`)
    payloads.push(payload)
  }
  return { chain, payloads }
}

const numberIn = (message: Readonly<Record<string, unknown>>): number =>
  Number((message['params'] as { result: { number: string } } | undefined)?.result.number)

/** Blocks a second between the first and the last observed head. */
async function catchUp(url: string): Promise<number> {
  const first = { number: Number(await rpcCall(url, 'eth_blockNumber')), ms: performance.now() }
  for (;;) {
    const number = Number(await rpcCall(url, 'eth_blockNumber'))
    if (number >= blocks) return ((number - first.number) * 1_000) / (performance.now() - first.ms)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Milliseconds from the source's publication of a head to the follower's notification of it. */
async function timeHeads(source: ServedExecution, follower: SocketClient, payloads: readonly Payload[]): Promise<readonly number[]> {
  const times: number[] = []
  for (const payload of payloads) {
    await source.extend([payload])
    const startMs = performance.now()
    while (numberIn(await follower.next()) !== payload.blockNumber);
    times.push(performance.now() - startMs)
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
  return times
}

export async function run(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-follow-'))
  process.stderr.write(`making ${blocks + heads} blocks…\n`)
  const { chain, payloads } = await generate()
  const { genesis } = parseBaseGenesisNote(genesisNote())
  const files = { name: 'bench', rollupJson: toRollupJson(chain.config), genesisJson: genesisNote() }
  const flags = chainFlags(files as Parameters<typeof chainFlags>[0], folder)
  const [rates, speeds, times]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    await using source = await serveExecution({ config: chain.config, genesis })
    await source.extend(payloads.slice(0, blocks))
    const args = ['--datadir', join(folder, `node-${round}`), '--source.l2.rpc', `${source.httpUrl},${source.wsUrl}`]
    const ports = ['--http.port', '0', '--ws.port', '0', '--rollup.port', '0', '--metrics.port', '0', '--log.format', 'json']
    await using node = startCli(['node', ...flags, ...args, ...ports])
    const [, url = ''] = await node.until(/"rpc":"([^"]+)"/)
    const [, ws = ''] = await node.until(/"ws":"([^"]+)"/)
    rates.push(await catchUp(url))
    await using follower = await openSocket(ws)
    await follower.call('eth_subscribe', 'newHeads')
    const took = await timeHeads(source, follower, payloads.slice(blocks))
    times.push(...took)
    speeds.push(...took.map((ms) => 1_000 / ms))
    process.stderr.write(
      `round ${round + 1}: ${rates.at(-1)?.toFixed(0)} blocks/s, head after ${Math.max(...took).toFixed(1)} ms at most\n`,
    )
    node.child.kill('SIGTERM')
    await node.ended()
  }
  rmSync(folder, { recursive: true })
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number): string => (sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0).toFixed(1)
  return [
    row(`catches up with a source on this machine, ${blocks} blocks, each executed (ten transfers in every tenth)`, 'blocks/s', rates),
    row(
      `a new head of the source until the follower's notification, inverse of ms: min ${at(0)}, median ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)}`,
      'heads/s',
      speeds,
    ),
  ]
}
