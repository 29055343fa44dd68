// The oracle: a Rust program around op-revm, built where there is a Rust toolchain.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { WireAnswer, WireCase } from './wire.ts'

const manifest = resolve(import.meta.dirname, 'program/Cargo.toml')

/** Where Cargo puts what it builds, some 400 MB: never into the repository. */
const buildDir = process.env['BASALT_ORACLE_BUILD'] ?? join(tmpdir(), 'basalt-oracle')

/** Whether there is a Rust toolchain. */
export const hasRust = (): boolean => spawnSync('cargo', ['--version'], { stdio: 'ignore' }).status === 0

/** Builds the program, as its lock file says. @returns its path; undefined: Cargo failed, and has said why */
export function buildOracle(): string | undefined {
  const env = { ...process.env, CARGO_TARGET_DIR: buildDir }
  const { status } = spawnSync('cargo', ['build', '--release', '--locked', '--quiet', '--manifest-path', manifest], {
    stdio: 'inherit',
    env,
  })
  return status === 0 ? join(buildDir, 'release/oracle') : undefined
}

/** A running oracle: it answers one question after the other. */
export class Oracle implements Disposable {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #lines: Interface
  readonly #waiting: { resolve(answer: WireAnswer): void; reject(error: Error): void }[] = []
  #errors = ''

  constructor(path: string) {
    this.#child = spawn(path)
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-2_000)
    })
    // a write after its end is told by the end itself
    this.#child.stdin.on('error', () => undefined)
    this.#lines = createInterface(this.#child.stdout)
    this.#lines.on('line', (line) => this.#take(line))
    this.#child.once('error', (error) => this.#fail(error))
    this.#child.once('close', (code) => this.#fail(new Error(`the oracle ended with ${code}: ${this.#errors}`)))
  }

  ask(given: WireCase): Promise<WireAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#child.exitCode !== null) return reject(new Error(`the oracle has ended: ${this.#errors}`))
      this.#waiting.push({ resolve, reject })
      this.#child.stdin.write(`${JSON.stringify(given)}\n`)
    })
  }

  [Symbol.dispose](): void {
    this.#child.stdin.end()
    this.#lines.close()
  }

  #take(line: string): void {
    const answer = JSON.parse(line) as WireAnswer | { readonly error: string }
    const asked = this.#waiting.shift()
    if ('error' in answer) asked?.reject(new Error(`the oracle cannot read the case: ${answer.error}`))
    else asked?.resolve(answer)
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
