import type { StateView } from '#evm/ports'
import type { NodeSource } from '#trie/ports'

/** The state after one block: its values, and the trie nodes under its root. */
export type WorldState = { readonly view: StateView; readonly nodes: NodeSource }
