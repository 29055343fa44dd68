import { concatBytes } from '#lib/bytes'
import type { Hex } from '#lib/hex'
import type { Frame } from '../codec/frame.ts'

/** Bytes that a frame adds to the size of its channel, besides its data. @see specs protocol/derivation.md, "Pruning" */
const frameSizeOverhead = 200
const sizeOf = (frame: Frame): number => frame.data.length + frameSizeOverhead

/** Frames of one channel received so far. */
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

  /** Size of the frames' data, plus the overhead of each frame. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Number of frames. Where frames must be in order, this is the number of the next frame. */
  get frameCount(): number {
    return this.#frames.size
  }

  /** True when the last frame and all frames before it are present. */
  get isReady(): boolean {
    return this.#lastNumber !== undefined && this.#frames.size === this.#lastNumber + 1
  }

  /**
   * Adds a frame. A last frame removes frames with higher numbers.
   * @returns the reason why the frame is refused, or undefined
   * @see specs protocol/derivation.md, "Loading frames"
   */
  add(frame: Frame): string | undefined {
    if (frame.channelId !== this.id) return 'of another channel'
    if (frame.isLast && this.#lastNumber !== undefined) return 'second last frame of the channel'
    if (this.#frames.has(frame.number)) return 'duplicate frame'
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

  /** Returns the compressed batches, once the channel is ready. */
  data(): Uint8Array {
    const parts: Uint8Array[] = []
    for (let number = 0; number < this.#frames.size; number++) parts.push(this.#frames.get(number)?.data ?? new Uint8Array(0))
    return concatBytes(...parts)
  }
}
