import type { Clock } from '#lib/clock'

/** Time in milliseconds in which a client must read enough for the next notification of its changes. */
const readMs = 10_000

/** Unread notifications of one client. */
export class Backlog implements Disposable {
  readonly #clock: Pick<Clock, 'after'>
  readonly #maxBytes: () => number
  readonly #late: () => void
  #bytes = 0
  #short: PromiseWithResolvers<void> | undefined
  #timer: Disposable | undefined

  /**
   * @param maxBytes bound of the backlog, which changes with the memory of the process
   * @param late called when the client has not read for too long
   */
  constructor(clock: Pick<Clock, 'after'>, maxBytes: () => number, late: () => void) {
    this.#clock = clock
    this.#maxBytes = maxBytes
    this.#late = late
  }

  /** Whether the bound is exceeded. */
  get isFull(): boolean {
    return this.#bytes > this.#maxBytes()
  }

  /** Whether there is room for notifications of which the sender has any number. */
  get isShort(): boolean {
    return this.#bytes <= this.#maxBytes() / 2
  }

  add(bytes: number): void {
    this.#bytes += bytes
  }

  /** Removes a notification that the kernel has accepted. */
  remove(bytes: number): void {
    this.#bytes -= bytes
    if (this.isShort) this[Symbol.dispose]()
  }

  /** Resolves when the backlog is short or the connection has ended. */
  untilShort(): Promise<void> {
    this.#short ??= Promise.withResolvers()
    this.#timer ??= this.#clock.after(readMs, this.#late)
    return this.#short.promise
  }

  /** Ends all waits. */
  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
    this.#short?.resolve()
    this.#timer = this.#short = undefined
  }
}
