import type { ParentBlock } from '#block/execution/executeBlock'
import type { SlicedWork } from '#rpc/tracePorts'
import { CurrentState } from '#state/currentState'
import type { Hash } from '#types/ids'
import type { SimulationDeps } from './simulationDeps.ts'

/** Work in short pieces. The state can be read during each of them; between two pieces it may be closed and opened again. */
export type Pieces<T> = Generator<undefined, T, undefined>

/** Maximum time of the work in one turn of the event loop. */
const sliceMs = 10

/** Runs pieces of work on the state of one block. */
export class SlicedRun<T> implements SlicedWork<T> {
  readonly #deps: Pick<SimulationDeps, 'execution' | 'clock'>
  readonly #current = new CurrentState()
  readonly #begin: (parent: ParentBlock) => Pieces<T>
  /** undefined until the work begins; for the head, its hash at that time */
  #parentHash: Hash | undefined
  #pieces: Pieces<T> | undefined
  outcome: T | undefined

  /** @param parentHash undefined: the head @param begin receives the parent; its state is open while a piece runs */
  constructor(deps: Pick<SimulationDeps, 'execution' | 'clock'>, parentHash: Hash | undefined, begin: (parent: ParentBlock) => Pieces<T>) {
    this.#deps = deps
    this.#parentHash = parentHash
    this.#begin = begin
  }

  work(): boolean | 'pruned' {
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
    this.#pieces?.return(undefined as never)
  }
}
