import type { RollupConfig } from '#chain/rollupConfig'
import { type BatchForm, type BatchWriter, createBatchWriter } from '#derive/batchEncoder'
import type { SafeBlock } from '#derive/ports'
import { RlpError } from '#lib/rlp'
import type { L2Ref } from '#types/blockRef'
import type { ChannelAge } from './closing.ts'

/** Of a signature's 65 bytes, those that no compression makes smaller. */
const signatureBytes = 64
/** Before anything was learnt, of what is not signatures. */
const firstRatio = 0.6
const learningShare = 0.5

/**
 * How large a channel will be, without compressing it again with each block: signatures as they are, the rest as it came out in the channels
 * before.
 */
export class SizeEstimate {
  #ratio = firstRatio

  /** @param bytes before compression */
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
    if (first === undefined || last === undefined) throw new RangeError('a channel of no blocks')
    return { first: first.ref, last: last.ref }
  }

  /** @param block the one after the last that was added. What a span cannot hold makes all the channel one of singular batches. */
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

  /** What the channel decompresses to. */
  finish(): Uint8Array {
    return this.#writer.finish()
  }
}
