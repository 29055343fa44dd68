import { concatBytes } from '#lib/bytes'
import type { Hex } from '#lib/hex'
import type { Frame } from '../codec/frame.ts'

/** What a frame counts for beside its data. @see specs protocol/derivation.md, "Pruning" */
const frameSizeOverhead = 200
const sizeOf = (frame: Frame): number => frame.data.length + frameSizeOverhead

/** The frames of one channel as they arrive. */
export class Channel {
  readonly id: Hex
  /** number of the L1 block in which its first frame was seen */
  readonly openedAt: number
  readonly #frames = new Map<number, Frame>()
  #lastNumber: number | undefined
  #sizeBytes = 0

  constructor(id: Hex, openedAt: number) {
    this.id = id
    this.openedAt = openedAt
  }

  /** Of the frames' data, with an overhead for each frame. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** How many frames there are: the number of the next one, where they must come in order. */
  get frameCount(): number {
    return this.#frames.size
  }

  /** Closed, and no frame before the last is missing. */
  get isReady(): boolean {
    return this.#lastNumber !== undefined && this.#frames.size === this.#lastNumber + 1
  }

  /**
   * A closing frame removes those with higher numbers.
   * @returns why the frame is not taken, or undefined
   * @see specs protocol/derivation.md, "Loading frames"
   */
  add(frame: Frame): string | undefined {
    if (frame.channelId !== this.id) return 'of another channel'
    if (frame.isLast && this.#lastNumber !== undefined) return 'second last frame'
    if (this.#frames.has(frame.number)) return 'seen before'
    if (this.#lastNumber !== undefined && frame.number > this.#lastNumber) return 'after the last frame'
    if (frame.isLast) this.#close(frame.number)
    this.#frames.set(frame.number, frame)
    this.#sizeBytes += sizeOf(frame)
    return undefined
  }

  #close(lastNumber: number): void {
    this.#lastNumber = lastNumber
    for (const [number, frame] of this.#frames) {
      if (number < lastNumber) continue
      this.#frames.delete(number)
      this.#sizeBytes -= sizeOf(frame)
    }
  }

  /** The compressed batches, once it is ready. */
  data(): Uint8Array {
    const parts: Uint8Array[] = []
    for (let number = 0; number < this.#frames.size; number++) parts.push(this.#frames.get(number)?.data ?? new Uint8Array(0))
    return concatBytes(...parts)
  }
}
