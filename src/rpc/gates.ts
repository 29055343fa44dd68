import { serverBusy } from './errors.ts'
import { type CostClass, costClasses } from './registry.ts'

export type GateLimits = { readonly maxRunning: number; readonly maxWaiting: number; readonly maxUnreadBytes: number }

/** Lets a bounded number of calls of a class run at once, in order of arrival, and none while too much is unread that such calls have answered. */
export class Gate {
  readonly #cost: CostClass
  readonly #limits: GateLimits
  readonly #waiting: (() => void)[] = []
  #running = 0
  #unreadBytes = 0

  constructor(cost: CostClass, limits: GateLimits) {
    this.#cost = cost
    this.#limits = limits
  }

  /** What was answered and is not read yet: large answers. @param bytes below zero: they are read */
  count(bytes: number): void {
    this.#unreadBytes += bytes
  }

  /** RpcError −32009 when too much is unread. */
  checkUnread(): void {
    const { maxUnreadBytes: max } = this.#limits
    if (this.#unreadBytes > max) throw serverBusy({ limit: 'bytes', class: this.#cost, max })
  }

  /** @returns whether a task may run at once; whoever ran it says so by `leave` */
  enter(): boolean {
    if (this.#running >= this.#limits.maxRunning) return false
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
    const { maxWaiting: max } = this.#limits
    if (this.#waiting.length >= max) throw serverBusy({ limit: 'queue', class: this.#cost, max })
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}

/** How many calls of each class of cost run and wait, and what of their answers is unread: one set for all servers of a thread. */
export type Gates = Readonly<Record<CostClass, Gate>>

export function createGates(): Gates {
  const entries = Object.entries(costClasses).map(([name, limits]) => [name, new Gate(name as CostClass, limits)])
  return Object.fromEntries(entries) as Gates
}
