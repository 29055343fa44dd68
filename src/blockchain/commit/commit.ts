import type { ExecutedBlock } from '#block/execution/executedBlock'
import { executionFault } from '#block/faults'
import { latestStateRoot, unwindState, writeGenesis, writeState } from '#state/chainState'
import type { KvWriter } from '#store/ports'
import { readMoved, unlessDamaged } from '#store/segments/segmentRecords'
import type { BlockId } from '#types/blockRef'
import type { Log } from '#types/log'
import type { Branch } from '../branch.ts'
import {
  canonicalBlock,
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
 * Makes a branch the canonical chain and sets the labels, inside one transaction: 1 unwinds the blocks above the ancestor, youngest first,
 * 2 writes the blocks of the branch, oldest first, 3 writes the labels. All of it becomes durable, or none.
 * @param sequence number of the call that set the heads
 * @throws Fault CHAIN_STORE_DAMAGED (fatal), also when it would unwind a block whose rows are in segment files
 */
export function commitBranch(tx: KvWriter, head: BlockId, branch: Branch, heads: StoredHeads, sequence: number): void {
  const moved = readMoved(tx)
  for (let number = head.number; number > branch.ancestor.number; number--) {
    if (number < moved)
      throw executionFault('CHAIN_STORE_DAMAGED', { what: `a finalized head at block ${moved - 1}, the last in segment files` })
    const block = canonicalBlock(tx, number)
    unwindState(tx, number)
    unindexLogs(tx, number)
    dropCanonicalBlock(tx, block)
  }
  if (head.number > branch.ancestor.number) verifyUnwound(tx, branch.ancestor)
  for (const block of branch.blocks) {
    writeState(tx, block.header.number, block.diff, block.trie)
    putCanonicalBlock(tx, block)
    indexLogs(tx, block.header.number, logsOf(block))
  }
  putHeads(tx, heads, sequence)
}

/** Returns the logs of a block by transaction. */
const logsOf = ({ executed }: ExecutedBlock): readonly (readonly Log[])[] => executed.map(({ receipt }) => receipt.logs)

/** Adds older blocks to the log index, inside a transaction, while there is time. Ends above a block whose receipts are in a damaged file. */
export function fillOlderLogs(tx: KvWriter, hasTime: () => boolean): void {
  const stored = (number: number): readonly (readonly Log[])[] | undefined => {
    const hash = readCanonicalHash(tx, number)
    const receipts = hash && unlessDamaged(() => readReceipts(tx, { number, hash }))
    return receipts?.map(({ receipt }) => receipt.logs)
  }
  fillLogIndex(tx, stored, hasTime)
}

/** Checks that the unwound state has the root of the ancestor's header. */
function verifyUnwound(tx: KvWriter, ancestor: BlockId): void {
  const [expected, found] = [readHeader(tx, ancestor)?.stateRoot, latestStateRoot(tx)]
  if (expected !== found)
    throw executionFault('CHAIN_STORE_DAMAGED', { what: `the state of block ${ancestor.number}; the stored state has root ${found}` })
}

/** Writes the genesis block to an empty store, inside one transaction. */
export function commitGenesis(tx: KvWriter, genesis: ExecutedBlock): void {
  const id = { number: genesis.header.number, hash: genesis.hash }
  writeGenesis(tx, genesis.diff, genesis.trie, id.number)
  putCanonicalBlock(tx, genesis)
  indexLogs(tx, id.number, logsOf(genesis))
  putGenesisId(tx, id)
  putHeads(tx, { unsafe: id, safe: id, finalized: id }, 0)
}
