import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** A `basalt` command in a process of its own. */
export interface CliProcess extends AsyncDisposable {
  readonly child: ChildProcess
  /** what it has written so far */
  output(): { stdout: string; stderr: string }
  /** Resolves when standard output or standard error matches; rejects when the process ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>
  ended(): Promise<Ended>
}

/** Starts `basalt …`; killed when disposed. */
export function startCli(args: readonly string[], env: NodeJS.ProcessEnv = {}): CliProcess {
  const child = spawn(process.execPath, ['bin/basalt.js', ...args], {
    cwd: root,
    env: { ...process.env, ...env },
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
        void closed.then(() => reject(new Error(`ended with ${child.exitCode} before ${pattern}: ${stderr}`)))
      })
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await closed
    },
  }
}

/** Runs `basalt …` to its end. */
export async function runCliProcess(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return startCli(args, env).ended()
}

/** A JSON-RPC call over HTTP; throws on an error answer. */
export async function rpcCall(url: string, method: string, params: readonly unknown[] = []): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
  return result
}
