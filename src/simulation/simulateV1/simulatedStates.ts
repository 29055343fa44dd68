import type { ParentBlock } from '#block/execution/executeBlock'
import type { StateView } from '#evm/ports'
import { computeStateRoot } from '#state/stateRoot'
import { push, type StateStack, stackedState } from '#state/stateStack'
import type { WorldState } from '#state/worldState'
import { type Hash, zeroHash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'

/** States of simulated blocks, stacked on the state of a block. */
export class SimulatedStates {
  readonly #below: WorldState
  #stack: StateStack = []
  #state: WorldState
  readonly #hasRoots: boolean
  /** State root for the block header; zero when roots are not computed. */
  root: Hash

  /** @param hasRoots whether state roots are computed */
  constructor({ state, header }: ParentBlock, hasRoots: boolean) {
    this.#below = state
    this.#state = state
    this.#hasRoots = hasRoots
    this.root = hasRoots ? header.stateRoot : zeroHash
  }

  get view(): StateView {
    return this.#state.view
  }

  add(diff: StateDiff | undefined): void {
    if (diff === undefined) return
    const result = this.#hasRoots ? computeStateRoot(this.#state.nodes, this.root, diff) : undefined
    this.#stack = push(this.#stack, { diff, ...(result && { result }) })
    this.#state = stackedState(this.#below, this.#stack)
    if (result) this.root = result.root
  }
}
