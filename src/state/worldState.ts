import type { StateView } from '#evm/ports'
import type { NodeSource } from '#trie/ports'
import type { BlockId } from '#types/blockRef'
import type { StateDiff } from '#types/stateDiff'
import type { StateRoot } from './stateRoot.ts'
import { emptyStack, pushBlock, stackedState } from './stateStack.ts'

/** The state after one block: its values, and the trie nodes under its root. */
export type WorldState = { readonly view: StateView; readonly nodes: NodeSource }

/**
 * Returns the state after one more block, in memory on top of another state. For many consecutive blocks use `stateStack.ts`.
 * @param result of `computeStateRoot` for the diff on the state below
 * @param block the block itself, for BLOCKHASH of its descendants
 */
export function overlay(
  below: WorldState,
  diff: StateDiff,
  result: Pick<StateRoot, 'nodes' | 'storageRoots'>,
  block?: BlockId,
): WorldState {
  return stackedState(below, pushBlock(emptyStack, { diff, result, block }))
}
