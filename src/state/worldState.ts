import type { StateView } from '#evm/ports'
import type { NodeSource } from '#trie/ports'

/** The state after one block: its values, and the trie nodes under its root. */
export type WorldState = {
  readonly view: StateView
  /** The same values for a block whose header is known, which would contradict a row that is missing: absent rows are not checked. Absent: `view`. */
  readonly claimedView?: StateView
  readonly nodes: NodeSource
}
