import { serverBusy } from './errors.ts'
import { type CostClass, costClasses } from './registry.ts'

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

  /** @returns whether a task may run at once; whoever ran it says so by `leave` */
  enter(): boolean {
    if (this.#running >= this.#maxRunning) return false
    this.#running++
    return true
  }

  /** Whoever leaves hands its place over. */
  leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#running--
    else next()
  }

  /** Resolves when a task may run. RpcError −32009 when too many wait already. */
  async wait(): Promise<void> {
    if (this.enter()) return
    if (this.#waiting.length >= this.#maxWaiting) throw serverBusy({ limit: 'queue', max: this.#maxWaiting })
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}

/** How many calls of each class of cost run and wait: one set for all servers of a thread. */
export type Gates = Readonly<Record<CostClass, Gate>>

export function createGates(): Gates {
  const entries = Object.entries(costClasses).map(([name, { maxRunning, maxWaiting }]) => [name, new Gate(maxRunning, maxWaiting)])
  return Object.fromEntries(entries) as Gates
}
