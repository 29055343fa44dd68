import type { GenesisAccount } from '#chainspec/genesis'
import { noNodes } from '#trie/ports'
import type { UpdatedState } from '#trie/tries'
import { emptyRoot } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import { accountsDiff } from './accountsDiff.ts'
import { computeStateRoot, noState } from './stateRoot.ts'
import { overlay } from './stateStack.ts'
import type { WorldState } from './worldState.ts'

export const emptyState: WorldState = { view: noState, nodes: noNodes }

/** Builds the state of a genesis allocation. Accounts without nonce, balance, code and storage exist too. */
export function genesisState(accounts: readonly GenesisAccount[]): { diff: StateDiff; result: UpdatedState; state: WorldState } {
  const diff = accountsDiff(accounts)
  const result = computeStateRoot(noNodes, emptyRoot, diff)
  return { diff, result, state: overlay(emptyState, diff, result) }
}
