import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'

/** Maximum number of blocks: more than a sequencer's L1 origin may lag behind L1. */
const maxEntries = 512

/** L1 blocks that derivation read last. They show that an origin was replaced without a request to L1. Cleared when derivation restarts. */
export class L1Trail {
  readonly #hashes = new Map<number, Hash>()

  add({ number, hash }: BlockId): void {
    this.#hashes.set(number, hash)
    this.#hashes.delete(number - maxEntries)
  }

  clear(): void {
    this.#hashes.clear()
  }

  /** Returns the hash of the block that derivation has read at the number. */
  hashAt(number: number): Hash | undefined {
    return this.#hashes.get(number)
  }

  /** Returns whether derivation has read another block at the number; false when it has read none. */
  contradicts({ number, hash }: BlockId): boolean {
    const read = this.#hashes.get(number)
    return read !== undefined && read !== hash
  }
}
