import type { ExecutedBlock } from '#block/execution/executedBlock'
import { executionFault } from '#block/faults'
import { latestStateRoot, unwindState, writeGenesis, writeState } from '#state/chainState'
import type { KvWriter } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import type { Log } from '#types/log'
import type { Branch } from '../branch.ts'
import {
  dropCanonicalBlock,
  putCanonicalBlock,
  putGenesisId,
  putHeads,
  readCanonicalHash,
  readHeader,
  readReceipts,
  type StoredHeads,
} from '../chainStore.ts'
import { fillLogIndex, indexLogs, unindexLogs } from '../logIndex/logIndex.ts'

/**
 * Makes a branch the canonical chain and sets the labels, inside one transaction: 1 blocks above the ancestor are unwound, youngest first,
 * 2 those of the branch are written, oldest first, 3 the labels. All of it is durable, or none.
 * @param sequence of the heads among all that were set
 */
export function commitBranch(tx: KvWriter, head: BlockId, branch: Branch, heads: StoredHeads, sequence: number): void {
  for (let number = head.number; number > branch.ancestor.number; number--) {
    const hash = readCanonicalHash(tx, number)
    if (hash === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: `the hash of block ${number}` })
    unwindState(tx, number)
    unindexLogs(tx, number)
    dropCanonicalBlock(tx, { number, hash })
  }
  if (head.number > branch.ancestor.number) verifyUnwound(tx, branch.ancestor)
  for (const block of branch.blocks) {
    writeState(tx, block.header.number, block.diff, block.trie)
    putCanonicalBlock(tx, block)
    indexLogs(tx, block.header.number, logsOf(block))
  }
  putHeads(tx, heads, sequence)
}

/** By transaction. */
const logsOf = ({ executed }: ExecutedBlock): readonly (readonly Log[])[] => executed.map(({ receipt }) => receipt.logs)

/** Brings older blocks into the log index, in a transaction, as long as there is time. */
export function fillOlderLogs(tx: KvWriter, hasTime: () => boolean): void {
  const stored = (number: number): readonly (readonly Log[])[] | undefined => {
    const hash = readCanonicalHash(tx, number)
    const receipts = hash && readReceipts(tx, { number, hash })
    return receipts?.map(({ receipt }) => receipt.logs)
  }
  fillLogIndex(tx, stored, hasTime)
}

/** What was put back must be the state that the ancestor's header names. */
function verifyUnwound(tx: KvWriter, ancestor: BlockId): void {
  const [expected, found] = [readHeader(tx, ancestor)?.stateRoot, latestStateRoot(tx)]
  if (expected !== found)
    throw executionFault('CHAIN_STORE_DAMAGED', { what: `the state of block ${ancestor.number}: its root is ${found}` })
}

/** Begins a chain in an empty store, inside one transaction. */
export function commitGenesis(tx: KvWriter, genesis: ExecutedBlock): void {
  const id = { number: genesis.header.number, hash: genesis.hash }
  writeGenesis(tx, genesis.diff, genesis.trie, id.number)
  putCanonicalBlock(tx, genesis)
  indexLogs(tx, id.number, logsOf(genesis))
  putGenesisId(tx, id)
  putHeads(tx, { unsafe: id, safe: id, finalized: id }, 0)
}
