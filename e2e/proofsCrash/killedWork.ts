import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

/**
 * Time of a kill: in a transaction before one of its rows; as soon as its start is reported, which is often at its commit; or some time after the start
 * of the process or after its first piece of work.
 */
export type Aim =
  | { readonly transaction: number; readonly row: number }
  | { readonly atBegin: number }
  | { readonly afterStartMs: number }
  | { readonly afterOpenMs: number }

/** Reports of one process until it was killed or ended. */
export type Work = {
  readonly openMs: number | undefined
  /** processor time until then */
  readonly openCpuMs: number | undefined
  readonly unwound: number
  /** the kill was in a transaction */
  readonly wasInside: boolean
  readonly done: string | undefined
  readonly stderr: string
}

/** Runs the child until it ends, or until it is killed (SIGKILL). */
export async function killedWork(args: readonly string[], aim?: Aim): Promise<Work> {
  const preload = join(import.meta.dirname, 'transactions.ts')
  const child = spawn(process.execPath, ['--import', preload, join(import.meta.dirname, 'child.ts'), ...args], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...(aim && 'transaction' in aim && { KILL_AT: `${aim.transaction},${aim.row}` }) },
  })
  const atBegin = aim && 'atBegin' in aim ? aim.atBegin : undefined
  const kill = (): boolean => child.kill('SIGKILL')
  let [stderr, pending, transactions, unwound, wasInside] = ['', '', 0, 0, false]
  let [openMs, openCpuMs]: [number | undefined, number | undefined] = [undefined, undefined]
  let done: string | undefined
  let timer = aim && 'afterStartMs' in aim ? setTimeout(kill, aim.afterStartMs) : undefined
  function take(message: string): void {
    const [what = '', value = '', cpuMs] = message.split(' ', 3)
    if (what === 'begin' || what === 'end') wasInside = what === 'begin'
    if (what === 'begin' && transactions++ === atBegin) kill()
    if (what === 'unwound') unwound += Number(value)
    if (what === 'done') done = message.slice('done '.length)
    if (what !== 'open') return
    openMs = Number(value)
    openCpuMs = Number(cpuMs)
    if (aim && 'afterOpenMs' in aim) timer = setTimeout(kill, aim.afterOpenMs)
  }
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const pipe = child.stdio[3] as Readable
  pipe.on('data', (chunk: Buffer) => {
    const lines = (pending + chunk.toString()).split('\n')
    pending = lines.pop() ?? ''
    lines.forEach(take)
  })
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  clearTimeout(timer)
  if (signal !== 'SIGKILL' && done === undefined) stderr += `ended with ${signal ?? code}`
  return { openMs, openCpuMs, unwound, wasInside: wasInside && signal === 'SIGKILL', done, stderr }
}
