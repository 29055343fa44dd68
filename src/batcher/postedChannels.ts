import type { L2Ref } from '#types/blockRef'
import { type ClosedChannel, includedAt } from './channelParcels.ts'

export type PostedTotals = { readonly blocks: number; readonly bytes: number; readonly last: L2Ref | undefined }

/** Closed channels from their closing until their blocks are safe, oldest first. */
export class PostedChannels {
  #channels: ClosedChannel[] = []
  readonly #counted = new WeakSet<ClosedChannel>()
  #blocks = 0
  #bytes = 0
  #last: L2Ref | undefined

  add(channel: ClosedChannel): void {
    this.#channels.push(channel)
  }

  /** What was posted since the start. */
  get totals(): PostedTotals {
    return { blocks: this.#blocks, bytes: this.#bytes, last: this.#last }
  }

  /** Compressed bytes of channels that are not on L1 as a whole. */
  get waitingBytes(): number {
    return this.#channels.reduce((sum, channel) => sum + (includedAt(channel) === undefined ? channel.bytes : 0), 0)
  }

  /** The last block of the channels that are on L1 as a whole and have none before them that is not. */
  get lastIncluded(): L2Ref | undefined {
    let last: L2Ref | undefined
    for (const channel of this.#channels) {
      if (includedAt(channel) === undefined) break
      last = channel.last
    }
    return last
  }

  /**
   * Takes in how far L1 and the safe head are: channels whose blocks are safe are done with.
   * @returns the channels that came onto L1 as a whole since the last call
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

  /** The oldest channel, if derivation has read `l1Blocks` past it and its blocks are not safe. */
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
