import { latestState, oldestState, stateAt } from '#state/chainState'
import { emptyStack, firstOf, pushBlock, type StateStack, stackedState, trimStack } from '#state/stateStack'
import type { WorldState } from '#state/worldState'
import type { KvReader } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { readCanonicalHash } from './chainStore.ts'
import type { ExecutedBlock } from './executedBlock.ts'

/**
 * The state after a committed block: the latest one, or one put together from what later blocks changed.
 * @param committed the committed head
 * @returns undefined when it is not retained
 */
export function committedState(reader: KvReader, committed: BlockId, block: BlockId): WorldState | undefined {
  if (block.number < oldestState(reader)) return undefined
  const blockHash = (number: number): Hash | undefined => (number <= block.number ? readCanonicalHash(reader, number) : undefined)
  return block.number === committed.number ? latestState(reader, blockHash) : stateAt(reader, block.number, blockHash)
}

/** Stacks by their youngest block: what a branch's state costs once is not paid again by who reads it or builds on it. */
const stacks = new WeakMap<ExecutedBlock, StateStack>()

/** The outcomes of blocks that follow each other on an ancestor; may hold some of the blocks at and below the ancestor too. */
function stackOf(ancestor: BlockId, blocks: readonly ExecutedBlock[]): StateStack {
  let next = blocks.length
  let stack = emptyStack
  while (next > 0) {
    const known = stacks.get(blocks[next - 1] as ExecutedBlock)
    if (known && (firstOf(known) ?? 0) <= ancestor.number + 1) {
      stack = trimStack(known, ancestor.number)
      break
    }
    next--
  }
  for (const block of blocks.slice(next)) {
    const { diff, trie: result, hash, header } = block
    stack = pushBlock(stack, { diff, result, block: { number: header.number, hash } })
    stacks.set(block, stack)
  }
  return stack
}

/**
 * The state after blocks in memory.
 * @param below the state after `ancestor`
 * @param blocks oldest first, the first one a child of the ancestor
 */
export function stateAbove(below: WorldState, ancestor: BlockId, blocks: readonly ExecutedBlock[]): WorldState {
  return stackedState(below, stackOf(ancestor, blocks))
}
