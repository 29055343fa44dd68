import type { Buffer } from 'node:buffer'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'

/** Size of a client's control frame without its payload. @see RFC 6455, section 5.2 */
const controlHeadBytes = 6

type Partial = { bytes: number; readonly socket: WebSocket }

/** Bounds the bytes of incomplete messages over all connections of a server. Beyond the bound it ends the connection that holds most. */
export class PartialMessages {
  readonly #maxBytes: number
  readonly #partials = new Set<Partial>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** @param stream carries the messages of the WebSocket; nothing has been read from it yet */
  watch(stream: Duplex, socket: WebSocket): void {
    const partial: Partial = { bytes: 0, socket }
    this.#partials.add(partial)
    const control = (data: Buffer): void => this.#count(partial, -Math.min(partial.bytes, controlHeadBytes + data.length))
    stream.prependListener('data', (chunk: Buffer) => this.#count(partial, chunk.length)) // runs before the WebSocket's own listener
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
