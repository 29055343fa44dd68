import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const start = '\u001b'
const sequence = new RegExp(`${start}\\[[?\\d;]*[A-Za-z]|\\r|\\n|[^${start}\\r\\n]+|${start}`, 'gu')
const unfinished = new RegExp(`${start}(?:\\[[?\\d;]*)?$`)

/** Contents of a terminal, for the sequences that `basalt top` writes; others are listed as unknown. */
class ScreenModel {
  readonly unknown: string[] = []
  /** modes in force, such as `?1049` for the other screen */
  readonly modes = new Map<string, 'set' | 'reset'>()
  #lines: string[] = []
  #saved: string[] = []
  #row = 0
  readonly #decoder = new TextDecoder()
  #rest = ''

  /** Takes output of the program, which may end within a sequence. */
  write(bytes: Uint8Array): void {
    const all = this.#rest + this.#decoder.decode(bytes, { stream: true })
    this.#rest = unfinished.exec(all)?.[0] ?? ''
    for (const [part] of all.slice(0, all.length - this.#rest.length).matchAll(sequence)) this.#take(part)
  }

  get text(): string {
    return this.#lines.join('\n')
  }

  #take(part: string): void {
    if (part === '\n') this.#row++
    else if (part.startsWith(start)) this.#obey(part.slice(2))
    else if (part !== '\r') this.#lines[this.#row] = (this.#lines[this.#row] ?? '') + part
  }

  #obey(command: string): void {
    const [, mode = '', way] = /^(\?\d+)([hl])$/.exec(command) ?? []
    if (mode !== '') this.modes.set(mode, way === 'h' ? 'set' : 'reset')
    if (command === '?1049h') [this.#saved, this.#lines, this.#row] = [this.#lines, [], 0]
    else if (command === '?1049l') this.#lines = this.#saved
    else if (command === '2K') this.#lines[this.#row] = ''
    else if (command === 'H') this.#row = 0
    else if (command === 'J') this.#lines.splice(this.#row)
    else if (mode === '' && !/^\d*m$/.test(command)) this.unknown.push(command)
  }
}

/** A program that runs in a pseudo-terminal. Disposing of it kills the program. */
export interface TerminalProgram extends AsyncDisposable {
  readonly screen: ScreenModel
  key(text: string): void
  resize(columns: number, rows: number): void
  signal(number: number): void
  /** Resolves when the screen has the text. @throws Error with the screen after ten seconds */
  shows(text: string | RegExp): Promise<void>
  /** Resolves with the end of the program: its exit code, and whether the modes of the terminal are those before its start. */
  readonly ended: Promise<{ readonly exit: number; readonly restored: boolean }>
}

const patienceMs = 10_000

/** Starts a program in a pseudo-terminal of a size. Needs python3. */
export function runInTerminal(
  [columns, rows]: readonly [number, number],
  command: readonly string[],
  env: NodeJS.ProcessEnv,
): TerminalProgram {
  const script = join(import.meta.dirname, 'pty.py')
  const child = spawn('python3', [script, String(columns), String(rows), ...command], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const screen = new ScreenModel()
  const ended = Promise.withResolvers<{ exit: number; restored: boolean }>()
  ended.promise.catch(() => {})
  const looks = new Set<() => void>()
  child.once('error', (error) => ended.reject(new Error('python3 cannot be started', { cause: error })))
  child.once('exit', () => ended.reject(new Error('the terminal has ended')))
  createInterface(child.stdout).on('line', (line) => {
    const { out, ...end } = JSON.parse(line) as { out?: string; exit: number; restored: boolean }
    if (out === undefined) ended.resolve(end)
    else screen.write(Buffer.from(out, 'base64'))
    for (const look of looks) look()
  })
  const send = (event: object): void => void child.stdin.write(`${JSON.stringify(event)}\n`)
  return {
    screen,
    ended: ended.promise,
    key: (key) => send({ key }),
    resize: (...size) => send({ resize: size }),
    signal: (signal) => send({ signal }),
    async shows(text): Promise<void> {
      const hasText = (): boolean => (typeof text === 'string' ? screen.text.includes(text) : text.test(screen.text))
      // ?2026: the program has not ended the update of the screen
      const isShown = (): boolean => screen.modes.get('?2026') !== 'set' && hasText()
      const shown = Promise.withResolvers<void>()
      const look = (): void => void (isShown() && shown.resolve())
      const timer = setTimeout(() => shown.reject(new Error(`no ${String(text)} on the screen:\n${screen.text}`)), patienceMs)
      looks.add(look)
      look()
      await shown.promise.finally(() => {
        looks.delete(look)
        clearTimeout(timer)
      })
    },
    async [Symbol.asyncDispose](): Promise<void> {
      child.stdin.end()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}
