import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { rpcCall, runCliProcess, startCli } from '#test/harness/process/cliProcess'
import { blockKey } from '../../src/blockchain/chainRows.ts'
import { openLmdbKv } from '../../src/store/lmdbKv.ts'
import { tables } from '../../src/store/tables.ts'
import type { Hash } from '../../src/types/ids.ts'
import { eventually } from '../nodeProcess.ts'
import { randomOf } from '../random.ts'
import { agreesBeyond, type DevnetProcess, freePorts, isServed, type L1Kind, startDevnetProcess } from './process.ts'

const root = resolve(import.meta.dirname, '../..')
/** A block every second, for many events in a minute. */
const fast = ['--block-time', '1s', '--l1-block-time', '1s']

function require(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(what)
}

async function withFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-e2e-devnet-'))
  try {
    return await run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function stopWell(devnet: DevnetProcess): Promise<number> {
  const { ended, stopMs } = await devnet.stop()
  require(ended.code === 0, `it ends with ${ended.code}: ${ended.stderr}`)
  for (const url of Object.values(devnet.started.urls)) require(!(await isServed(url.replace(/^ws/, 'http'))), `${url} is still served`)
  return stopMs
}

const blockHash = async (url: string, number: number): Promise<unknown> =>
  ((await rpcCall(url, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false])) as { hash: string } | null)?.hash

/** A user's actions: starts it, pastes the script, sends, deposits, withdraws, stops. @returns figures */
export async function people(kind: L1Kind): Promise<string> {
  return withFolder(async (folder) => {
    await using cli = startCli(['devnet', '--l1', kind, '--quiet', ...freePorts])
    await cli.until(/Ctrl-C stops everything/)
    const { stdout } = cli.output()
    const [, script] = /─\n(import[\s\S]*?)─/.exec(stdout) ?? []
    const [, port] = /127\.0\.0\.1:(\d+) +devnet_status/.exec(stdout) ?? []
    require(script !== undefined && port !== undefined, `no script or control port in: ${stdout}`)
    writeFileSync(join(folder, 'try.mjs'), script ?? '')
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const said = execFileSync(process.execPath, ['try.mjs'], { cwd: folder, encoding: 'utf8', timeout: 60_000 })
    require(/^success in block \d+n\n$/.test(said), `the script prints ${said}`)
    const helper = async (...words: readonly string[]): Promise<Record<string, unknown>> => {
      const { code, stdout: out, stderr } = await runCliProcess(['devnet', ...words, '--json', '--control.port', port ?? ''])
      require(code === 0, `${words[0]} ends with ${code}: ${stderr}`)
      return JSON.parse(out) as Record<string, unknown>
    }
    const to = `0x${'ab'.repeat(20)}`
    await helper('tx', '--to', to, '--value', '1ether')
    await helper('deposit', '--to', to, '--value', '0.5ether', '--from', '2')
    const { outputRoot, withdrawalHash } = await helper('withdraw', '--value', '1gwei', '--from', '3')
    require(/^0x[0-9a-f]{64}$/.test(String(outputRoot)) && /^0x[0-9a-f]{64}$/.test(String(withdrawalHash)), 'the withdrawal has no roots')
    const accounts = (await helper('accounts')) as unknown as { l1: string; l2: string }[]
    require(accounts.length === 10 && BigInt(accounts[2]?.l1 ?? 0) < 9_999_500_000_000_000_000_000n, 'the deposit cost nothing')
    cli.child.kill('SIGINT')
    const { code } = await cli.ended()
    require(code === 0, `it ends with ${code}`)
    return 'the printed script, tx, deposit, withdraw, accounts'
  })
}

/** Times of a start, and of a stop after the set-up of KZG: during that, some two seconds of a core, its thread cannot be ended. */
export async function startAndStop(kind: L1Kind): Promise<string> {
  await using devnet = await startDevnetProcess(kind)
  await agreesBeyond(devnet, 1, 60_000)
  const stopMs = await stopWell(devnet)
  const shown = [devnet.startMs, devnet.firstBlockMs, stopMs].map((ms) => `${(ms / 1_000).toFixed(1)} s`)
  return `started in ${shown[0]}, first block after ${shown[1]}, stopped in ${shown[2]}`
}

/** Checks that a kept chain continues after a stop and after a kill, and that no process of L1 is left behind. */
export async function restart(kills: readonly NodeJS.Signals[]): Promise<string> {
  return withFolder(async (folder) => {
    const datadir = join(folder, 'chain')
    let known = 0
    let hash: unknown
    for (const signal of [...kills, undefined]) {
      await using devnet = await startDevnetProcess('anvil', [...fast, '--datadir', datadir])
      if (known > 0)
        require((await blockHash(devnet.started.urls.rpc, known)) === hash, `block ${known} has another hash after the restart`)
      const from = (await devnet.status()).sequencer.unsafe
      await agreesBeyond(devnet, from + 2, 60_000)
      known = (await devnet.status()).verifier.finalized
      hash = await blockHash(devnet.started.urls.rpc, known)
      if (signal === undefined || signal === 'SIGINT') await stopWell(devnet)
      else {
        devnet.cli.child.kill(signal)
        await devnet.cli.ended()
        await eventually('anvil ends with its parent', 5_000, async () => !(await isServed(devnet.started.urls.l1)))
      }
    }
    const other = await runCliProcess(['devnet', '--datadir', datadir, '--chain-id', '7', ...freePorts])
    require(other.code === 2 && other.stderr.includes('--chain-id is 901 there, not 7'), `another chain id: ${other.stderr}`)
    return `${kills.join(', ')} and on: block ${known} is the same`
  })
}

/** Changes one byte of a stored safe block of the verifier: the next start reports it. */
export async function corrupted(): Promise<string> {
  return withFolder(async (folder) => {
    const datadir = join(folder, 'chain')
    const number = 3
    let hash: unknown
    {
      await using devnet = await startDevnetProcess('anvil', [...fast, '--datadir', datadir])
      await agreesBeyond(devnet, number + 2, 60_000)
      hash = await blockHash(devnet.started.urls.verifier, number)
      await stopWell(devnet)
    }
    {
      await using kv = openLmdbKv(join(datadir, 'verifier/chain'), Object.values(tables))
      kv.write((tx) => {
        const key = blockKey({ number, hash: hash as Hash })
        const body = tx.get(tables.bodies.id, key)
        if (body === undefined) throw new Error(`block ${number} has no body`)
        body[body.length - 1] = (body.at(-1) ?? 0) ^ 1
        tx.put(tables.bodies.id, key, body)
      })
    }
    const { code, stderr, stdout } = await runCliProcess(['devnet', '--json', ...freePorts, '--datadir', datadir])
    require(code === 3, `it ends with ${code}: ${stderr}`)
    require(stdout.includes(`{"event":"disagreement","number":${number},`), `no event: ${stdout}`)
    require(stderr.includes(`disagrees at block ${number}:`), `another text: ${stderr}`)
    return `exit code 3, block ${number}`
  })
}

type Fault = { readonly name: string; readonly run: (devnet: DevnetProcess, random: () => number) => Promise<unknown> }

const upTo = (most: number, random: () => number): number => 1 + Math.floor(random() * most)
const faults: readonly Fault[] = [
  { name: 'pauseSequencer', run: (devnet, random) => devnet.control('devnet_pauseSequencer', upTo(4, random)) },
  { name: 'stopBatcher', run: (devnet, random) => devnet.control('devnet_stopBatcher', upTo(6, random)) },
  { name: 'corruptBatch', run: (devnet) => devnet.control('devnet_corruptBatch') },
  { name: 'reorgL1', run: (devnet, random) => devnet.control('devnet_reorgL1', upTo(4, random)) },
  { name: 'dropL1', run: (devnet, random) => devnet.control('devnet_dropL1', upTo(4, random)) },
]

/** Sends a transaction of account 9, so that blocks and batches are not empty. */
async function sendSome(devnet: DevnetProcess): Promise<void> {
  const { control } = devnet.started.urls
  await runCliProcess([
    'devnet',
    'tx',
    '--from',
    '9',
    '--to',
    `0x${'cd'.repeat(20)}`,
    '--value',
    '1',
    '--control.port',
    new URL(control).port,
  ])
}

/** Causes faults at random times; at the end the verifier must agree with every block so far. */
export async function randomFaults(kind: L1Kind, seed: number, count: number, longestPauseMs: number): Promise<string> {
  const random = randomOf(seed)
  const done = new Map(faults.map(({ name }) => [name, 0]))
  const carrier = kind === 'anvil' ? 'auto' : 'calldata'
  await using devnet = await startDevnetProcess(kind, [...fast, '--data-availability', carrier])
  for (let n = 0; n < count; n++) {
    const fault = faults[Math.floor(random() * faults.length)] ?? expect()
    await fault.run(devnet, random)
    done.set(fault.name, (done.get(fault.name) ?? 0) + 1)
    if (n % 20 === 0) void sendSome(devnet).catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, random() * longestPauseMs))
    const { agreement } = await devnet.status()
    require(agreement.kind !== 'disagrees', `after fault ${n} (${fault.name}) of seed ${seed}: ${JSON.stringify(agreement)}`)
  }
  const { sequencer } = await devnet.status()
  await eventually('the sequencer continues', 60_000, async () => (await devnet.status()).sequencer.isActive)
  await agreesBeyond(devnet, sequencer.unsafe, 180_000)
  const { verifier } = await devnet.status()
  await stopWell(devnet)
  return `${[...done].map(([name, times]) => `${times} ${name}`).join(', ')}; agrees at ${verifier.safe}`
}

function expect(): never {
  throw new Error('no fault')
}
