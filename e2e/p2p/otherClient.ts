import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readFileSync } from 'node:fs'
import { eventually } from '../nodeProcess.ts'

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

type ClientSpec = {
  readonly name: string
  readonly path: string
  readonly args: readonly string[]
  readonly cwd: string
  /** of its output */
  readonly logFile: string
  readonly answers: () => Promise<boolean>
}

/** Another project's client, as a process. Disposing kills it. */
export type OtherClient = AsyncDisposable & {
  /** its last lines */
  tail(): string
}

/** Starts a client and waits until it answers. @throws Error with its last lines when it ends before */
export async function startOtherClient({ name, path, args, cwd, logFile, answers }: ClientSpec): Promise<OtherClient> {
  const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd })
  running.add(child)
  const log = createWriteStream(logFile)
  child.stdout.pipe(log)
  child.stderr.pipe(log, { end: false })
  const closed = once(child, 'close')
  await using parts = new AsyncDisposableStack()
  parts.defer(async () => {
    child.kill('SIGKILL')
    await closed
    running.delete(child)
  })
  const tail = (): string => readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-25).join('\n')
  await Promise.race([
    eventually(`${name} answers`, 60_000, answers),
    closed.then(() => Promise.reject(new Error(`${name} ended with ${child.exitCode}: ${tail()}`))),
  ])
  const kept = parts.move()
  return { tail, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}
