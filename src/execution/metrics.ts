import { counter, defineMetrics, gauge, type Handles } from '#lib/metrics'

export const executionMetrics = defineMetrics({
  blocks: counter('basalt_execution_blocks_total', 'Blocks executed, those of side branches included'),
  gas: counter('basalt_execution_gas_total', 'Gas of the blocks executed'),
  milliseconds: counter('basalt_execution_milliseconds_total', 'Time spent executing blocks'),
  transactions: counter('basalt_execution_transactions_total', 'Transactions of the blocks executed, deposits included'),
  journal: gauge('basalt_execution_journal_bytes', 'Size of the journal: what a start may have to execute again'),
  tree: gauge('basalt_execution_tree_bytes', 'Executed blocks in memory, roughly'),
  overlays: gauge('basalt_execution_uncommitted_blocks', 'Canonical blocks that no commit has reached'),
  lastBlock: gauge('basalt_execution_last_block_number', 'Number of the block executed last'),
})

export type ExecutionMetrics = Handles<(typeof executionMetrics)['specs']>
