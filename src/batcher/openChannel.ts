import type { RollupConfig } from '#chainspec/rollupConfig'
import { type BatchForm, type BatchWriter, createBatchWriter } from '#derive/batchEncoder'
import type { SafeBlock } from '#derive/ports'
import { RlpError } from '#lib/rlp'
import type { L2Ref } from '#types/blockRef'
import type { ChannelAge } from './closing.ts'

/** Bytes of a signature (of 65) that do not compress. */
const signatureBytes = 64
/** Initial compression ratio of all bytes but signatures. */
const firstRatio = 0.6
const learningShare = 0.5

/**
 * Estimates the compressed size of a channel without compressing it again for each block: signatures do not compress, other bytes compress as in the
 * channels before.
 */
export class SizeEstimate {
  #ratio = firstRatio

  /** Returns the estimated compressed size. @param bytes before compression */
  of(bytes: number, transactions: number): number {
    const signatures = transactions * signatureBytes
    return Math.ceil(signatures + Math.max(0, bytes - signatures) * this.#ratio)
  }

  learn(bytes: number, transactions: number, compressed: number): void {
    const signatures = transactions * signatureBytes
    if (bytes <= signatures) return
    const ratio = Math.min(1, Math.max(0.01, (compressed - signatures) / (bytes - signatures)))
    this.#ratio += (ratio - this.#ratio) * learningShare
  }
}

/** Consecutive blocks that go into one channel. */
export class OpenChannel {
  readonly #config: RollupConfig
  readonly #openedAtL1: number
  readonly #maxRlpBytes: number
  #form: BatchForm
  #writer: BatchWriter
  #blocks: SafeBlock[] = []

  constructor(config: RollupConfig, form: BatchForm, opened: { readonly l1Number: number; readonly maxRlpBytes: number }) {
    this.#config = config
    this.#form = form
    this.#openedAtL1 = opened.l1Number
    this.#maxRlpBytes = opened.maxRlpBytes
    this.#writer = createBatchWriter(config, form.batches)
  }

  get form(): BatchForm {
    return this.#form
  }

  get maxRlpBytes(): number {
    return this.#maxRlpBytes
  }

  get blocks(): number {
    return this.#blocks.length
  }

  get bytes(): number {
    return this.#writer.bytes
  }

  get transactions(): number {
    return this.#writer.transactions
  }

  get ends(): { readonly first: L2Ref; readonly last: L2Ref } {
    const [first] = this.#blocks
    const last = this.#blocks.at(-1)
    if (first === undefined || last === undefined) throw new RangeError('channel without blocks')
    return { first: first.ref, last: last.ref }
  }

  /** Adds the next block. When a span cannot hold it, the whole channel becomes one of singular batches. */
  add(block: SafeBlock): void {
    try {
      this.#writer.add(block)
    } catch (error) {
      if (this.#form.batches !== 'span' || !(error instanceof RangeError || error instanceof RlpError)) throw error
      this.#form = { ...this.#form, batches: 'singular' }
      this.#writer = createBatchWriter(this.#config, 'singular')
      for (const before of this.#blocks) this.#writer.add(before)
      this.#writer.add(block)
    }
    this.#blocks.push(block)
  }

  age(estimate: SizeEstimate): ChannelAge {
    return {
      openedAtL1: this.#openedAtL1,
      firstOrigin: this.ends.first.l1Origin.number,
      estimatedBytes: estimate.of(this.bytes, this.transactions),
      rlpBytes: this.bytes,
    }
  }

  /** Returns the channel's RLP before compression. */
  finish(): Uint8Array {
    return this.#writer.finish()
  }
}
