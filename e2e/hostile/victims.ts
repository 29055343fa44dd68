import { type ChildProcess, execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CliProcess, rpcCall, startCli } from '#test/harness/process/cliProcess'
import { parseRollupConfig, type RollupConfig } from '../../src/chainspec/rollupConfig.ts'
import { type DevnetProcess, freePort, startDevnetProcess } from '../devnet/process.ts'
import { jwtFlags } from '../halves/labels.ts'
import { eventually } from '../nodeProcess.ts'

/** Ports that the halves of the verifier listen on, by flag without `.port`. */
export type VictimPorts = Readonly<Record<'http' | 'ws' | 'engine' | 'rollup' | 'executionMetrics' | 'consensusMetrics', number>> & {
  /** health listeners of the two halves */
  readonly health: readonly number[]
}

/** Addresses of the attackers, which the verifier is pointed at. */
export type AttackerUrls = { readonly source: string; readonly flashblocks: string }

/** A devnet, and a second verifier of it in two processes that also listens to attackers. */
export interface Victims extends AsyncDisposable {
  readonly devnet: DevnetProcess
  readonly config: RollupConfig
  readonly ports: VictimPorts
  readonly jwtSecret: Uint8Array
  /** Starts the two halves of the verifier. Resolves when both serve. */
  startVerifier(attackers: AttackerUrls): Promise<void>
  /** Resident bytes of each process tree. */
  residentBytes(): Readonly<Record<string, number>>
  /** The processes that have ended, with their last output. */
  deaths(): readonly string[]
}

/** Process ids of a process and everything that it started. */
function treeOf(pid: number): readonly number[] {
  const table = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
  const pairs = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  const tree = [pid]
  for (const parent of tree) for (const [child, its] of pairs) if (its === parent && child !== undefined) tree.push(child)
  return tree
}

/** Proportional resident bytes of a process tree: a page that several processes share is divided among them. */
function residentBytesOf({ pid }: ChildProcess): number {
  if (pid === undefined) return 0
  let sum = 0
  for (const one of treeOf(pid)) {
    try {
      const [, kilobytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${one}/smaps_rollup`, 'utf8')) ?? []
      sum += Number(kilobytes ?? 0) * 1_024
    } catch {
      // the process ended meanwhile
    }
  }
  return sum
}

const fast = ['--block-time', '1s', '--l1-block-time', '1s']

/** Starts the devnet in a folder. The verifier is started by `startVerifier`. */
export async function startVictims(folder: string): Promise<Victims> {
  await using parts = new AsyncDisposableStack()
  mkdirSync(folder, { recursive: true })
  const datadir = join(folder, 'devnet')
  const devnet = parts.use(await startDevnetProcess('anvil', [...fast, '--datadir', datadir, '--data-availability', 'calldata']))
  const { chain } = JSON.parse(readFileSync(join(datadir, 'devnet.json'), 'utf8')) as { chain: { rollup: unknown; genesis: unknown } }
  const rollupFile = join(folder, 'rollup.json')
  const genesisFile = join(folder, 'genesis.json')
  writeFileSync(rollupFile, JSON.stringify(chain.rollup))
  writeFileSync(genesisFile, JSON.stringify(chain.genesis))
  const [, jwtFile = ''] = jwtFlags(folder)
  const jwtSecret = Uint8Array.from(Buffer.from(readFileSync(jwtFile, 'utf8'), 'hex'))
  const free = await Promise.all(Array.from({ length: 8 }, freePort))
  const [http = 0, ws = 0, engine = 0, rollup = 0, executionMetrics = 0, consensusMetrics = 0, ...health] = free
  const ports: VictimPorts = { http, ws, engine, rollup, executionMetrics, consensusMetrics, health }
  const halves = new Map<string, CliProcess>()
  const kept = parts.move()

  async function startHalf(name: string, args: readonly string[]): Promise<void> {
    const shared = ['--rollup.config', rollupFile, '--genesis', genesisFile, '--jwt', jwtFile, '--log.format', 'json']
    const half = kept.use(startCli(['node', '--datadir', join(folder, name), ...shared, ...args]))
    halves.set(name, half)
    await half.until(/node started/)
  }
  return {
    devnet,
    config: parseRollupConfig(chain.rollup).config,
    ports,
    jwtSecret,
    async startVerifier({ source, flashblocks }) {
      const executionPorts = ['--http.port', http, '--ws.port', ws, '--engine.port', engine, '--metrics.port', executionMetrics].map(String)
      await startHalf('execution', [
        ...['--mode', 'execution', ...executionPorts, '--health.port', String(health[0])],
        ...['--flashblocks.url', flashblocks, '--payload.max-time', '1s'],
      ])
      const consensusPorts = ['--rollup.port', rollup, '--metrics.port', consensusMetrics, '--health.port', health[1]].map(String)
      const l1 = ['--l1.rpc', devnet.started.urls.l1, '--l1.poll-interval', '250', '--l1.trust-transactions']
      await startHalf('consensus', [
        ...['--mode', 'consensus', '--rollup.admin', ...consensusPorts, ...l1],
        ...['--engine', `http://127.0.0.1:${engine}`, '--source.l2.rpc', source],
      ])
      const url = `http://127.0.0.1:${http}`
      await eventually('the verifier follows', 60_000, async () => Number(await rpcCall(url, 'eth_blockNumber')) > 0)
    },
    residentBytes() {
      const sizes = [...halves].map(([name, { child }]) => [name, residentBytesOf(child)] as const)
      return Object.fromEntries([['devnet', residentBytesOf(devnet.cli.child)], ...sizes])
    },
    deaths() {
      const all = [['devnet', devnet.cli] as const, ...halves]
      const ended = all.filter(([, { child }]) => child.exitCode !== null || child.signalCode !== null)
      return ended.map(
        ([name, { child, output }]) => `${name} ended (${child.exitCode ?? child.signalCode}): ${output().stderr.slice(-800)}`,
      )
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
