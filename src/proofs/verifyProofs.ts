import { equalBytes, trimLeft, u64Bytes } from '#lib/bytes'
import { errorMessage, isFault } from '#lib/fault'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp } from '#lib/rlp'
import { encodeAccount } from '#state/account'
import { undoDiff } from '#state/chainState'
import type { RowChange } from '#state/history'
import { HistoryCache } from '#state/historyCache'
import { accountsTable } from '#state/rows'
import { computeStateRoot } from '#state/stateRoot'
import type { WorldState } from '#state/worldState'
import { isRowDamage } from '#store/lmdb/failure'
import type { KvReader } from '#store/ports'
import { proofsTables } from '#store/tables'
import { isLeafRlp } from '#trie/node'
import { createProof, verifyProof } from '#trie/proof'
import type { TrieNodeChange } from '#trie/trieDiff'
import { emptyRoot, type Hash } from '#types/ids'
import { stateRootAt } from './chainChanges.ts'
import { recordedStates } from './olderStates.ts'
import { encodeValues, valuesIn } from './valueRow.ts'

/** Changed rows of a block whose proofs are made and compared with their values. */
const provedRows = 16

/** A difference between the recorded proofs of a block and its header. */
export type ProofsDifference = { readonly block: number; readonly expected: string; readonly found: string }

/** Recorded proofs and a snapshot of their chain. */
export type RecordedChain = { readonly proofs: KvReader; readonly chain: KvReader; readonly head: number }

/**
 * Checks a recorded block: its values lead from its state to the state root of its parent, the nodes that it replaced are read back, and the leaves of rows that
 * it changed agree with their values.
 * @param number above the first block of the window
 */
export function checkRecorded({ proofs, chain, head }: RecordedChain, number: number): readonly ProofsDifference[] {
  const differences: ProofsDifference[] = []
  const differs = (expected: string, found: string): void => void differences.push({ block: number, expected, found })
  try {
    const states = recordedStates(proofs, chain, head, new HistoryCache())
    const [after, before] = [states.at(number, () => undefined), states.at(number - 1, () => undefined)]
    const row = proofs.get(proofsTables.values.id, u64Bytes(number))
    const values = row ? [...valuesIn(row)] : []
    for (const { key, before } of values) if (before?.length === 0) differs(`a value of ${toHex(key)}, or none`, 'an empty value')
    if (row && !equalBytes(encodeValues(values), row)) differs('a row of values in its only form', 'another form')
    const undone = computeStateRoot(after.nodes, stateRootAt(chain, number), undoDiff(values))
    const parentRoot = stateRootAt(chain, number - 1)
    if (undone.root === parentRoot) {
      checkNodes(before, undone.nodes, differs)
      for (const change of values.slice(0, provedRows)) checkLeaf(before, parentRoot, change, differs)
    } else differs(`values that lead to the state root ${parentRoot}`, `root ${undone.root}`)
  } catch (error) {
    // a damaged row is a difference of its block; a damaged page is not
    if (isFault(error, 'STORE_DAMAGED') && !isRowDamage(error)) throw error
    differs('rows that can be read', errorMessage(error))
  }
  return differences
}

type Differs = (expected: string, found: string) => void

/** Checks that the nodes which a block replaced are read back. @param undone changes of nodes from the state after the block to that before it */
function checkNodes({ nodes }: WorldState, undone: Iterable<TrieNodeChange>, differs: Differs): void {
  for (const { owner, path, node } of undone) {
    if (!node || isLeafRlp(node)) continue
    const hash = keccak256(node)
    const found = nodes.get(owner, path, hash)
    if (!found || !equalBytes(found, node)) differs(`the node ${toHex(hash)}`, found ? 'another node' : 'no node')
  }
}

/** Compares the value before a block with the leaf in the state of its parent. */
function checkLeaf({ view, nodes }: WorldState, root: Hash, { table, key }: RowChange, differs: Differs): void {
  const owner = table === accountsTable ? undefined : key.subarray(0, 32)
  const name = table === accountsTable ? key : key.subarray(32)
  const account = view.account(key.subarray(0, 32))
  const value = owner ? view.slot(owner, name) : undefined
  const expected = owner ? value && encodeRlp(trimLeft(value)) : account && encodeAccount(account)
  const top = owner ? (account?.storageRoot ?? emptyRoot) : root
  const proved = verifyProof(top, name, createProof(nodes, owner, top, name))
  const found = proved.kind === 'present' ? proved.value : undefined
  const isSame = expected && found ? equalBytes(expected, found) : expected === found
  if (!isSame) differs(`the value ${expected ? toHex(expected) : 'none'} of ${toHex(key)}`, found ? toHex(found) : 'none')
}
