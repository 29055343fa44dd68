import type { ExecutedBlock } from '#state/stateSource'
import type { Hash } from '#types/ids'

/** Requests at the same time, and most announced blocks that wait. A witness of a large block has some MB. */
const [concurrent, mostWaiting] = [3, 128]

/** Witnesses of blocks that are announced before they are executed. Memory: three witnesses. */
export class WitnessesAhead<T> {
  readonly #fetch: (block: ExecutedBlock) => Promise<T | undefined>
  readonly #begun = new Map<Hash, { readonly number: number; readonly witness: Promise<T | undefined> }>()
  #waiting: readonly ExecutedBlock[] = []

  /** @param fetch must not reject */
  constructor(fetch: (block: ExecutedBlock) => Promise<T | undefined>) {
    this.#fetch = fetch
  }

  /** Adds a block that will be executed. Blocks are fetched in the order of their numbers. */
  expect(block: ExecutedBlock): void {
    if (this.#begun.has(block.hash) || this.#waiting.length === mostWaiting) return
    this.#waiting = [...this.#waiting, block].sort((a, b) => a.number - b.number)
    this.#begin()
  }

  /** Returns the witness of a block that is executed now, and drops those of blocks below it. undefined: it was not announced. */
  take({ hash, number }: ExecutedBlock): Promise<T | undefined> | undefined {
    const found = this.#begun.get(hash)?.witness
    for (const [key, begun] of this.#begun) if (begun.number <= number) this.#begun.delete(key)
    this.#waiting = this.#waiting.filter((block) => block.number > number)
    this.#begin()
    return found
  }

  #begin(): void {
    while (this.#begun.size < concurrent) {
      const [block, ...others] = this.#waiting
      if (block === undefined) return
      this.#waiting = others
      this.#begun.set(block.hash, { number: block.number, witness: this.#fetch(block) })
    }
  }
}
