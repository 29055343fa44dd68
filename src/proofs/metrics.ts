import { counter, defineMetrics, gauge, type Handles } from '#lib/metrics'

export const proofsMetrics = defineMetrics({
  isRecording: gauge('basalt_proofs_recording_state', '1 while proofs are recorded, 0 after an error ended it'),
  earliest: gauge('basalt_proofs_earliest_block_number', 'First block whose state the recorded proofs have'),
  latest: gauge('basalt_proofs_latest_block_number', 'Last recorded block'),
  lag: gauge('basalt_proofs_lag_blocks', 'Blocks from the last recorded one to the head'),
  recorded: counter('basalt_proofs_recorded_blocks_total', 'Blocks recorded'),
  unwound: counter('basalt_proofs_unwound_blocks_total', 'Recorded blocks removed because the chain replaced them'),
  computed: counter('basalt_proofs_computed_blocks_total', 'Older blocks whose trie nodes were computed from values'),
  pruned: counter('basalt_proofs_pruned_blocks_total', 'Recorded blocks removed because they left the window'),
  nodes: counter('basalt_proofs_nodes_total', 'Changed trie nodes recorded'),
  nodeBytes: counter('basalt_proofs_node_bytes_total', 'Bytes of the rows with changed trie nodes, without indices'),
})

export type ProofsMetrics = Handles<(typeof proofsMetrics)['specs']>
