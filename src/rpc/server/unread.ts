import type { Log } from '#lib/log'
import type { ByteList } from '../byteList.ts'
import type { RpcMetrics } from '../metrics.ts'

/** What large answers count for besides: a class of cost. */
export interface UnreadCount {
  /** @param bytes below zero: they are read */
  count(bytes: number): void
}

/** Smaller answers count for the connection alone. */
const largeAnswerBytes = 65_536

export type Transport = 'http' | 'websocket'

export type UnreadDeps = {
  readonly log: Log
  /** absent: the log alone tells who was ended */
  readonly metrics?: Pick<RpcMetrics, 'unreadEnds'> | undefined
}

/** Bounds what is made for all connections of a server together and not read yet; beyond it the connection that holds most is ended. */
export class UnreadTotal {
  readonly #deps: UnreadDeps
  readonly #maxBytes: number
  readonly #connections = new Set<Unread>()
  #bytes = 0

  constructor(deps: UnreadDeps, maxBytes: number) {
    this.#deps = deps
    this.#maxBytes = maxBytes
  }

  /**
   * A new connection; whoever opens it disposes of what it gets when it has closed.
   * @param end ends the connection, at once: what it has not read is let go of
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

  /** Called by a connection that has gone. */
  leave(connection: Unread): void {
    if (this.#connections.delete(connection)) this.#bytes -= connection.bytes
  }

  #endLargest(): void {
    let largest: Unread | undefined
    for (const connection of this.#connections) if (largest === undefined || connection.bytes > largest.bytes) largest = connection
    if (largest === undefined) return
    const { over, bytes } = largest
    this.#deps.log.warn('unread answers are too many: the connection that holds most is ended', {
      over,
      bytes,
      allBytes: this.#bytes,
      connections: this.#connections.size,
    })
    this.#deps.metrics?.unreadEnds.inc({ over })
    largest.end()
  }
}

/** What is made for one connection and not read yet. Disposing of it: the connection has gone. */
export class Unread implements Disposable {
  readonly over: Transport
  readonly #total: UnreadTotal
  readonly #end: () => void
  /** those that keep answers of a batch, or count large ones */
  #keeping: Set<Disposable> | undefined
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

  /** @param bytes below zero: they are read */
  add(bytes: number): void {
    if (this.#isGone) return
    this.#bytes += bytes
    this.#total.add(bytes)
  }

  /** For the answer to one body; whoever asks for it disposes of it when it is sent. */
  share(): AnswerShare {
    return new AnswerShare(this)
  }

  /** What is kept is let go of when the connection goes. */
  keeps(what: Disposable): void {
    this.#keeping ??= new Set()
    this.#keeping.add(what)
  }

  /** It is kept no more. */
  lets(what: Disposable): void {
    this.#keeping?.delete(what)
  }

  end(): void {
    this[Symbol.dispose]()
    this.#end()
  }

  [Symbol.dispose](): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#total.leave(this)
    for (const kept of this.#keeping ?? []) kept[Symbol.dispose]()
  }
}

/** Large answers of one body, as their classes of cost count them. Disposing of it: the client has them, or has gone. */
class LargeAnswers implements Disposable {
  readonly #connection: Unread
  readonly #counted: { readonly by: UnreadCount; readonly bytes: number }[] = []

  constructor(connection: Unread) {
    this.#connection = connection
    connection.keeps(this)
  }

  add(by: UnreadCount, bytes: number): void {
    by.count(bytes)
    this.#counted.push({ by, bytes })
  }

  [Symbol.dispose](): void {
    this.#connection.lets(this)
    for (const { by, bytes } of this.#counted.splice(0)) by.count(-bytes)
  }
}

/** What the answer to one body holds while it is made and sent; disposing of it gives all back. */
export class AnswerShare implements Disposable {
  readonly #connection: Unread
  #parts: (string | ByteList)[] | undefined
  #large: LargeAnswers | undefined
  #bytes = 0
  #isGone = false

  constructor(connection: Unread) {
    this.#connection = connection
  }

  /** given back, or its connection has gone: nobody waits for the answer */
  get isGone(): boolean {
    return this.#isGone || this.#connection.isGone
  }

  /** An answer that waits for the others of its batch; nothing is kept for nobody. */
  keep(part: string | ByteList): void {
    if (this.isGone) return
    if (this.#parts === undefined) {
      this.#parts = []
      this.#connection.keeps(this)
    }
    this.#parts.push(part)
  }

  /** All that was kept, and keeps it no more. */
  takeKept(): readonly (string | ByteList)[] {
    const parts = this.#parts ?? []
    this.#parts = undefined
    return parts
  }

  /** @param by counts it too when it is large, until the share is disposed of or what `takeLarge` gave */
  add(bytes: number, by?: UnreadCount): void {
    if (this.#isGone) return
    this.#bytes += bytes
    this.#connection.add(bytes)
    if (by === undefined || bytes < largeAnswerBytes || this.isGone) return
    this.#large ??= new LargeAnswers(this.#connection)
    this.#large.add(by, bytes)
  }

  /** The large answers, which are on their way when the share is disposed of; whoever takes them disposes of them when the client has them. */
  takeLarge(): Disposable | undefined {
    const large = this.#large
    this.#large = undefined
    return large
  }

  /** What is sent, instead of what was made for it. */
  replace(bytes: number): void {
    this.add(bytes - this.#bytes)
  }

  [Symbol.dispose](): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#parts = undefined
    this.#large?.[Symbol.dispose]()
    this.#connection.lets(this)
    this.#connection.add(-this.#bytes)
  }
}
