import type { ParentBlock } from '#block/execution/executeBlock'
import type { SlicedWork } from '#rpc/tracePorts'
import { CurrentState } from '#state/currentState'
import type { Hash } from '#types/ids'
import type { SimulationDeps } from './simulationDeps.ts'

/** Work in short pieces. The state can be read during each of them; between two pieces it may be closed and opened again. */
export type Pieces<T> = Generator<undefined, T, undefined>

/** Maximum time of the work in one turn of the event loop. */
export const sliceMs = 10

/** Turn of one run; `isNow` returns whether the run may work now. */
export type Turn = { isNow(): boolean; leave(): void }

/** Lets one run work at a time, in the order of their first question. */
export class Turns {
  readonly #waiting = new Set<Turn>()

  /** @param isFree returns whether the run may work at any time */
  add(isFree: () => boolean): Turn {
    const turn: Turn = {
      isNow: () => isFree() || this.#waiting.add(turn).values().next().value === turn,
      leave: () => void this.#waiting.delete(turn),
    }
    return turn
  }
}

/** Runs pieces of work on the state of one block. */
export class SlicedRun<T> implements SlicedWork<T> {
  readonly #deps: Pick<SimulationDeps, 'execution' | 'clock'>
  readonly #current = new CurrentState()
  readonly #begin: (parent: ParentBlock) => Pieces<T>
  readonly #turn: Turn | undefined
  /** undefined until the work begins; for the head, its hash at that time */
  #parentHash: Hash | undefined
  #pieces: Pieces<T> | undefined
  outcome: T | undefined

  /**
   * @param parentHash undefined: the head
   * @param begin receives the parent; its state is open while a piece runs
   * @param turn absent: the run works at any time
   */
  constructor(
    deps: Pick<SimulationDeps, 'execution' | 'clock'>,
    parentHash: Hash | undefined,
    begin: (parent: ParentBlock) => Pieces<T>,
    turn?: Turn,
  ) {
    this.#turn = turn
    this.#deps = deps
    this.#parentHash = parentHash
    this.#begin = begin
  }

  work(): boolean | 'pruned' {
    if (this.#turn?.isNow() === false) return false
    using view = this.#deps.execution.view()
    this.#parentHash ??= view.heads.latest.hash
    const parent = view.parent(this.#parentHash)
    if (parent === undefined) return 'pruned'
    return this.#current.during(parent.state, () => this.#workOn(parent))
  }

  #workOn(parent: ParentBlock): boolean {
    const { clock } = this.#deps
    const endMs = clock.elapsedMs() + sliceMs
    this.#pieces ??= this.#begin({ ...parent, state: this.#current })
    while (this.outcome === undefined && clock.elapsedMs() < endMs) {
      const piece = this.#pieces.next()
      if (piece.done === true) this.outcome = piece.value
    }
    return this.outcome !== undefined
  }

  [Symbol.dispose](): void {
    this.#turn?.leave()
    this.#pieces?.return(undefined as never)
  }
}
