// Times of cheap JSON-RPC methods at a verifying node, quiet and while peers attack it, in turns. npm run bench -- gossipAttack
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { forksUpTo } from '#devnet/forkSchedule'
import { startPeerChain } from '../../e2e/p2p/chain.ts'
import { startOurSequencer, startOurs } from '../../e2e/p2p/ours.ts'
import { sleep } from '../devnet/process.ts'
import { median, type Row } from '../format.ts'
import { ownUrl } from './ownUrl.ts'

const [rounds, requestsPerSec, seconds, warmSec] = [3, 200, 10, 2]
const attackers = 2
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

type Attacking = { readonly child: ChildProcess; sent: number }

async function startAttacker(victim: string, chainId: number): Promise<Attacking> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'attacker.ts'), victim, String(chainId)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const attacking = { child, sent: 0 }
  child.stdout.on('data', (line: Buffer) => {
    attacking.sent = Number(line.toString().trim().split('\n').at(-1))
  })
  await once(child.stdout, 'data')
  return attacking
}

export async function run(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-gossip-'))
  await using parts = new AsyncDisposableStack()
  parts.defer(() => rmSync(folder, { recursive: true, force: true }))
  const chain = parts.use(await startPeerChain(folder, forksUpTo('denim', 2), { blockTimeSec: 2 }))
  const sequencer = parts.use(await startOurSequencer(chain, 'sequencer'))
  const victim = parts.use(await startOurs(chain, 'victim', { staticPeers: [sequencer.address], hasDiscovery: false }))
  const file = join(folder, 'calls.jsonl')
  const line = (method: string, params: readonly unknown[], id: number): string =>
    JSON.stringify({ class: 'cheap', body: JSON.stringify({ jsonrpc: '2.0', id, method, params }) })
  writeFileSync(file, calls.map(([method, params], id) => line(method, params, id)).join('\n'))
  const url = ownUrl(victim.node, 'rpc')
  const [quiet, attacked]: [Told[], Told[]] = [[], []]
  let [messages, sent] = [0, 0]
  let lag = 0
  for (let round = 0; round < rounds; round++) {
    quiet.push(await ask(url, file))
    const before = await victim.metric('basalt_p2p_messages_total')
    const attacking = await Promise.all(Array.from({ length: attackers }, () => startAttacker(victim.address, chain.config.l2ChainId)))
    try {
      await sleep(2_000)
      attacked.push(await ask(url, file))
      messages += (await victim.metric('basalt_p2p_messages_total')) - before
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
  const failed = [...quiet, ...attacked].reduce((sum, one) => sum + one.failed + one.lost, 0)
  const bans = await victim.metric('basalt_p2p_bans_total')
  return [
    {
      name: 'p99 of cheap JSON-RPC while two peers flood the node',
      value: median(p99(attacked)),
      unit: 'ms',
      runs: p99(attacked),
      against: { name: 'quiet', value: median(p99(quiet)), runs: p99(quiet) },
      facts: {
        ratio: Number((median(p99(attacked)) / median(p99(quiet))).toFixed(2)),
        sent,
        validated: messages,
        bans,
        failed,
        blocksBehind: lag,
      },
    },
  ]
}
