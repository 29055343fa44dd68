import { type MemoryGuard, type MemoryLevel, unboundedMemory } from '#lib/memoryGuard'
import { type RpcError, serverBusy } from '../errors.ts'
import { type CostClass, costClasses } from '../registry.ts'

export type GateLimits = { readonly maxRunning: number; readonly maxWaiting: number; readonly maxUnreadBytes: number }

/** Level of memory from which on a cost class is refused. Classes that are absent need little memory, or move the chain. */
const refusedFrom: Partial<Record<CostClass, Exclude<MemoryLevel, 'normal'>>> = {
  'range-read': 'high',
  trace: 'high',
  'block-read': 'full',
  execution: 'full',
}

/**
 * Bounds the calls of a cost class that run at once; others wait in order of arrival. Refuses calls while too many answer bytes are unread, and expensive
 * calls while memory is short.
 */
export class Gate {
  readonly #cost: CostClass
  readonly #limits: GateLimits
  readonly #waiting: (() => void)[] = []
  readonly #memory: Pick<MemoryGuard, 'level' | 'maxBytes'>
  readonly #endings = new Set<(busy: RpcError) => void>()
  #running = 0
  #unreadBytes = 0

  constructor(cost: CostClass, limits: GateLimits, memory: Pick<MemoryGuard, 'level' | 'maxBytes'> = unboundedMemory) {
    this.#cost = cost
    this.#limits = limits
    this.#memory = memory
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

  /** @throws RpcError −32009 while the memory of the process does not allow another call */
  checkMemory(): void {
    const level = this.#memory.level()
    if (level === 'normal') return
    const from = refusedFrom[this.#cost]
    if (from === level || (from === 'high' && level === 'full')) throw this.#noMemory()
  }

  /** Registers a function that ends an asynchronous call when memory is full. The caller disposes of the result when the call has ended. */
  onFull(end: (busy: RpcError) => void): Disposable {
    if (refusedFrom[this.#cost] === undefined) return notRegistered
    this.#endings.add(end)
    return { [Symbol.dispose]: (): void => void this.#endings.delete(end) }
  }

  /** Ends the asynchronous calls of an expensive class: memory is full. */
  endAll(): void {
    const busy = this.#noMemory()
    for (const end of this.#endings) end(busy)
  }

  #noMemory(): RpcError {
    return serverBusy({ limit: 'memory', class: this.#cost, max: this.#memory.maxBytes })
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

const notRegistered: Disposable = { [Symbol.dispose](): void {} }

/** The gates of all cost classes, shared by the servers of a thread. */
export type Gates = Readonly<Record<CostClass, Gate>>

/** @param memory of the process; absent: not bounded */
export function createGates(memory: MemoryGuard = unboundedMemory): Gates {
  const entries = Object.entries(costClasses).map(([name, limits]) => [name, new Gate(name as CostClass, limits, memory)] as const)
  memory.onChange((level) => {
    if (level === 'full') for (const [, gate] of entries) gate.endAll()
  })
  return Object.fromEntries(entries) as Gates
}
