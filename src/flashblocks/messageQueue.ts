import { type DecodedMessage, maxMessageBytes } from './decode.ts'

export type MessageQueueDeps = {
  /** Rejects when the decoder fails; a bad message does not reject. */
  readonly decode: (message: Uint8Array) => Promise<DecodedMessage>
  readonly onDecoded: (decoded: DecodedMessage) => void
  /** Called in place of `onDecoded` for a message that the decoder failed on. */
  readonly onFailure: (error: unknown) => void
}

/** Charge for a message besides its bytes. */
const messageOverheadBytes = 4_096

/** Messages of one upstream that wait for the decoder. Decodes one at a time, in order, so several upstreams take turns. */
export class MessageQueue {
  readonly #deps: MessageQueueDeps
  readonly #waiting: Uint8Array[] = []
  #bytes = 0
  #isRunning = false

  constructor(deps: MessageQueueDeps) {
    this.#deps = deps
  }

  /** True while the connection must not be read. */
  get isFull(): boolean {
    return this.#bytes >= maxMessageBytes
  }

  add(message: Uint8Array): void {
    this.#waiting.push(message)
    this.#bytes += message.length + messageOverheadBytes
    if (!this.#isRunning) void this.#run()
  }

  /** Drops the waiting messages; the message in the decoder is still delivered. */
  clear(): void {
    this.#waiting.length = 0
    this.#bytes = 0
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    for (let message = this.#waiting.shift(); message; message = this.#waiting.shift()) {
      this.#bytes -= message.length + messageOverheadBytes
      try {
        this.#deps.onDecoded(await this.#deps.decode(message))
      } catch (error) {
        this.#deps.onFailure(error)
      }
    }
    this.#isRunning = false
  }
}
