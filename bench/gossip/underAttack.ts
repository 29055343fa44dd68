// Times of cheap JSON-RPC methods at a verifying node, in turns: alone on the machine, with processes that take the processor time of attackers, and while
// peers attack it. Attackers are on other machines, so the row compares the last two. Peers of the consensus network, then those of the execution network.
// npm run bench -- gossipAttack
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { forksUpTo } from '#devnet/forkSchedule'
import { rpcCall } from '#test/harness/process/cliProcess'
import { type PeerChain, startPeerChain } from '../../e2e/p2p/chain.ts'
import { startOurSequencer, startOurs } from '../../e2e/p2p/ours.ts'
import { sleep } from '../devnet/process.ts'
import { median, type Row } from '../format.ts'
import { ownUrl } from './ownUrl.ts'

const [rounds, requestsPerSec, seconds, warmSec] = [5, 200, 12, 4]
const attackers = 2
/** Processor time that an attacker takes, in percent of a core. */
const attackerPercent = 10
const zeroAddress = `0x${'00'.repeat(20)}`
const calls: readonly (readonly [string, readonly unknown[]])[] = [
  ['eth_getBalance', [zeroAddress, 'latest']],
  ['eth_getTransactionCount', [zeroAddress, 'latest']],
  ['eth_getBlockByNumber', ['latest', false]],
  ['eth_gasPrice', []],
]

type Told = { readonly told: readonly { readonly p50Ms: number; readonly p99Ms: number }[]; readonly failed: number; readonly lost: number }

async function ask(url: string, file: string): Promise<Told> {
  const client = [join(import.meta.dirname, '../rpc/pacedClient.ts'), url, file, ...[requestsPerSec, seconds, warmSec].map(String)]
  return JSON.parse((await promisify(execFile)(process.execPath, client)).stdout) as Told
}

/** Starts a script with the lowest priority: only when nothing else wants a core, where the system can. */
function spawnIdle(script: string, args: readonly string[]): ChildProcess {
  const command = [process.execPath, join(import.meta.dirname, script), ...args]
  const [program = '', ...rest] = process.platform === 'linux' ? ['chrt', '--idle', '0', ...command] : command
  return spawn(program, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
}

type Attacking = { readonly child: ChildProcess; sent: number }

async function startAttacker(script: string, args: readonly string[]): Promise<Attacking> {
  const child = spawnIdle(script, args)
  const attacking = { child, sent: 0 }
  child.stdout?.on('data', (line: Buffer) => {
    attacking.sent = Number(line.toString().trim().split('\n').at(-1))
  })
  if (child.stdout) await once(child.stdout, 'data')
  return attacking
}

/** One of the two networks: how it is attacked, and metrics of the victim that count what arrived and which connections ended. */
type Network = {
  readonly name: string
  readonly flags: readonly string[]
  readonly attack: (victim: Victim, chain: PeerChain) => Promise<Attacking>
  readonly arrived: string
  readonly ended: { readonly fact: string; readonly metric: string }
}
type Victim = Awaited<ReturnType<typeof startOurs>>

const networks: readonly Network[] = [
  {
    name: 'two peers flood the node',
    flags: [],
    attack: (victim, { config }) => startAttacker('attacker.ts', [victim.address, String(config.l2ChainId)]),
    arrived: 'basalt_p2p_messages_total',
    ended: { fact: 'bans', metric: 'basalt_p2p_bans_total' },
  },
  {
    name: 'two execution peers attack the node',
    flags: [
      ...['--p2p.execution', 'on', '--p2p.execution.addr', '127.0.0.1', '--p2p.execution.port', '0', '--p2p.execution.no-discovery'],
      ...['--http.api', 'eth,net,web3,admin'],
    ],
    attack: async (victim, { files }) => {
      const { enode } = (await rpcCall(victim.node.url('http'), 'admin_nodeInfo')) as { readonly enode: string }
      return await startAttacker('executionAttacker.ts', [enode, files.rollup])
    },
    arrived: 'basalt_execution_p2p_served_requests_total',
    ended: { fact: 'closed', metric: 'basalt_execution_p2p_ended_connections_total' },
  },
]

export async function run(): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const network of networks) rows.push(await measure(network))
  return rows
}

async function measure({ name, flags, attack, arrived, ended }: Network): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-gossip-'))
  await using parts = new AsyncDisposableStack()
  parts.defer(() => rmSync(folder, { recursive: true, force: true }))
  const chain = parts.use(await startPeerChain(folder, forksUpTo('denim', 2), { blockTimeSec: 2 }))
  const sequencer = parts.use(await startOurSequencer(chain, 'sequencer'))
  const victim = parts.use(await startOurs(chain, 'victim', { staticPeers: [sequencer.address], hasDiscovery: false }, { args: flags }))
  const file = join(folder, 'calls.jsonl')
  const line = (method: string, params: readonly unknown[], id: number): string =>
    JSON.stringify({ class: 'cheap', body: JSON.stringify({ jsonrpc: '2.0', id, method, params }) })
  writeFileSync(file, calls.map(([method, params], id) => line(method, params, id)).join('\n'))
  const url = ownUrl(victim.node, 'rpc')
  const [alone, quiet, attacked]: [Told[], Told[], Told[]] = [[], [], []]
  let [messages, sent] = [0, 0]
  let lag = 0
  for (let round = 0; round < rounds; round++) {
    alone.push(await ask(url, file))
    const others = Array.from({ length: attackers }, () => spawnIdle('busy.ts', [String(attackerPercent)]))
    try {
      quiet.push(await ask(url, file))
    } finally {
      for (const other of others) other.kill('SIGKILL')
    }
    const before = await victim.metric(arrived)
    const attacking = await Promise.all(Array.from({ length: attackers }, () => attack(victim, chain)))
    try {
      await sleep(2_000)
      attacked.push(await ask(url, file))
      messages += (await victim.metric(arrived)) - before
      lag = Math.max(lag, (await sequencer.unsafeHead()).number - (await victim.unsafeHead()).number)
    } finally {
      for (const { child, sent: count } of attacking) {
        sent += count
        child.kill('SIGKILL')
      }
    }
    await sleep(1_000)
  }
  const p99 = (all: readonly Told[]): readonly number[] => all.flatMap(({ told }) => told.map(({ p99Ms }) => p99Ms))
  const failed = [...alone, ...quiet, ...attacked].reduce((sum, one) => sum + one.failed + one.lost, 0)
  const endedCount = await victim.metric(ended.metric)
  return {
    name: `p99 of cheap JSON-RPC while ${name}`,
    value: median(p99(attacked)),
    unit: 'ms',
    runs: p99(attacked),
    against: { name: 'not attacked', value: median(p99(quiet)), runs: p99(quiet) },
    facts: {
      aloneMs: median(p99(alone)),
      ratio: Number((median(p99(attacked)) / median(p99(quiet))).toFixed(2)),
      sent,
      validated: messages,
      [ended.fact]: endedCount,
      failed,
      blocksBehind: lag,
    },
  }
}
