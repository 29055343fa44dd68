import type { PayloadAttributes } from '#types/payload'
import { attributesRefusal, inputOfAttributes } from './blockRules.ts'
import { type BlockDeps, type BlockResult, executeBlock, type ParentBlock } from './executeBlock.ts'
import { executionFault } from './faults.ts'

/**
 * Executes payload attributes on a parent. Nothing is stored.
 * @returns 'invalid' when a transaction cannot be in the block
 * @throws Fault INVALID_ATTRIBUTES (fatal) on fields that their fork does not allow, UNSUPPORTED (fatal) when the pool is asked for,
 *   UNSUPPORTED_FORK (fatal)
 */
export function buildBlock(deps: BlockDeps, parent: ParentBlock, attributes: PayloadAttributes): BlockResult {
  const { timestamp, noTxPool } = attributes
  if (!noTxPool) throw executionFault('UNSUPPORTED', { what: 'blocks with transactions from a pool (noTxPool is false)' })
  const reason = attributesRefusal(deps.config, attributes)
  if (reason !== undefined) throw executionFault('INVALID_ATTRIBUTES', { timestamp, reason })
  return executeBlock(deps, parent, inputOfAttributes(deps.config, attributes))
}
