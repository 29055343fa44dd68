import { serverBusy } from '../errors.ts'

/** Lets a bounded number of tasks run at once, in order of arrival. */
export class Gate {
  readonly #maxRunning: number
  readonly #maxWaiting: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(maxRunning: number, maxWaiting: number) {
    this.#maxRunning = maxRunning
    this.#maxWaiting = maxWaiting
  }

  /** RpcError −32009 when too many wait already. */
  async run<T>(task: () => T | Promise<T>): Promise<T> {
    if (this.#running < this.#maxRunning) this.#running++
    else await this.#place() // whoever leaves hands its place over
    try {
      return await task()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }

  #place(): Promise<void> {
    if (this.#waiting.length >= this.#maxWaiting) throw serverBusy()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
