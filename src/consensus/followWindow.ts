import type { Payload } from '#types/payload'
import type { L2Source } from './ports.ts'

export type WindowOptions = {
  /** maximum number of blocks in a fetch */
  readonly batchBlocks: number
  /** maximum bytes of a fetch, estimated from the blocks before it */
  readonly batchBytes: number
  /** number of concurrent fetches while earlier blocks are executed */
  readonly ahead: number
}

type Fetch = { readonly from: number; readonly count: number; readonly payloads: Promise<readonly Payload[]> }

/** Returns the approximate size of a payload in memory. */
export function payloadBytes({ transactions }: Payload): number {
  let bytes = 1_000
  for (const raw of transactions) bytes += raw.length + 100
  return bytes
}

/** Blocks of a source, fetched in advance and returned in order. Dispose it to abort pending fetches. */
export class FollowWindow implements Disposable {
  readonly #source: Pick<L2Source, 'payloads'>
  readonly #options: WindowOptions
  readonly #to: number
  readonly #stop = new AbortController()
  readonly #unlink: () => void
  readonly #fetches: Fetch[] = []
  #next: number
  #blockBytes = 0

  /** @param range number of the first and of the last block */
  constructor(source: Pick<L2Source, 'payloads'>, options: WindowOptions, range: { from: number; to: number }, signal: AbortSignal) {
    this.#source = source
    this.#options = options
    this.#next = range.from
    this.#to = range.to
    const stop = (): void => this.#stop.abort(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    this.#unlink = (): void => signal.removeEventListener('abort', stop)
    if (signal.aborted) stop()
  }

  /** True when all blocks have been returned. */
  get isDone(): boolean {
    return this.#fetches.length === 0 && this.#next > this.#to
  }

  /**
   * Returns the next blocks: at least one, unless the source's chain ends before them. After a failure, the same blocks are fetched again.
   * @throws Faults of the source
   */
  async take(): Promise<readonly Payload[]> {
    this.#fill()
    const [first] = this.#fetches
    if (first === undefined) return []
    try {
      const payloads = await first.payloads
      this.#fetches.shift()
      if (payloads.length < first.count) this.#cutAt(first.from + payloads.length)
      if (payloads.length > 0) this.#blockBytes = payloads.reduce((sum, each) => sum + payloadBytes(each), 0) / payloads.length
      this.#fill()
      return payloads
    } catch (error) {
      this.#cutAt(first.from)
      throw error
    }
  }

  [Symbol.dispose](): void {
    this.#unlink()
    this.#stop.abort(new DOMException('no longer needed', 'AbortError'))
    this.#fetches.length = 0
  }

  /** Drops fetches from this number on, so that these blocks are fetched again. */
  #cutAt(number: number): void {
    this.#fetches.length = 0
    this.#next = number
  }

  #fill(): void {
    const { batchBlocks, batchBytes, ahead } = this.#options
    const fitting = this.#blockBytes === 0 ? batchBlocks : Math.max(1, Math.floor(batchBytes / this.#blockBytes))
    while (this.#fetches.length < ahead && this.#next <= this.#to) {
      const count = Math.min(batchBlocks, fitting, this.#to - this.#next + 1)
      const payloads = this.#source.payloads(this.#next, count, this.#stop.signal)
      payloads.catch(() => {}) // `take` reports the failure
      this.#fetches.push({ from: this.#next, count, payloads })
      this.#next += count
    }
  }
}
