// The oracle: a Rust program with op-revm, built on machines with a Rust toolchain.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { WireAnswer, WireCase } from './wire.ts'

const manifest = resolve(import.meta.dirname, 'program/Cargo.toml')

/** Build folder of Cargo, about 400 MB, outside the repository. */
const buildDir = process.env['BASALT_ORACLE_BUILD'] ?? join(tmpdir(), 'basalt-oracle')

/** True when a Rust toolchain is installed. */
export const hasRust = (): boolean => spawnSync('cargo', ['--version'], { stdio: 'ignore' }).status === 0

/** Builds the program with its lock file. @returns its path; undefined when Cargo failed and printed the reason */
export function buildOracle(): string | undefined {
  const env = { ...process.env, CARGO_TARGET_DIR: buildDir }
  const { status } = spawnSync('cargo', ['build', '--release', '--locked', '--quiet', '--manifest-path', manifest], {
    stdio: 'inherit',
    env,
  })
  return status === 0 ? join(buildDir, 'release/oracle') : undefined
}

/** Running oracle. It handles one request at a time. */
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
    // the close event reports the exit; ignore errors of later writes
    this.#child.stdin.on('error', () => undefined)
    this.#lines = createInterface(this.#child.stdout)
    this.#lines.on('line', (line) => this.#take(line))
    this.#child.once('error', (error) => this.#fail(error))
    this.#child.once('close', (code) => this.#fail(new Error(`oracle exited with ${code}: ${this.#errors}`)))
  }

  ask(given: WireCase): Promise<WireAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#child.exitCode !== null) return reject(new Error(`oracle has exited: ${this.#errors}`))
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
    if ('error' in answer) asked?.reject(new Error(`oracle rejected the case: ${answer.error}`))
    else asked?.resolve(answer)
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
