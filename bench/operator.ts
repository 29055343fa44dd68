// Times of commands for operators as whole processes: `basalt status` and `basalt doctor` on a node that follows a devnet, and `doctor` whose endpoints accept
// connections and never answer.
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rpcCall, startCli } from '#test/harness/process/cliProcess'
import { followingFlags } from './devnet/exported.ts'
import { sleep, startDevnet } from './devnet/process.ts'
import { distribution, type Row } from './format.ts'

/** Runs a command as a process. @returns its milliseconds @throws Error with its output when the exit code is another one */
async function timed(args: readonly string[], codes: readonly number[]): Promise<number> {
  const startMs = performance.now()
  await using command = startCli(args)
  const { code, stdout, stderr } = await command.ended()
  if (!codes.includes(code ?? -1)) throw new Error(`basalt ${args.join(' ')}: exit code ${code}\n${stdout}${stderr}`)
  return performance.now() - startMs
}

async function repeated(rounds: number, args: readonly string[], codes: readonly number[]): Promise<readonly number[]> {
  const times: number[] = []
  await timed(args, codes) // fills the cache of compiled code
  for (let round = 0; round < rounds; round++) times.push(await timed(args, codes))
  return times
}

export async function run({ rounds = 20 }: { readonly rounds?: number }): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-operator-'))
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  try {
    await using devnet = await startDevnet('memory', 10)
    const { chain, inputs } = await followingFlags(devnet, join(folder, 'chain'))
    const ports = ['http.port', 'ws.port', 'rollup.port', 'metrics.port'].flatMap((flag) => [`--${flag}`, '0'])
    await using node = startCli(['node', ...chain, ...inputs, ...ports, '--datadir', join(folder, 'node'), '--log.format', 'json'])
    const [, metrics = ''] = await node.until(/"metrics":"([^"]+)"/)
    const [, rpc = ''] = await node.until(/"rpc":"([^"]+)"/)
    const isBehind = async (): Promise<boolean> => {
      const safe = (await rpcCall(rpc, 'eth_getBlockByNumber', ['safe', false])) as { number: string } | null
      return Number(safe?.number ?? 0) === 0 || (await fetch(`${metrics}/readyz`)).status !== 200
    }
    while (await isBehind()) await sleep(500)

    const doctor = ['doctor', ...chain, ...ports, '--datadir', join(folder, 'other')]
    const nowhere = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const few = Math.max(1, rounds >> 2)
    const sec = (times: readonly number[]): readonly number[] => times.map((ms) => ms / 1_000)
    return [
      distribution('basalt version: start of a process alone (lower is better)', 'ms', await repeated(rounds, ['version'], [0])),
      distribution(
        'basalt status (lower is better, at most 300)',
        'ms',
        await repeated(rounds, ['status', '--url', rpc, '--metrics-url', `${metrics}/metrics`], [0]),
      ),
      distribution(
        'basalt doctor, healthy endpoints (lower is better, at most 20)',
        's',
        sec(await repeated(few, [...doctor, ...inputs], [0])),
      ),
      distribution(
        'basalt doctor, endpoints that never answer (lower is better, at most 20)',
        's',
        sec(await repeated(few, [...doctor, '--l1.rpc', nowhere, '--l1.beacon', nowhere, '--source.l2.rpc', nowhere], [1])),
      ),
    ]
  } finally {
    silent.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
