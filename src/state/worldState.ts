import type { StateView } from '#evm/ports'
import type { NodeSource } from '#trie/ports'

/** The state after one block: its values, and the trie nodes under its root. */
export type WorldState = {
  readonly view: StateView
  /** Same values, without the check that an absent row is absent. For a block whose header is known: a missing row would contradict it. Absent: use `view`. */
  readonly claimedView?: StateView
  readonly nodes: NodeSource
}
