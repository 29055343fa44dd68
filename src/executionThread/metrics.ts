import type { AbandonedCounts } from '#block/execution/executionWatch'
import { counter, defineMetrics, gauge, type Handles } from '#lib/metrics'
import { removalReasons, type TxPoolFacts } from '#txpool/txPool'
import type { PoolRefusal } from '#types/pooledTransaction'

type OutcomeKind = 'added' | 'known' | PoolRefusal['kind']

/** Every kind there is: the type fails when one is missing. */
const outcomeKinds = Object.keys({
  added: 1,
  known: 1,
  undecodable: 1,
  type: 1,
  oversized: 1,
  signature: 1,
  'chain-id': 1,
  'gas-limit': 1,
  'transaction-gas-limit': 1,
  'initcode-size': 1,
  'intrinsic-gas': 1,
  'tip-above-fee-cap': 1,
  underpriced: 1,
  'nonce-too-low': 1,
  'nonce-too-high': 1,
  'nonce-max': 1,
  'insufficient-funds': 1,
  'sender-has-code': 1,
  'empty-authorizations': 1,
  'replacement-underpriced': 1,
  'delegated-limit': 1,
  'account-full': 1,
  'pool-full': 1,
} satisfies Record<OutcomeKind, 1>) as readonly OutcomeKind[]

/** `pending`: not sealed. */
export const abandonedKinds = ['payload', 'pending'] as const satisfies readonly (keyof AbandonedCounts)[]

export const executionMetrics = defineMetrics({
  blocks: counter('basalt_execution_blocks_total', 'Blocks executed, those of side branches included'),
  gas: counter('basalt_execution_gas_total', 'Gas of the blocks executed'),
  milliseconds: counter('basalt_execution_milliseconds_total', 'Time spent executing blocks'),
  transactions: counter('basalt_execution_transactions_total', 'Transactions of the blocks executed, deposits included'),
  reused: counter(
    'basalt_execution_reused_blocks_total',
    'Blocks that were sealed out of the flashblocks told of them, not executed again',
  ),
  abandoned: counter(
    'basalt_execution_abandoned_blocks_total',
    'Blocks whose execution was ended because it took too long, by what they are',
    {
      what: abandonedKinds,
    },
  ),
  running: gauge('basalt_execution_running_seconds', 'How long the block that is executed now has taken; 0: none is'),
  journal: gauge('basalt_execution_journal_bytes', 'Size of the journal: what a start may have to execute again'),
  tree: gauge('basalt_execution_tree_bytes', 'Executed blocks in memory, roughly'),
  overlays: gauge('basalt_execution_uncommitted_blocks', 'Canonical blocks that no commit has reached'),
  lastBlock: gauge('basalt_execution_last_block_number', 'Number of the block executed last'),
  poolPending: gauge('basalt_pool_pending_transactions', 'Transactions of the pool that could be in the next block'),
  poolQueued: gauge('basalt_pool_queued_transactions', 'Transactions of the pool that wait for another'),
  poolBytes: gauge('basalt_pool_held_bytes', 'Memory that the transactions of the pool take, roughly'),
  poolOutcomes: counter('basalt_pool_offered_total', 'Transactions offered to the pool', { outcome: outcomeKinds }),
  poolRemovals: counter('basalt_pool_removed_total', 'Transactions that left the pool', { reason: removalReasons }),
})

export type ExecutionMetrics = Handles<(typeof executionMetrics)['specs']>

/** Sets the metrics of the pool. @param before what they were set to last */
export function measurePool(metrics: ExecutionMetrics, now: TxPoolFacts, before: TxPoolFacts | undefined): void {
  metrics.poolPending.set({}, now.pending)
  metrics.poolQueued.set({}, now.queued)
  metrics.poolBytes.set({}, now.heldBytes)
  for (const outcome of outcomeKinds) {
    const added = (now.outcomes[outcome] ?? 0) - (before?.outcomes[outcome] ?? 0)
    if (added > 0) metrics.poolOutcomes.inc({ outcome }, added)
  }
  for (const reason of removalReasons) {
    const removed = (now.removals[reason] ?? 0) - (before?.removals[reason] ?? 0)
    if (removed > 0) metrics.poolRemovals.inc({ reason }, removed)
  }
}
