import type { PayloadAttributes } from '#types/payload'
import { attributesRefusal, inputOfAttributes } from './blockRules.ts'
import { type BlockDeps, type BlockResult, executeBlock, type ParentBlock } from './executeBlock.ts'
import { executionFault } from './faults.ts'

/**
 * Executes payload attributes on a parent. Nothing is stored. There is no transaction pool yet: with and without `noTxPool` the block holds the
 * transactions of the attributes and no others.
 * @returns 'invalid' when a transaction cannot be in the block
 * @throws Fault INVALID_ATTRIBUTES (fatal) on fields that their fork does not allow, UNSUPPORTED_FORK (fatal)
 */
export function buildBlock(deps: BlockDeps, parent: ParentBlock, attributes: PayloadAttributes): BlockResult {
  const { timestamp } = attributes
  const reason = attributesRefusal(deps.config, attributes)
  if (reason !== undefined) throw executionFault('INVALID_ATTRIBUTES', { timestamp, reason })
  return executeBlock(deps, parent, inputOfAttributes(deps.config, attributes))
}
