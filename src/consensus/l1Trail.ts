import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'

/** More than a sequencer lets its origin lag behind L1. */
const maxEntries = 512

/** The L1 blocks that derivation read last: tells without asking L1 that an origin was replaced. Begins anew with derivation. */
export class L1Trail {
  readonly #hashes = new Map<number, Hash>()

  add({ number, hash }: BlockId): void {
    this.#hashes.set(number, hash)
    this.#hashes.delete(number - maxEntries)
  }

  clear(): void {
    this.#hashes.clear()
  }

  /** Of the block that derivation has read at the number. */
  hashAt(number: number): Hash | undefined {
    return this.#hashes.get(number)
  }

  /** Whether derivation has read another block at the number; false when it has read none there. */
  contradicts({ number, hash }: BlockId): boolean {
    const read = this.#hashes.get(number)
    return read !== undefined && read !== hash
  }
}
