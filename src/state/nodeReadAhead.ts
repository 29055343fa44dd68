import { equalBytes } from '#lib/bytes'
import { diskPageFaults } from '#lib/processMemory'
import type { NodeSource } from '#trie/ports'
import type { StateDiff } from '#types/stateDiff'

/** Page faults that read the disk during a state root, from which on the next root's nodes are read ahead. */
const coldFaults = 32

/** Reads the nodes of state roots ahead, in other threads, while the state is larger than memory. As long as roots find their pages in memory it does nothing. */
export class NodeReadAhead {
  readonly #faultsSoFar: () => number
  #faults = 0
  #isCold = false

  constructor(faultsSoFar: () => number = diskPageFaults) {
    this.#faultsSoFar = faultsSoFar
  }

  /** Called before the state root of a diff. */
  begin(nodes: NodeSource, diff: StateDiff): void {
    this.#faults = this.#faultsSoFar()
    if (this.#isCold && nodes.prefetch) prefetchNodes(nodes, diff)
  }

  /** Called after the state root. */
  ended(): void {
    this.#isCold = this.#faultsSoFar() - this.#faults >= coldFaults
  }
}

function prefetchNodes(nodes: NodeSource, diff: StateDiff): void {
  const accounts = Array.from(diff.accounts(), ({ key }) => key)
  nodes.prefetch?.(undefined, accounts)
  let [owner, keys]: [Uint8Array | undefined, Uint8Array[]] = [undefined, []]
  for (const { addressKey, slotKey } of diff.slots()) {
    if (owner === undefined || !equalBytes(owner, addressKey)) {
      if (owner) nodes.prefetch?.(owner, keys)
      ;[owner, keys] = [addressKey, []]
    }
    keys.push(slotKey)
  }
  if (owner) nodes.prefetch?.(owner, keys)
}
