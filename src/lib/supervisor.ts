import { readlinkSync, writeSync } from 'node:fs'
import { basename } from 'node:path'
import type { Clock } from './clock.ts'

/** Complete lines, with line ends, that the parent process writes when this process ends in a way it cannot report itself. */
export type EndLines = {
  /** Line for the signal that ended this process. */
  readonly [signal: `SIG${string}`]: string
  /** Line for any other signal. */
  readonly other: string
  /** Line for a thread that sends no heartbeat. */
  readonly stuck: string
  /** Line for a process that does not stop after SIGTERM. */
  readonly late: string
}

/** Settings of a watched thread, in the form that crosses to the thread. */
export type HeartbeatSettings = { readonly fd: number; readonly id: number; readonly line: string }

export interface Watch extends Disposable {
  readonly settings: HeartbeatSettings
}

function send(fd: number, message: unknown): void {
  try {
    writeSync(fd, `${JSON.stringify(message)}\n`)
  } catch (error) {
    // without the parent, a stuck thread would remain undetected
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') endNow()
  }
}

const endNow = (): boolean => process.kill(process.pid, 'SIGKILL')

/** Client of the parent process that watches this one, `bin/supervise.js`. */
export class Supervisor {
  readonly #fd: number
  #lines: EndLines | undefined
  #watches = 0

  /** Creates a client. @param fd file descriptor from which the parent reads reports */
  constructor(fd: number) {
    this.#fd = fd
  }

  /** Starts supervision. The parent then reports ends with these lines. This process is killed when the parent ends, because it would be unsupervised. */
  begin(lines: EndLines): void {
    this.#lines = lines
    send(this.#fd, { lines })
    process.once('disconnect', endNow)
  }

  /** Watches a thread from its first `Heartbeat` until the watch is disposed. The parent kills this process when the thread is stuck. */
  watch(): Watch {
    if (this.#lines === undefined) throw new RangeError('a watch before `begin`')
    const [fd, id] = [this.#fd, ++this.#watches]
    return {
      settings: { fd, id, line: this.#lines.stuck },
      [Symbol.dispose](): void {
        send(fd, { id, over: true })
      },
    }
  }
}

/** Interval between heartbeats. The parent needs one per interval of its own checks and receives two. */
const beatEveryMs = 500

/** Sends heartbeats of the current thread. Without settings it sends nothing. */
export class Heartbeat {
  readonly #settings: HeartbeatSettings | undefined
  readonly #clock: Pick<Clock, 'elapsedMs'>
  #lastMs: number

  constructor(settings: HeartbeatSettings | undefined, clock: Pick<Clock, 'elapsedMs'>) {
    this.#settings = settings
    this.#clock = clock
    this.#lastMs = clock.elapsedMs()
    if (settings) send(settings.fd, { id: settings.id, line: settings.line, thread: threadId() })
  }

  /** Called continuously by the thread. Takes tens of nanoseconds, except for the two calls per second that send a heartbeat. */
  beat(): void {
    if (this.#settings === undefined) return
    const nowMs = this.#clock.elapsedMs()
    if (nowMs - this.#lastMs < beatEveryMs) return
    this.#lastMs = nowMs
    send(this.#settings.fd, { id: this.#settings.id })
  }

  /** Ends the watch of this thread, which is about to exit. */
  end(): void {
    if (this.#settings) send(this.#settings.fd, { id: this.#settings.id, over: true })
  }
}

/** Interval between two heartbeats of a thread that waits in its event loop. */
const pulseMs = 1_000

/** Sends heartbeats from a timer, between the pieces of work of this thread, until disposed. */
export function createPulse(heartbeat: Heartbeat, clock: Pick<Clock, 'after'>): Disposable {
  let timer: Disposable
  const again = (): void => {
    heartbeat.beat()
    timer = clock.after(pulseMs, again)
  }
  again()
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() }
}

/** Returns the operating system's id of this thread, with which the parent reads the thread's state; undefined without /proc. */
function threadId(): string | undefined {
  try {
    return basename(readlinkSync('/proc/thread-self'))
  } catch {
    return undefined
  }
}
