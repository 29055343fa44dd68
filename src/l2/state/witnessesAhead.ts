import type { FetchedState } from '#state/fetchedState'
import type { BlockToExecute, StateRequest, StateSource, WitnessSource } from '#state/stateSource'
import type { Hash } from '#types/ids'

/**
 * Witnesses that are fetched or wait to be stored, most announced blocks that wait, and how far ahead of the last stored witness one is fetched. A witness of
 * a large block has some MB.
 */
const [concurrent, mostWaiting, mostAhead] = [3, 512, 8]

/** What a block lacked when it was executed: nothing; what its witness had; or parts that a witness did not have. */
export type Lacked = 'nothing' | 'witness' | 'parts'

export type WitnessesAheadDeps = {
  readonly source: StateSource & WitnessSource
  /** stores parts of the state */
  readonly enter: (parts: FetchedState) => Promise<void>
}

/**
 * Stores the witnesses of announced blocks before these are executed. A witness is stored after that of the block below, or after this block was executed:
 * before, hashes do not tie it to the stored state. A block that is executed earlier waits for its own witness. Memory: three witnesses.
 */
export class WitnessesAhead implements StateSource {
  readonly #deps: WitnessesAheadDeps
  /** begun witnesses that no block has waited for */
  readonly #begun = new Map<Hash, { readonly number: number; readonly isStored: Promise<boolean> }>()
  /** by the number of the block */
  readonly #lacked = new Map<number, Lacked>()
  /** what waits for `#ready`, by the number that it needs */
  readonly #turns = new Set<{ readonly needs: number; readonly resolve: () => void }>()
  #waiting: readonly BlockToExecute[] = []
  #running = 0
  /** all that blocks up to this one read is stored */
  #ready: number

  /** @param executed number of the last executed block */
  constructor(deps: WitnessesAheadDeps, executed: number) {
    this.#deps = deps
    this.#ready = executed
  }

  /** Announces a block that will be executed. */
  expect(block: BlockToExecute): void {
    if (this.#begun.has(block.hash) || this.#waiting.length === mostWaiting) return
    this.#waiting = [...this.#waiting.filter(({ hash }) => hash !== block.hash), block].sort((a, b) => a.number - b.number)
    this.#begin()
  }

  /** Called after a block was executed. @returns what it lacked */
  executed(number: number): Lacked {
    const lacked = this.#lacked.get(number) ?? 'nothing'
    this.#waiting = this.#waiting.filter((block) => block.number > number)
    for (const [hash, begun] of this.#begun) if (begun.number <= number) this.#begun.delete(hash)
    for (const other of this.#lacked.keys()) if (other <= number) this.#lacked.delete(other)
    this.#advance(number)
    return lacked
  }

  async fetch(request: StateRequest): Promise<FetchedState> {
    const { source } = this.#deps
    const { block } = request
    if (block === undefined) return source.fetch(request)
    const begun = this.#begun.get(block.hash)
    this.#begun.delete(block.hash)
    this.#waiting = this.#waiting.filter(({ hash }) => hash !== block.hash)
    const fetched: FetchedState = (await begun?.isStored) ? { nodes: [], codes: [], witness: 'stored' } : await source.fetch(request)
    this.#lacked.set(block.number, fetched.witness ? 'witness' : 'parts')
    return fetched
  }

  #begin(): void {
    while (this.#running < concurrent) {
      const [block, ...others] = this.#waiting
      if (block === undefined || block.number > this.#ready + mostAhead) return
      this.#waiting = others
      this.#running++
      const isStored = this.#store(block)
      this.#begun.set(block.hash, { number: block.number, isStored })
      void isStored.then(() => {
        this.#running--
        this.#begin()
      })
    }
  }

  /** Fetches a witness, and stores it in its turn. @returns whether it is stored */
  async #store(block: BlockToExecute): Promise<boolean> {
    const { source, enter } = this.#deps
    try {
      const witness = await source.witness(block)
      if (witness === undefined) return false
      await this.#turnOf(block.number)
      await enter({ nodes: [], codes: [], witness })
      if (block.number === this.#ready + 1) this.#advance(block.number)
      return true
    } catch {
      return false // execution meets the same failure
    }
  }

  #turnOf(number: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#turns.add({ needs: number - 1, resolve })
    this.#advance(this.#ready)
    return promise
  }

  #advance(number: number): void {
    this.#ready = Math.max(this.#ready, number)
    for (const turn of this.#turns) {
      if (turn.needs > this.#ready) continue
      this.#turns.delete(turn)
      turn.resolve()
    }
    this.#begin()
  }
}
