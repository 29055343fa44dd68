import type { GenesisAccount } from '#chainspec/genesis'
import { bytesFromBigint } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { emptyCodeHash, emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import type { StateDiff, StateDiffParts } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'
import { computeStateRoot, noNodes, noState, type StateRoot } from './stateRoot.ts'
import { overlay } from './stateStack.ts'
import type { WorldState } from './worldState.ts'

export const emptyState: WorldState = { view: noState, nodes: noNodes }

/** Builds the state of a genesis allocation. Accounts without nonce, balance, code and storage exist too. */
export function genesisState(accounts: readonly GenesisAccount[]): { diff: StateDiff; result: StateRoot; state: WorldState } {
  const slots: StateDiffParts['slots'][number][] = []
  const codes = new Map<Hash, Uint8Array>()
  const entries = accounts.map(({ address, nonce, balance, code, storage }) => {
    const key = keccak256(fromHex(address))
    const codeHash = code.length === 0 ? emptyCodeHash : hashFromBytes(keccak256(code))
    if (code.length > 0) codes.set(codeHash, code)
    for (const [slot, value] of storage) {
      slots.push({ addressKey: key, slotKey: keccak256(fromHex(slot)), value: bytesFromBigint(value, 32) })
    }
    return { key, change: { nonce, balance, codeHash }, wiped: false }
  })
  const diff = createStateDiff({ accounts: entries, slots, codes: Array.from(codes, ([hash, code]) => ({ hash, code })) })
  const result = computeStateRoot(noNodes, emptyRoot, noState, diff)
  return { diff, result, state: overlay(emptyState, diff, result) }
}
