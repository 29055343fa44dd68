import type { StateView } from '#evm/ports'
import type { NodeSource } from '#trie/ports'
import type { WorldState } from './worldState.ts'

/**
 * A state that is opened for each use, because its reader may outlive a snapshot of the store. Reads outside `during` throw RangeError.
 */
export class CurrentState implements WorldState {
  #state: WorldState | undefined
  readonly view: StateView = {
    account: (addressKey) => this.#now().view.account(addressKey),
    slot: (addressKey, slotKey) => this.#now().view.slot(addressKey, slotKey),
    code: (codeHash) => this.#now().view.code(codeHash),
    blockHash: (number) => this.#now().view.blockHash(number),
  }
  readonly nodes: NodeSource = {
    get: (owner, path, hash, key) => this.#now().nodes.get(owner, path, hash, key),
  }

  #now(): WorldState {
    if (this.#state === undefined) throw new RangeError('the state is read while it is not open')
    return this.#state
  }

  /** Runs a function with the state open. @param state must be the same state in each call */
  during<T>(state: WorldState, run: () => T): T {
    this.#state = state
    try {
      return run()
    } finally {
      this.#state = undefined
    }
  }
}
