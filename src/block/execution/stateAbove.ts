import { push, type StateStack, stackedState, trimStack } from '#state/stateStack'
import type { WorldState } from '#state/worldState'
import type { BlockId } from '#types/blockRef'
import type { ExecutedBlock } from './executedBlock.ts'

/** State stacks by their youngest block, so that readers and builders on the same branch share the cost of its state. */
const stacks = new WeakMap<ExecutedBlock, StateStack>()

/** Returns the stack of consecutive blocks above an ancestor. It may also hold some blocks at and below the ancestor. */
function stackOf(ancestor: BlockId, blocks: readonly ExecutedBlock[]): StateStack {
  let next = blocks.length
  let stack: StateStack = []
  while (next > 0) {
    const known = stacks.get(blocks[next - 1] as ExecutedBlock)
    if (known && (known[0]?.first ?? 0) <= ancestor.number + 1) {
      stack = trimStack(known, ancestor.number)
      break
    }
    next--
  }
  for (const block of blocks.slice(next)) {
    const { diff, trie: result, hash, header } = block
    stack = push(stack, { diff, result, block: { number: header.number, hash } })
    stacks.set(block, stack)
  }
  return stack
}

/**
 * Returns the state after blocks in memory.
 * @param below the state after `ancestor`
 * @param blocks oldest first; the first one is a child of the ancestor
 */
export function stateAbove(below: WorldState, ancestor: BlockId, blocks: readonly ExecutedBlock[]): WorldState {
  return stackedState(below, stackOf(ancestor, blocks))
}
