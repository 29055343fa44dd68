import type { Buffer } from 'node:buffer'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'

/** Of a control frame that a client sends, beside its payload. @see RFC 6455, section 5.2 */
const controlHeadBytes = 6

type Partial = { bytes: number; readonly socket: WebSocket }

/** Bounds what has arrived of messages that are not whole, all connections of a server together; beyond it the one that holds most is ended. */
export class PartialMessages {
  readonly #maxBytes: number
  readonly #partials = new Set<Partial>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** @param stream that the messages of the WebSocket arrive by; nothing has been read of it yet */
  watch(stream: Duplex, socket: WebSocket): void {
    const partial: Partial = { bytes: 0, socket }
    this.#partials.add(partial)
    const control = (data: Buffer): void => this.#count(partial, -Math.min(partial.bytes, controlHeadBytes + data.length))
    stream.prependListener('data', (chunk: Buffer) => this.#count(partial, chunk.length)) // before the WebSocket reads it
    socket.on('message', () => this.#count(partial, -partial.bytes))
    socket.on('ping', control)
    socket.on('pong', control)
    socket.once('close', () => this.#leave(partial))
  }

  #count(partial: Partial, bytes: number): void {
    if (!this.#partials.has(partial)) return
    partial.bytes += bytes
    this.#bytes += bytes
    while (this.#bytes > this.#maxBytes) this.#endLargest()
  }

  #leave(partial: Partial): void {
    if (this.#partials.delete(partial)) this.#bytes -= partial.bytes
  }

  #endLargest(): void {
    let largest: Partial | undefined
    for (const partial of this.#partials) if (largest === undefined || partial.bytes > largest.bytes) largest = partial
    if (largest === undefined) return
    this.#leave(largest)
    largest.socket.terminate()
  }
}
