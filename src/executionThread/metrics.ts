import type { AbandonedCounts } from '#block/execution/executionWatch'
import { blockStages } from '#blockchain/stageTimes'
import { counter, defineMetrics, gauge, type Handles, histogram } from '#lib/metrics'
import { removalReasons, type TxPoolFacts } from '#txpool/txPool'
import type { PoolRefusal } from '#types/pooledTransaction'
import type { SenderCounts } from './senderTable.ts'

type OutcomeKind = 'added' | 'known' | PoolRefusal['kind']

/** All kinds of outcome; compilation fails when one is missing. */
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

/** `payload`: an inserted payload; `pending`: a pending block. */
export const abandonedKinds = ['payload', 'pending'] as const satisfies readonly (keyof AbandonedCounts)[]

/** `ready`: recovered by a sender thread in time; `own`: by the execution thread. */
export const senderSources = ['ready', 'own'] as const satisfies readonly (keyof SenderCounts)[]

export const executionMetrics = defineMetrics({
  blocks: counter('basalt_execution_blocks_total', 'Executed blocks, including side branches'),
  gas: counter('basalt_execution_gas_total', 'Gas of the executed blocks'),
  milliseconds: counter('basalt_execution_milliseconds_total', 'Time spent executing blocks'),
  transactions: counter('basalt_execution_transactions_total', 'Transactions of the executed blocks, including deposits'),
  reused: counter('basalt_execution_reused_blocks_total', 'Blocks sealed from their executed flashblocks, without another execution'),
  abandoned: counter('basalt_execution_abandoned_blocks_total', 'Blocks whose execution was abandoned because it took too long, by kind', {
    what: abandonedKinds,
  }),
  senders: counter(
    'basalt_execution_senders_total',
    'Senders of transactions in blocks that sender threads took, by the thread that recovered them',
    {
      by: senderSources,
    },
  ),
  senderQueue: gauge('basalt_execution_sender_queue_bytes', 'Bytes of transactions and tables that wait for sender threads'),
  rootParts: counter('basalt_execution_root_parts_total', 'Parts of state roots that sender threads computed'),
  stages: counter('basalt_execution_stage_milliseconds_total', 'Time of blocks in each stage; `commit` may run beside the others', {
    stage: blockStages,
  }),
  calls: gauge('basalt_execution_call_bytes', 'Bytes of payloads that the execution thread has not answered'),
  running: gauge('basalt_execution_running_seconds', 'Seconds since the execution of the current block began; 0: no block is executed'),
  journal: gauge('basalt_execution_journal_bytes', 'Bytes of the journal, which a start may have to execute again'),
  tree: gauge('basalt_execution_tree_bytes', 'Estimated bytes of executed blocks in memory'),
  overlays: gauge('basalt_execution_uncommitted_blocks', 'Canonical blocks that are not committed'),
  lastBlock: gauge('basalt_execution_last_block_number', 'Number of the last executed block'),
  oldestState: gauge('basalt_execution_oldest_state_block_number', 'Oldest block whose state can be read'),
  oldestProof: gauge('basalt_execution_oldest_proof_block_number', 'Oldest block whose accounts and slots can be proved'),
  pruned: counter('basalt_execution_pruned_blocks_total', 'Blocks whose history of states was removed'),
  pruneSteps: histogram(
    'basalt_execution_prune_step_seconds',
    'Duration of the steps that remove older states, between commits',
    [0.002, 0.005, 0.01, 0.02, 0.05, 0.1],
  ),
  movedBlocks: counter('basalt_execution_segment_blocks_total', 'Finalized blocks moved to segment files'),
  movedRows: counter('basalt_execution_segment_rows_total', 'Rows deleted from the database because they moved or are not retained'),
  movingMilliseconds: counter('basalt_execution_segment_milliseconds_total', 'Time of the execution thread spent moving and removing rows'),
  poolPending: gauge('basalt_pool_pending_transactions', 'Transactions of the pool that the next block may include'),
  poolQueued: gauge('basalt_pool_queued_transactions', 'Transactions of the pool that wait for an earlier nonce'),
  poolBytes: gauge('basalt_pool_held_bytes', 'Estimated memory of the transactions of the pool in bytes'),
  poolOutcomes: counter('basalt_pool_offered_total', 'Transactions offered to the pool', { outcome: outcomeKinds }),
  poolRemovals: counter('basalt_pool_removed_total', 'Transactions that left the pool', { reason: removalReasons }),
})

export type ExecutionMetrics = Handles<(typeof executionMetrics)['specs']>

/** Updates the metrics of the pool. @param before facts of the last update */
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
