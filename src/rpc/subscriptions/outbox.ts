import { Buffer } from 'node:buffer'
import type { WebSocket } from 'ws'
import type { Answer } from '../server/messages.ts'

/** Socket that sends a message in frames, the last of which has `fin`. */
export type FrameSocket = Pick<WebSocket, 'bufferedAmount'> & {
  send(frame: string | Buffer, options: { readonly binary: false; readonly fin: boolean }, sent: (error?: Error | null) => void): void
}

type Waiting = { readonly message: Answer; readonly bytes: number; readonly sent: () => void }

/** Messages to one client, in order. A lazy one is encoded while the client reads it, in a frame for each chunk; later messages wait for its end. */
export class Outbox {
  readonly #socket: FrameSocket
  readonly #waiting: Waiting[] = []
  #waitingBytes = 0
  #isStreaming = false

  constructor(socket: FrameSocket) {
    this.#socket = socket
  }

  /** Whether a lazy message is being sent. */
  get isStreaming(): boolean {
    return this.#isStreaming
  }

  /** Unread bytes: in the buffers of the socket, and of waiting messages. */
  get bufferedBytes(): number {
    return this.#socket.bufferedAmount + this.#waitingBytes
  }

  /**
   * @param bytes length of the message
   * @param sent called once, when the kernel has accepted the message or the connection has ended
   */
  send(message: Answer, bytes: number, sent: () => void): void {
    if (this.#isStreaming) {
      this.#waiting.push({ message, bytes, sent })
      this.#waitingBytes += bytes
    } else if (typeof message === 'string' || !message.isLazy) {
      this.#socket.send(typeof message === 'string' ? message : message.joined(), { binary: false, fin: true }, () => sent())
    } else {
      this.#isStreaming = true
      this.#stream(message.pieces(), sent)
    }
  }

  /** Sends the next piece, and after the last one an empty frame that ends the message. */
  #stream(pieces: Iterator<Buffer, undefined>, sent: () => void): void {
    const { value: piece = '', done: fin = false } = pieces.next()
    this.#socket.send(piece, { binary: false, fin }, (error) => {
      if (error == null && !fin) return this.#stream(pieces, sent)
      this.#isStreaming = false
      sent()
      this.#sendWaiting()
    })
  }

  #sendWaiting(): void {
    while (!this.#isStreaming) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      this.#waitingBytes -= next.bytes
      this.send(next.message, next.bytes, next.sent)
    }
  }
}

/** Length of a message in bytes. */
export const messageBytes = (message: Answer): number => (typeof message === 'string' ? Buffer.byteLength(message) : message.length)
