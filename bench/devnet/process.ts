import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

type Started = {
  readonly urls: Readonly<Record<'rpc' | 'ws' | 'verifier' | 'verifierWs' | 'l1' | 'l1Beacon' | 'control', string>>
  readonly blockTimeSec: number
}

/** A devnet in its own process. Disposing of it stops it, and prints a line when its exit code is not 0. */
export type DevnetProcess = Started &
  AsyncDisposable & { readonly child: ChildProcess; readonly pid: number; readonly startedSec: number; readonly firstBlockSec: number }

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** @throws Error when the response is an error */
export async function call<T>(url: string, method: string, ...params: unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { result, error } = (await response.json()) as { result: T; error?: { message: string } }
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}

/** Flags for any free port for each of its servers. */
export const devnetPorts: readonly string[] = [
  'http.port',
  'ws.port',
  'rollup.port',
  'l1.port',
  'verifier.port',
  'verifier.ws-port',
  'publisher.port',
  'control.port',
].flatMap((name) => [`--${name}`, '0'])

const logFlags = ['--log.level', 'info', '--log.format', 'json']

/** @returns once it has its first block; its log is on `child.stderr`, as JSON */
export async function startDevnet(l1: string, accounts: number, flags: readonly string[] = []): Promise<DevnetProcess> {
  const startMs = performance.now()
  const args = [
    'bin/basalt.js',
    'devnet',
    '--json',
    '--quiet',
    '--accounts',
    String(accounts),
    '--l1',
    l1,
    ...devnetPorts,
    ...logFlags,
    ...flags,
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stderr.on('data', () => {}) // a full pipe would stop it
  const lines = createInterface({ input: child.stdout })
  const [text] = (await Promise.race([once(lines, 'line'), once(child, 'exit')])) as [string | number]
  if (typeof text !== 'string') throw new Error(`the devnet ended with ${text}`)
  const started = JSON.parse(text) as Started
  const startedSec = (performance.now() - startMs) / 1_000
  while (Number(await call<string>(started.urls.rpc, 'eth_blockNumber')) < 1) await sleep(20)
  return {
    ...started,
    ...{ child, pid: child.pid ?? 0, startedSec, firstBlockSec: (performance.now() - startMs) / 1_000 },
    async [Symbol.asyncDispose](): Promise<void> {
      child.kill('SIGINT')
      if (child.exitCode === null) await once(child, 'exit')
      if (child.exitCode !== 0) console.error(`the devnet ended with ${child.exitCode}`)
    },
  }
}
