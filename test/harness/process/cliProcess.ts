import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** `basalt` command in a child process. */
export interface CliProcess extends AsyncDisposable {
  readonly child: ChildProcess
  /** Output so far. */
  output(): { stdout: string; stderr: string }
  /** Resolves when standard output or standard error matches; rejects when the process exits without a match. */
  until(pattern: RegExp): Promise<RegExpExecArray>
  ended(): Promise<Ended>
}

/** Without the variable of the slow suite, which the program reports as unknown. */
const { BASALT_TEST_SLOW: _suite, ...inherited } = process.env

/** Starts `basalt …`. Disposal kills the process. @param cwd folder of the checkout to run */
export function startCli(args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = root): CliProcess {
  const child = spawn(process.execPath, ['bin/basalt.js', ...args], {
    cwd,
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  const listeners = new Set<() => void>()
  const onData = (add: (text: string) => void) => (chunk: Buffer) => {
    add(chunk.toString('utf8'))
    for (const listener of listeners) listener()
  }
  child.stdout.on(
    'data',
    onData((text) => (stdout += text)),
  )
  child.stderr.on(
    'data',
    onData((text) => (stderr += text)),
  )
  const closed = once(child, 'close')
  const ended = async (): Promise<Ended> => {
    await closed
    return { code: child.exitCode, stdout, stderr }
  }
  return {
    child,
    output: () => ({ stdout, stderr }),
    ended,
    until(pattern) {
      return new Promise((resolveMatch, reject) => {
        const look = (): void => {
          const match = pattern.exec(stdout) ?? pattern.exec(stderr)
          if (!match) return
          listeners.delete(look)
          resolveMatch(match)
        }
        listeners.add(look)
        look()
        void closed.then(() => reject(new Error(`exited with ${child.exitCode} before a match of ${pattern}: ${stderr}`)))
      })
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await closed
    },
  }
}

/** Runs `basalt …` until it exits. */
export async function runCliProcess(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return startCli(args, env).ended()
}

/** Sends a JSON-RPC request over HTTP and returns the result. Throws for an error response. */
export async function rpcCall(url: string, method: string, params: readonly unknown[] = []): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
  return result
}
