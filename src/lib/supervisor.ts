import { readlinkSync, writeSync } from 'node:fs'
import { basename } from 'node:path'
import type { Clock } from './clock.ts'

/** Lines that the parent process writes about an end that this process cannot report: whole, with their line ends. */
export type EndLines = {
  /** by the signal that ended this process */
  readonly [signal: `SIG${string}`]: string
  /** any other signal */
  readonly other: string
  /** a thread gives no sign of life */
  readonly stuck: string
  /** this process does not stop after SIGTERM */
  readonly late: string
}

/** A thread that the parent process watches, as it crosses to the thread. */
export type HeartbeatSettings = { readonly fd: number; readonly id: number; readonly line: string }

export interface Watch extends Disposable {
  readonly settings: HeartbeatSettings
}

function send(fd: number, message: unknown): void {
  try {
    writeSync(fd, `${JSON.stringify(message)}\n`)
  } catch (error) {
    // the parent is gone, and nobody would notice a thread that is stuck
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') endNow()
  }
}

const endNow = (): boolean => process.kill(process.pid, 'SIGKILL')

/** The parent process that watches this one, `bin/supervise.js`. */
export class Supervisor {
  readonly #fd: number
  #lines: EndLines | undefined
  #watches = 0

  /** @param fd where the parent reads reports */
  constructor(fd: number) {
    this.#fd = fd
  }

  /** From now on the parent reports ends with these lines, and this process is killed as soon as the parent is gone: nobody would watch it. */
  begin(lines: EndLines): void {
    this.#lines = lines
    send(this.#fd, { lines })
    process.once('disconnect', endNow)
  }

  /** Has a thread watched, from its first `Heartbeat` until the watch is disposed of. The parent kills this process when the thread is stuck. */
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

/** One in each looks' interval of the parent is enough, and two are sent. */
const beatEveryMs = 500

/** Signs of life of this thread, made in the thread. Without settings nobody watches. */
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

  /** To be called all the time: tens of nanoseconds, but for two a second that are sent. */
  beat(): void {
    if (this.#settings === undefined) return
    const nowMs = this.#clock.elapsedMs()
    if (nowMs - this.#lastMs < beatEveryMs) return
    this.#lastMs = nowMs
    send(this.#settings.fd, { id: this.#settings.id })
  }
}

/** The system's number of this thread, by which the parent finds its state; undefined where there is no /proc. */
function threadId(): string | undefined {
  try {
    return basename(readlinkSync('/proc/thread-self'))
  } catch {
    return undefined
  }
}
