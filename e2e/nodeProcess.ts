import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startProxy, type TcpProxy } from '#test/harness/process/proxy'

const root = resolve(import.meta.dirname, '..')

export type Served = 'http' | 'ws' | 'engine' | 'rollup' | 'metrics'
/** Names of the log fields with the URLs of a node. */
const urlFields: Readonly<Record<string, Served>> = {
  rpc: 'http',
  http: 'http',
  ws: 'ws',
  engine: 'engine',
  rollup: 'rollup',
  metrics: 'metrics',
}
const schemes: Readonly<Record<Served, string>> = { http: 'http', ws: 'ws', engine: 'http', rollup: 'http', metrics: 'http' }

/** Servers of each mode. */
const servedBy: Readonly<Record<string, readonly Served[]>> = {
  all: ['http', 'ws', 'rollup', 'metrics'],
  execution: ['http', 'ws', 'engine', 'metrics'],
  consensus: ['rollup', 'metrics'],
}

/** Returns flags for any free port for the chosen servers, and `off` for the others. */
function portFlags(args: readonly string[], serves: readonly Served[]): readonly string[] {
  const mode = args[args.indexOf('--mode') + 1] ?? ''
  const all = servedBy[args.includes('--mode') ? mode : 'all'] ?? []
  return all.flatMap((one) => [`--${one}.port`, serves.includes(one) ? '0' : 'off'])
}

export type NodeSpec = {
  readonly name: string
  /** folder of the node, with data directory, temporary files and log */
  readonly folder: string
  /** arguments of `basalt node`, without ports and data directory */
  readonly args: readonly string[]
  /** its servers; each on any free port, behind a proxy with a constant address */
  readonly serves: readonly Served[]
  /** variables, in addition to those of this process */
  readonly env?: NodeJS.ProcessEnv
}

export type Ready = { readonly isReady: boolean; readonly problems: readonly string[] }

/** One `basalt node` that can be killed and started again; a proxy before each server keeps its addresses constant. */
export interface NodeProcess extends AsyncDisposable {
  readonly name: string
  readonly folder: string
  readonly proxies: Readonly<Partial<Record<Served, TcpProxy>>>
  readonly isRunning: boolean
  /** The process has logged that it serves. */
  readonly isUp: boolean
  /** number of starts */
  readonly starts: number
  /** Starts the process without waiting until it serves. */
  spawn(): void
  /** Resolves when it serves, with the milliseconds since its start. @throws Error with its last lines when it ends before */
  up(): Promise<number>
  /** Sends SIGKILL; resolves when the process has ended. No effect on an ended process. */
  kill(): Promise<void>
  /** Sends SIGTERM. @returns its exit code */
  stop(): Promise<number | null>
  url(served: Served): string
  /** Returns the last lines that it wrote. */
  tail(lines?: number): string
  /** Returns the log lines of all its runs that match the pattern. */
  logged(pattern: RegExp): readonly string[]
  rpc(served: Served, method: string, params?: readonly unknown[]): Promise<unknown>
  ready(served: Served): Promise<Ready>
  /** Returns the sum of a counter or gauge over all labels. */
  metric(served: Served, name: string): Promise<number>
}

/** Children that must end with this process. */
const running = new Set<ChildProcess>()
function killAll(): void {
  for (const child of running) child.kill('SIGKILL')
}
process.on('exit', killAll)
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.on(signal, () => process.exit(code))
}

const requestTimeoutMs = 5_000

export async function createNodeProcess({ name, folder, args, serves, env }: NodeSpec): Promise<NodeProcess> {
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary, { recursive: true })
  const logPath = join(folder, `${name}.log`)
  const log = createWriteStream(logPath, { flags: 'a' })
  const proxies: Partial<Record<Served, TcpProxy>> = {}
  for (const served of serves) proxies[served] = await startProxy()
  const command = ['bin/basalt.js', 'node', '--datadir', join(folder, 'data'), '--log.format', 'json', ...portFlags(args, serves), ...args]

  let child: ChildProcess | undefined
  let closed: Promise<unknown> = Promise.resolve()
  let isUp = false
  let starts = 0
  let up = Promise.withResolvers<number>()

  function onLine(line: string, startMs: number): void {
    if (!line.includes('node started')) return
    const fields = JSON.parse(line) as Record<string, unknown>
    for (const [field, served] of Object.entries(urlFields)) {
      const value = fields[field]
      if (typeof value === 'string') proxies[served]?.setTarget(Number(new URL(value).port))
    }
    isUp = true
    up.resolve(Math.round(performance.now() - startMs))
  }

  /** Splits output into lines. */
  function lineReader(take: (line: string) => void): (chunk: Buffer) => void {
    let rest = ''
    return (chunk) => {
      log.write(chunk)
      const lines = (rest + chunk.toString()).split('\n')
      rest = lines.pop() ?? ''
      lines.forEach(take)
    }
  }

  function onEnd(): void {
    for (const proxy of Object.values(proxies)) proxy.setTarget(undefined)
    if (!isUp) up.reject(new Error(`${name} ended (${child?.exitCode ?? child?.signalCode}) before it served: ${self.tail(6)}`))
    isUp = false
  }

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    const ending = child
    if (ending === undefined) return null
    if (ending.exitCode === null && ending.signalCode === null) ending.kill(signal)
    await closed
    return ending.exitCode
  }

  const self: NodeProcess = {
    name,
    folder,
    proxies,
    get isRunning() {
      return child !== undefined && child.exitCode === null && child.signalCode === null
    },
    get isUp() {
      return isUp
    },
    get starts() {
      return starts
    },
    spawn() {
      if (self.isRunning) throw new Error(`${name} is already running`)
      starts++
      up = Promise.withResolvers()
      up.promise.catch(() => {})
      const startMs = performance.now()
      const started = spawn(process.execPath, command, {
        cwd: root,
        env: { ...process.env, ...env, TMPDIR: temporary },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      child = started
      running.add(started)
      const take = (line: string): void => onLine(line, startMs)
      started.stdout.on('data', lineReader(take))
      started.stderr.on('data', lineReader(take))
      closed = once(started, 'close').then(() => {
        running.delete(started)
        onEnd()
      })
    },
    up: () => up.promise,
    async kill() {
      await end('SIGKILL')
    },
    stop: () => end('SIGTERM'),
    url(served) {
      const proxy = proxies[served]
      if (proxy === undefined) throw new Error(`${name} does not serve ${served}`)
      return `${schemes[served]}://127.0.0.1:${proxy.port}`
    },
    tail: (lines = 12) => readFileSync(logPath, 'utf8').trimEnd().split('\n').slice(-lines).join('\n'),
    logged: (pattern) =>
      readFileSync(logPath, 'utf8')
        .split('\n')
        .filter((line) => pattern.test(line)),
    async rpc(served, method, params = []) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const headers = { 'content-type': 'application/json' }
      const signal = AbortSignal.timeout(requestTimeoutMs)
      const response = await fetch(self.url(served), { method: 'POST', headers, body, signal })
      const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
      if (error !== undefined) throw new Error(`${name}: ${method}: ${JSON.stringify(error)}`)
      return result
    },
    async ready(served) {
      const response = await fetch(`${self.url(served)}/readyz`, { signal: AbortSignal.timeout(requestTimeoutMs) })
      const { problems = [] } = (await response.json()) as { problems?: readonly string[] }
      return { isReady: response.status === 200, problems }
    },
    async metric(served, metric) {
      const response = await fetch(`${self.url(served)}/metrics`, { signal: AbortSignal.timeout(requestTimeoutMs) })
      const lines = (await response.text()).split('\n').filter((line) => line.startsWith(`${metric} `) || line.startsWith(`${metric}{`))
      if (lines.length === 0) throw new Error(`${name}: no metric ${metric}`)
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
    },
    async [Symbol.asyncDispose]() {
      await end('SIGKILL')
      await Promise.all(Object.values(proxies).map((proxy) => proxy[Symbol.asyncDispose]()))
      await new Promise<void>((resolveEnd) => log.end(resolveEnd))
    },
  }
  return self
}

/**
 * Repeats a check until it succeeds; an error (refused, reset, timed out) repeats it too.
 * @returns the milliseconds until then
 * @throws Error after `maxMs`, with the last result
 */
export async function eventually(what: string, maxMs: number, isRight: () => Promise<boolean | string>, everyMs = 25): Promise<number> {
  const startMs = performance.now()
  for (;;) {
    const said = await isRight().catch((error: unknown) => String(error instanceof Error ? (error.cause ?? error) : error))
    const ms = performance.now() - startMs
    if (said === true) return Math.round(ms)
    if (ms > maxMs) throw new Error(`${what}: not after ${Math.round(ms)} ms: ${String(said)}`)
    await delay(everyMs)
  }
}
