import type { L2Ref } from '#types/blockRef'
import { type ClosedChannel, includedAt } from './channelParcels.ts'

export type PostedTotals = { readonly blocks: number; readonly bytes: number; readonly last: L2Ref | undefined }

/** Closed channels whose blocks are not safe yet, oldest first. */
export class PostedChannels {
  #channels: ClosedChannel[] = []
  readonly #counted = new WeakSet<ClosedChannel>()
  #blocks = 0
  #bytes = 0
  #last: L2Ref | undefined

  add(channel: ClosedChannel): void {
    this.#channels.push(channel)
  }

  /** Returns the totals since the start. */
  get totals(): PostedTotals {
    return { blocks: this.#blocks, bytes: this.#bytes, last: this.#last }
  }

  /** Compressed size of channels that are not completely on L1. */
  get waitingBytes(): number {
    return this.#channels.reduce((sum, channel) => sum + (includedAt(channel) === undefined ? channel.bytes : 0), 0)
  }

  /** Last block up to which all channels are completely on L1. */
  get lastIncluded(): L2Ref | undefined {
    let last: L2Ref | undefined
    for (const channel of this.#channels) {
      if (includedAt(channel) === undefined) break
      last = channel.last
    }
    return last
  }

  /**
   * Updates the channels from the state of L1 and the safe head, and drops channels whose blocks are safe.
   * @returns channels that are completely on L1 since the last call
   */
  advance(safe: L2Ref): readonly ClosedChannel[] {
    const fresh = this.#channels.filter((channel) => !this.#counted.has(channel) && this.#isPosted(channel, safe))
    for (const channel of fresh) {
      this.#counted.add(channel)
      this.#blocks += channel.blocks
      this.#bytes += channel.bytes
      this.#last = channel.last
    }
    this.#channels = this.#channels.filter(({ last }) => last.number > safe.number)
    return fresh
  }

  /** Returns the oldest channel, if derivation has read `l1Blocks` past it and its blocks are not safe. */
  overdue(currentL1Number: number, l1Blocks: number): ClosedChannel | undefined {
    const [oldest] = this.#channels
    const at = oldest && includedAt(oldest)
    return at !== undefined && currentL1Number >= at + l1Blocks ? oldest : undefined
  }

  clear(): void {
    this.#channels = []
  }

  #isPosted(channel: ClosedChannel, safe: L2Ref): boolean {
    return includedAt(channel) !== undefined || channel.last.number <= safe.number
  }
}
