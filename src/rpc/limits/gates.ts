import { serverBusy } from '../errors.ts'
import { type CostClass, costClasses } from '../registry.ts'

export type GateLimits = { readonly maxRunning: number; readonly maxWaiting: number; readonly maxUnreadBytes: number }

/** Bounds the calls of a cost class that run at once; others wait in order of arrival. Refuses calls while too many answer bytes are unread. */
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

  /** Counts bytes of large unread answers. @param bytes negative when the client has read them */
  count(bytes: number): void {
    this.#unreadBytes += bytes
  }

  /** @throws RpcError −32009 when too many bytes are unread */
  checkUnread(): void {
    const { maxUnreadBytes: max } = this.#limits
    if (this.#unreadBytes > max) throw serverBusy({ limit: 'bytes', class: this.#cost, max })
  }

  /** @returns whether a task may run at once; the caller then calls `leave` when it is done */
  enter(): boolean {
    if (this.#running >= this.#limits.maxRunning) return false
    this.#running++
    return true
  }

  /** Ends a task; the next waiting task takes its place. */
  leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#running--
    else next()
  }

  /** Resolves when a task may run. @throws RpcError −32009 when too many tasks wait */
  async wait(): Promise<void> {
    if (this.enter()) return
    const { maxWaiting: max } = this.#limits
    if (this.#waiting.length >= max) throw serverBusy({ limit: 'queue', class: this.#cost, max })
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}

/** The gates of all cost classes, shared by the servers of a thread. */
export type Gates = Readonly<Record<CostClass, Gate>>

export function createGates(): Gates {
  const entries = Object.entries(costClasses).map(([name, limits]) => [name, new Gate(name as CostClass, limits)])
  return Object.fromEntries(entries) as Gates
}
