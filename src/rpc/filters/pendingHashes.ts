import type { Hash } from '#types/ids'

/** Hashes of the newest pool transactions, once for all filters: a filter keeps its position only, so that one without polls takes no memory. */
export class PendingHashes {
  readonly #max: number
  /** at least the newest `max` */
  #hashes: Hash[] = []
  /** position after the newest transaction */
  #end = 0

  /** @param max transactions that one poll returns at most; older ones are dropped */
  constructor(max: number) {
    this.#max = max
  }

  /** Returns the position of the next transaction. */
  get end(): number {
    return this.#end
  }

  add(hash: Hash): void {
    this.#hashes.push(hash)
    this.#end++
    if (this.#hashes.length >= 2 * this.#max) this.#hashes = this.#hashes.slice(-this.#max)
  }

  /** Returns the newest transactions from a position on, oldest first. */
  since(position: number): readonly Hash[] {
    const count = Math.min(this.#end - position, this.#max)
    return count === 0 ? [] : this.#hashes.slice(-count)
  }
}
