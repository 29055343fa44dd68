import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import type { MessageSocket } from '../subscriptions/connection.ts'
import { JsonStream } from './jsonStream.ts'

/** A local connection with the interface of a WebSocket. Messages are consecutive JSON values; each answer ends with a newline. */
export class IpcSocket extends EventEmitter implements MessageSocket {
  /** @see the WebSocket API, "readyState" */
  readonly OPEN = 1
  readonly #socket: Socket
  /** whether the last frame did not end its message */
  #isMidMessage = false
  /** whether the client sends nothing more */
  #hasEnded = false

  constructor(socket: Socket, maxMessageBytes: number) {
    super()
    this.#socket = socket
    const stream = new JsonStream(maxMessageBytes)
    socket.on('data', (piece: Buffer) => {
      const values = stream.take(piece)
      if (values === undefined) socket.destroy()
      else for (const value of values) this.emit('message', value)
    })
    socket.on('error', (error) => this.emit('error', error))
    socket.once('end', () => {
      this.#hasEnded = true
      if (!this.#isMidMessage) socket.destroySoon()
    })
    socket.once('close', () => this.emit('close'))
  }

  get readyState(): 1 | 2 {
    return this.#socket.destroyed || this.#socket.writableEnded ? 2 : 1
  }

  get bufferedAmount(): number {
    return this.#socket.writableLength
  }

  get isPaused(): boolean {
    return this.#socket.isPaused()
  }

  send(frame: string | Buffer, { fin }: { readonly fin: boolean }, sent: (error?: Error | null) => void): void {
    this.#socket.cork()
    if (fin) {
      this.#socket.write(frame)
      this.#socket.write('\n', sent)
    } else this.#socket.write(frame, sent)
    this.#socket.uncork()
    this.#isMidMessage = !fin
    if (fin && this.#hasEnded) this.#socket.destroySoon()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  close(): void {
    this.#socket.destroySoon()
  }

  terminate(): void {
    this.#socket.destroy()
  }

  /** Does nothing: the operating system reports a lost peer. */
  ping(): void {}

  pong(): void {}
}
