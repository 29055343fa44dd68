import { type ChildProcess, fork } from 'node:child_process'
import { closeSync, openSync, readSync, truncateSync, writeSync } from 'node:fs'
import { execPath } from 'node:process'

export type Damage =
  | { readonly kind: 'flip'; readonly byte: number; readonly bit: number }
  | { readonly kind: 'cut'; readonly length: number }

/** Damages a file. */
export function applyDamage(damage: Damage, path: string): void {
  if (damage.kind === 'cut') {
    truncateSync(path, damage.length)
    return
  }
  const file = openSync(path, 'r+')
  const byte = new Uint8Array(1)
  readSync(file, byte, 0, 1, damage.byte)
  byte[0] = (byte[0] ?? 0) ^ (1 << damage.bit)
  writeSync(file, byte, 0, 1, damage.byte)
  closeSync(file)
}

const hangsMs = 30_000

/** A process that reads damaged copies of a directory, and is started again when one of them has ended it. */
export class DamagedReader implements Disposable {
  readonly #script: string
  readonly #args: readonly string[]
  #child: { readonly process: ChildProcess; readonly ended: Promise<string> } | undefined

  /** @param script answers each damage by a message */
  constructor(script: string, args: readonly string[]) {
    this.#script = script
    this.#args = args
  }

  /** Returns the answer, the signal or code with which the process ended, or `hangs`. */
  async outcomeOf(damage: Damage): Promise<string> {
    this.#child ??= this.#start()
    const { process, ended } = this.#child
    const answered = new Promise<string>((resolve) => process.once('message', (answer) => resolve(String(answer))))
    process.send(damage)
    let timer: NodeJS.Timeout | undefined
    const hangs = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve('hangs'), hangsMs)
    })
    const outcome = await Promise.race([answered, ended.then((end) => `ended ${end}`), hangs])
    clearTimeout(timer)
    if (outcome === 'hangs') process.kill('SIGKILL')
    if (outcome === 'hangs' || outcome.startsWith('ended')) this.#child = undefined
    return outcome
  }

  #start(): { readonly process: ChildProcess; readonly ended: Promise<string> } {
    const process = fork(this.#script, [...this.#args], { execPath, execArgv: [], silent: true })
    const ended = new Promise<string>((resolve) => process.once('exit', (code, signal) => resolve(String(signal ?? code))))
    return { process, ended }
  }

  [Symbol.dispose](): void {
    this.#child?.process.kill('SIGKILL')
  }
}
