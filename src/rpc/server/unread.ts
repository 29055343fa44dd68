import type { Log } from '#lib/log'
import type { MemoryGuard, MemoryLevel } from '#lib/memoryGuard'
import type { RpcMetrics } from '../metrics.ts'
import type { ByteList } from '../results/byteList.ts'

/** Counts large answers a second time: per cost class. */
export interface UnreadCount {
  /** @param bytes negative when the client has read them */
  count(bytes: number): void
}

/** Smaller answers count for the connection only. */
const largeAnswerBytes = 65_536

export type Transport = 'http' | 'websocket'

export type UnreadDeps = {
  readonly log: Log
  /** absent: ended connections appear in the log only */
  readonly metrics?: Pick<RpcMetrics, 'unreadEnds'> | undefined
  /** tightens the bound while memory is short; absent: the bound is fixed */
  readonly memory?: Pick<MemoryGuard, 'onChange'> | undefined
}

/** Share of its bound that the unread answers of a server have at a level of memory. */
const shareAt: Readonly<Record<MemoryLevel, number>> = { normal: 1, high: 0.5, full: 0.25 }

/** Bounds the answers of a server that its clients have not read. Beyond the bound it ends the connection that holds most. */
export class UnreadTotal {
  readonly #deps: UnreadDeps
  readonly #givenBytes: number
  readonly #connections = new Set<Unread>()
  #maxBytes: number
  #bytes = 0

  constructor(deps: UnreadDeps, maxBytes: number) {
    this.#deps = deps
    this.#givenBytes = maxBytes
    this.#maxBytes = maxBytes
    deps.memory?.onChange((level) => this.#limitTo(shareAt[level]))
  }

  /** Share of its bytes that the server has now. */
  get share(): number {
    return this.#maxBytes / this.#givenBytes
  }

  /**
   * Adds a new connection. The caller disposes of the result when the connection has closed.
   * @param end ends the connection at once and releases its unread answers
   */
  join(over: Transport, end: () => void): Unread {
    const connection = new Unread(over, this, end)
    this.#connections.add(connection)
    return connection
  }

  /** Called by the connections. */
  add(bytes: number): void {
    this.#bytes += bytes
    while (this.#bytes > this.#maxBytes) this.#endLargest()
  }

  /** Called by a connection that has closed. */
  leave(connection: Unread): void {
    if (this.#connections.delete(connection)) this.#bytes -= connection.bytes
  }

  #limitTo(share: number): void {
    this.#maxBytes = this.#givenBytes * share
    this.add(0)
  }

  #endLargest(): void {
    let largest: Unread | undefined
    for (const connection of this.#connections) if (largest === undefined || connection.bytes > largest.bytes) largest = connection
    if (largest === undefined) return
    const { over, bytes } = largest
    this.#deps.log.warn('too many unread answers, ended the connection that holds most', {
      over,
      bytes,
      allBytes: this.#bytes,
      connections: this.#connections.size,
    })
    this.#deps.metrics?.unreadEnds.inc({ over })
    largest.end()
  }
}

/** Bytes of answers that one connection has not read. Dispose of it when the connection has closed. */
export class Unread implements Disposable {
  readonly over: Transport
  readonly #total: UnreadTotal
  readonly #end: () => void
  /** shares that keep batch answers, and counted large answers */
  #retained: Set<Disposable> | undefined
  #bytes = 0
  #isGone = false

  constructor(over: Transport, total: UnreadTotal, end: () => void) {
    this.over = over
    this.#total = total
    this.#end = end
  }

  get bytes(): number {
    return this.#bytes
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** @param bytes negative when the client has read them */
  add(bytes: number): void {
    if (this.#isGone) return
    this.#bytes += bytes
    this.#total.add(bytes)
  }

  /** A share for the answer to one body. The caller disposes of it when the answer is sent. */
  share(): AnswerShare {
    return new AnswerShare(this)
  }

  /** Registers an object to dispose of when the connection closes. */
  retain(what: Disposable): void {
    this.#retained ??= new Set()
    this.#retained.add(what)
  }

  /** Reverts `retain`. */
  release(what: Disposable): void {
    this.#retained?.delete(what)
  }

  end(): void {
    this[Symbol.dispose]()
    this.#end()
  }

  [Symbol.dispose](): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#total.leave(this)
    for (const kept of this.#retained ?? []) kept[Symbol.dispose]()
  }
}

/** Large answers of one body, counted in their cost classes. Dispose of it when the client has read them, or is gone. */
class LargeAnswers implements Disposable {
  readonly #connection: Unread
  readonly #counted: { readonly by: UnreadCount; readonly bytes: number }[] = []

  constructor(connection: Unread) {
    this.#connection = connection
    connection.retain(this)
  }

  add(by: UnreadCount, bytes: number): void {
    by.count(bytes)
    this.#counted.push({ by, bytes })
  }

  [Symbol.dispose](): void {
    this.#connection.release(this)
    for (const { by, bytes } of this.#counted.splice(0)) by.count(-bytes)
  }
}

/** Bytes held by the answer to one body while it is made and sent. Disposing of it returns all of them. */
export class AnswerShare implements Disposable {
  readonly #connection: Unread
  #parts: (string | ByteList)[] | undefined
  #large: LargeAnswers | undefined
  #bytes = 0
  #isGone = false

  constructor(connection: Unread) {
    this.#connection = connection
  }

  /** whether the share was disposed of or its connection has closed, so that the answer is not needed */
  get isGone(): boolean {
    return this.#isGone || this.#connection.isGone
  }

  /** Keeps an answer until the others of its batch are made. Does nothing when the connection has closed. */
  keep(part: string | ByteList): void {
    if (this.isGone) return
    if (this.#parts === undefined) {
      this.#parts = []
      this.#connection.retain(this)
    }
    this.#parts.push(part)
  }

  /** Returns the kept answers and releases them. */
  takeKept(): readonly (string | ByteList)[] {
    const parts = this.#parts ?? []
    this.#parts = undefined
    return parts
  }

  /** @param by also counts a large answer, until the share or the result of `takeLarge` is disposed of */
  add(bytes: number, by?: UnreadCount): void {
    if (this.#isGone) return
    this.#bytes += bytes
    this.#connection.add(bytes)
    if (by === undefined || bytes < largeAnswerBytes || this.isGone) return
    this.#large ??= new LargeAnswers(this.#connection)
    this.#large.add(by, bytes)
  }

  /** Transfers the large answers to the caller, who disposes of them when the client has read them. */
  takeLarge(): Disposable | undefined {
    const large = this.#large
    this.#large = undefined
    return large
  }

  /** Sets the size of the answer to that of its sent form. */
  replace(bytes: number): void {
    this.add(bytes - this.#bytes)
  }

  [Symbol.dispose](): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#parts = undefined
    this.#large?.[Symbol.dispose]()
    this.#connection.release(this)
    this.#connection.add(-this.#bytes)
  }
}
