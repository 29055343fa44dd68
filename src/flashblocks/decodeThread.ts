import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type Packed, unpack } from '#executionThread/wire/packedBlocks'
import { ThreadLink } from '#lib/threadLink'
import type { DecodedMessage, FeedMessage } from './decode.ts'

/** A decoded message in the form in which it crosses threads. */
export type PackedDecoded =
  | { readonly kind: 'flashblock'; readonly flashblock: Packed<FeedMessage> }
  | Extract<DecodedMessage, { readonly kind: 'bad' }>

/** Calls that the decoding thread answers. */
export type OfDecodeThread = { decode(message: Uint8Array): PackedDecoded }

/** Entry file of the thread, with the extension of this file: TypeScript in development, JavaScript in the package. */
const entry = new URL(`./decodeThreadEntry${extname(import.meta.url)}`, import.meta.url)

export const startWorker = (): Worker => new Worker(entry, { name: 'basalt flashblocks' })

type Running = { readonly worker: Worker; readonly link: ThreadLink<OfDecodeThread, object> }

/** Thread that decodes publishers' messages. The largest message takes 0.5 s, which must not delay other work. A thread that ends is replaced. */
export class DecodeThread implements Disposable {
  readonly #startWorker: () => Worker
  #running: Running | undefined
  #isClosed = false

  constructor(start = startWorker) {
    this.#startWorker = start
    this.#running = this.#start()
  }

  /** @throws Error when the thread ends before it answers, or is closed */
  async decode(message: Uint8Array): Promise<DecodedMessage> {
    if (this.#isClosed) throw new Error('the decoding thread is closed')
    this.#running ??= this.#start()
    // posting a view would copy the socket's whole buffer
    const decoded = await this.#running.link.ask('decode', new Uint8Array(message))
    return decoded.kind === 'bad' ? decoded : { kind: 'flashblock', flashblock: unpack<FeedMessage>(decoded.flashblock) }
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    void this.#running?.worker.terminate()
  }

  #start(): Running {
    const worker = this.#startWorker()
    worker.unref()
    const post = (message: unknown): void => worker.postMessage(message)
    const link = new ThreadLink<OfDecodeThread, object>({ post, here: {}, onFailure() {} })
    const running = { worker, link }
    const ended = (error: Error): void => {
      link.end(error)
      if (this.#running === running) this.#running = undefined
    }
    worker.on('message', (message) => link.receive(message))
    worker.once('error', (error) => ended(error instanceof Error ? error : new Error(String(error))))
    worker.once('exit', (code) => ended(new Error(`the decoding thread ended with code ${code}`)))
    return running
  }
}
